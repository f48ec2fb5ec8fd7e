"""`myxtts say`: a text, or a file of them, spoken by a checkpoint.

Standard output carries the result (a sound with `-o -`, a document with `--json`) and nothing else;
everything about the work goes to standard error.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from myxtts.errors import UsageError, UserError

if TYPE_CHECKING:
    from myxtts.synthesis import Request, Speaker

    Load = Callable[[], tuple[Speaker, float]]

STREAM = "-"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(say)


def say(
    text: Annotated[
        str | None,
        typer.Argument(help="What to say; - or nothing reads standard input.", show_default=False),
    ] = None,
    checkpoint: Annotated[
        Path, typer.Option("--checkpoint", help="A run's folder, or one of its checkpoints.")
    ] = Path("runs/latest"),
    reference: Annotated[
        list[Path] | None,
        typer.Option("--reference", help="A clip of the voice to speak in; may be given again."),
    ] = None,
    speaker: Annotated[
        str | None, typer.Option("--speaker", help="A speaker of the corpus, by name.")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="en, fa, …; detected for each sentence.")
    ] = None,
    speed: Annotated[float, typer.Option("--speed", help="2 is twice as fast; 0.5 to 2.")] = 1.0,
    pause: Annotated[
        float, typer.Option("--pause", help="Seconds between sentences; others follow.")
    ] = 0.3,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="speech.wav (or .flac, .ogg), - for standard output; a folder."
        ),
    ] = None,
    from_file: Annotated[
        str | None,
        typer.Option("--from-file", help="Say each line: text, or name|text|language|speaker."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="With --from-file: say again what is there already.")
    ] = False,
    vocoder: Annotated[
        str, typer.Option("--vocoder", help="What makes sound of spectrograms.")
    ] = "griffin-lim",
    seed: Annotated[int, typer.Option("--seed", help="Of what the vocoder draws by chance.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Speak a text with a trained model, in the voice of a reference clip.

    Example: myxtts say "سلام دنیا" --checkpoint demo/run --language fa -o salam.wav
    """
    from myxtts.synthesis import Request

    like = Request("", language, reference or None, speaker, speed, pause)
    load = partial(_load, checkpoint, vocoder, seed)
    if from_file is None:
        _say_text(replace(like, text=_read(text)), load, _target(output, json), json)
    else:
        _refuse_text(text)
        _say_lines(like, load, from_file, _folder(output), force, json)


def _say_text(request: Request, load: Load, target: Path | None, json: bool) -> None:
    """Say one text; without a target its sound goes to standard output."""
    from myxtts.audio.encode import encoded, write_sound
    from myxtts.cli.console import print_json, stderr

    speaker, loading = load()
    started = time.perf_counter()
    speech = speaker.perform([speaker.prepare(request)])[0]
    working = time.perf_counter() - started
    if target is None:
        sys.stdout.buffer.write(encoded(speech.samples, speech.sample_rate, ".wav"))
        sys.stdout.buffer.flush()
    else:
        write_sound(target, speech.samples, speech.sample_rate)
    for notice in speech.notices:
        stderr().print(f"notice: {notice}", markup=False)
    if json:
        print_json(
            {
                "output": target,
                "vocoder": speaker.vocoder.name,
                **_figures(speech.seconds, working, loading),
                "notices": speech.notices,
                "sentences": [asdict(sentence) for sentence in speech.sentences],
            }
        )
    else:
        where = STREAM if target is None else target
        stderr().print(f"{where}: {_told(speech.seconds, working)}", markup=False)


