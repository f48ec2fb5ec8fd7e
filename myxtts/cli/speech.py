"""`myxtts say`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(say)


def say(
    text: Annotated[str, typer.Argument(help="What to say; - reads standard input.")],
    checkpoint: Annotated[
        Path, typer.Option("--checkpoint", help="A run's folder, or one of its checkpoints.")
    ] = Path("runs/latest"),
    reference: Annotated[
        Path | None, typer.Option("--reference", help="A clip of the voice to speak in.")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="en, fa, …; detected when not given.")
    ] = None,
    speed: Annotated[float, typer.Option("--speed", help="2 is twice as fast.")] = 1.0,
    output: Annotated[
        str, typer.Option("--output", "-o", help="WAV file; - writes to standard output.")
    ] = "speech.wav",
) -> None:
    """Speak a text with a trained model, in the voice of a reference clip.

    Example: myxtts say "سلام دنیا" --checkpoint demo/run --language fa -o salam.wav
    """
    from myxtts.audio.decode import wav_bytes
    from myxtts.cli.console import stderr
    from myxtts.files import write_atomically
    from myxtts.synthesis import Speaker

    speaker = Speaker(checkpoint)
    words = sys.stdin.read() if text == "-" else text
    samples = speaker.say(words, language=language, reference=reference, speed=speed)
    content = wav_bytes(samples, speaker.mel.sample_rate)
    if output == "-":
        sys.stdout.buffer.write(content)
        return
    write_atomically(Path(output), content)
    seconds = len(samples) / speaker.mel.sample_rate
    stderr().print(f"{output}: {seconds:.1f} s", markup=False)
