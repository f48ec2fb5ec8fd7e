"""`myxtts demo`: everything once, from nothing to speech."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from myxtts.config import Config

MARK = ".myxtts-demo"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo(
    output: Annotated[Path, typer.Option("--output", help="Folder for everything.")] = Path("demo"),
    steps: Annotated[int, typer.Option(help="Training steps.", min=1)] = 1800,
    clips: Annotated[int, typer.Option(help="Clips of the corpus.", min=16)] = 800,
    seed: Annotated[int, typer.Option(help="Seed of corpus and training.")] = 0,
) -> None:
    """Corpus, training on two virtual devices, account of the time, speech: one command.

    Example: myxtts demo --steps 300
    """
    from myxtts.cli.live import display
    from myxtts.cli.training import train_and_account
    from myxtts.data import demo_corpus
    from myxtts.tools import demo as demonstration

    started = time.monotonic()
    corpus, run = _fresh(output)
    with display() as screen:
        screen.say(f"1. a corpus: {clips} clips, English and Persian, spoken by espeak-ng")
        demo_corpus.make(corpus, clips=clips, seed=seed, progress=screen.preparing)
        screen.say(f"2. training: {steps} steps on two virtual devices (logical CPU devices)")
        train_and_account(_settings(corpus, run, steps, seed), screen)
        screen.say("3. speech")
        spoken, heard = demonstration.speak(run, corpus, output, seed, screen.preparing)
        page = demonstration.write_page(output, run, spoken, heard)
        screen.say(demonstration.heard_line(heard))
        for sentence in spoken:
            screen.say(f"   {sentence.wav}: {sentence.text}")
    minutes, seconds = divmod(int(time.monotonic() - started), 60)
    typer.echo(
        f"\ndone in {minutes}:{seconds:02d}. Everything is in {output}/\n"
        f"  look and listen   {page}\n"
        f'  say more          myxtts say "Good morning." --checkpoint {run} -o morning.wav\n'
        f"  where time went   myxtts report {run}\n"
        f"  your own corpus   myxtts train --train-data FOLDER"
    )


def _fresh(output: Path) -> tuple[Path, Path]:
    """An empty demo folder; an earlier demo is replaced, anything else is left alone."""
    from myxtts.errors import UsageError
    from myxtts.files import write_atomically

    if output.exists() and any(output.iterdir()):
        if not (output / MARK).exists():
            raise UsageError(
                f"{output} exists and is not a demo's folder",
                follows="it is not overwritten",
                remedy="myxtts demo --output another-folder",
            )
        shutil.rmtree(output)
    write_atomically(output / MARK, b"made by myxtts demo; replaced by the next one\n")
    return output / "corpus", output / "run"


def _settings(corpus: Path, run: Path, steps: int, seed: int) -> Config:
    from myxtts.config import Config

    return Config().replaced(
        {
            "data.train_data": str(corpus),
            "data.virtual_gpus": 2,
            "data.data_gpu": 0,
            "data.model_gpu": 1,
            "data.batch_size": 8,
            "data.max_buckets": 2,
            "data.enable_xla": True,
            "training.max_steps": steps,
            "training.epochs": 10_000,
            "training.output_dir": str(run),
            "training.seed": seed,
        }
    )