def _say_lines(like: Request, load: Load, file: str, folder: Path, force: bool, json: bool) -> None:
    """Say a file line by line; exit code 1 when a line could not be said."""
    from myxtts.cli.console import print_json, stderr
    from myxtts.errors import MUST_FIX
    from myxtts.synthesis import batch

    jobs, bad = batch.read_jobs(Path("/dev/stdin" if file == STREAM else file), folder, like)
    speaker, loading = load()
    with _counter() as progress:
        outcome = batch.speak_jobs(speaker, jobs, force=force, progress=progress)
    outcome.bad = sorted([*bad, *outcome.bad], key=lambda line: line.number)
    for line in outcome.bad:
        stderr().print(f"{file}, line {line.number}: {line.reason}", markup=False)
    for notice in outcome.notices:
        stderr().print(f"notice: {notice}", markup=False)
    if json:
        print_json(
            {
                "folder": folder,
                "vocoder": speaker.vocoder.name,
                **_figures(outcome.speech_seconds, outcome.work_seconds, loading),
                "spoken": outcome.spoken,
                "skipped": outcome.skipped,
                "bad": [asdict(line) for line in outcome.bad],
                "notices": outcome.notices,
            }
        )
    else:
        counts = f"{len(outcome.spoken)} said, {len(outcome.skipped)} there already"
        counts += f", {len(outcome.bad)} left out" if outcome.bad else ""
        told = _told(outcome.speech_seconds, outcome.work_seconds)
        stderr().print(f"{folder}: {counts}; {told}", markup=False)
    if outcome.bad:
        raise typer.Exit(MUST_FIX)


def _load(checkpoint: Path, vocoder: str, seed: int) -> tuple[Speaker, float]:
    """The speaker, and the seconds that it took to load it."""
    from myxtts import devices
    from myxtts.config import DataConfig
    from myxtts.synthesis import Speaker

    started = time.perf_counter()
    devices.place(DataConfig())  # one device; on a GPU, only the memory that it takes
    speaker = Speaker.load(checkpoint, vocoder_name=vocoder, seed=seed)
    return speaker, time.perf_counter() - started


def _read(text: str | None) -> str:
    """The text given, or what standard input holds."""
    if text is not None and text != STREAM:
        return text
    if text is None and sys.stdin.isatty():
        raise UsageError(
            "There is nothing to say", remedy='myxtts say "Hello.", or myxtts say < text.txt'
        )
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            "The text on standard input must be UTF-8",
            received=f"byte {error.object[error.start]:#04x} at position {error.start}",
            remedy="iconv -f YOUR-ENCODING -t UTF-8 text.txt | myxtts say -",
        ) from error


def _refuse_text(text: str | None) -> None:
    if text is not None:
        raise UsageError(
            "The text comes from the command line or from a file, not from both",
            received=f"{text!r} and --from-file",
            remedy="leave out one of them",
        )


def _target(output: str | None, json: bool) -> Path | None:
    """The file to write; None is standard output."""
    from myxtts.audio.encode import check_suffix

    if output != STREAM:
        target = Path(output or "speech.wav")
        if target.is_dir():
            raise UsageError(
                f"{target} is a folder",
                received=f"-o {output}",
                remedy=f"-o {target / 'speech.wav'}, or --from-file LINES for a folder of sounds",
            )
        check_suffix(target)
        return target
    if json or sys.stdout.isatty():
        raise UsageError(
            "Standard output takes the sound and nothing else",
            received="-o - with --json" if json else "-o - on a terminal",
            remedy="-o speech.wav" if json else "myxtts say TEXT -o - | aplay",
        )
    return None


def _folder(output: str | None) -> Path:
    folder = Path(output or "speech")
    if output == STREAM or (folder.exists() and not folder.is_dir()):
        raise UsageError(
            "With --from-file, the output is a folder", received=output, remedy="-o speech"
        )
    return folder


@contextmanager
def _counter() -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error; nothing where nobody watches."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    from myxtts.cli.console import stderr

    columns = ("saying", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr(), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("saying", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _figures(speech: float, work: float, load: float) -> dict[str, Any]:
    return {
        "seconds": round(speech, 3),
        "work_seconds": round(work, 3),
        "real_time_factor": round(work / speech, 4) if speech else None,
        "load_seconds": round(load, 3),
    }


def _told(speech: float, work: float) -> str:
    factor = f" ({work / speech:.3f} × real time)" if speech else ""
    return f"{speech:.1f} s of speech in {work:.1f} s{factor}"
