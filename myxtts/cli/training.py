"""`myxtts train` (train_main.py) and `myxtts prepare`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from myxtts.cli.configuration import ConfigFile, Json, Lang
from myxtts.cli.console import print_json, stdout

if TYPE_CHECKING:
    from myxtts.config import Config
    from myxtts.telemetry.session import Session
    from myxtts.tools.catalogue import Language
    from myxtts.tools.outcome import Outcome
    from myxtts.training.progress import Display

DEFAULT_FILES = (Path("config.yaml"), Path("configs/config.yaml"))
SHORT_HELP = """Nothing to train on: neither --train-data nor a configuration names a corpus.

  try everything without data    myxtts demo
  train on your own corpus       python train_main.py --train-data FOLDER
  with two GPUs                  python train_main.py --train-data FOLDER --data-gpu 0 --model-gpu 1
  without a GPU, as a rehearsal  python train_main.py --train-data FOLDER \\
                                   --virtual-gpus 2 --data-gpu 0 --model-gpu 1
  all flags                      python train_main.py --help

FOLDER holds metadata.csv (id|text) and wavs/, as LJSpeech does."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(train)
    app.command()(prepare)


def option(help_text: str, *names: str, **settings: Any) -> Any:
    """A flag that overrides one key and is None when not given."""
    return typer.Option(*names, help=help_text, show_default=False, **settings)


def train(
    config: ConfigFile = None,
    train_data: Annotated[str | None, option("Folder of the training corpus.")] = None,
    val_data: Annotated[str | None, option("Folder of the validation corpus.")] = None,
    model_size: Annotated[str | None, option("tiny, small, normal or big.")] = None,
    batch_size: Annotated[int | None, option("Clips in a batch of the median bucket.")] = None,
    epochs: Annotated[int | None, option("Passes over the corpus.")] = None,
    max_steps: Annotated[int | None, option("Stop after this many steps.")] = None,
    num_workers: Annotated[int | None, option("Workers of preparation and loading.")] = None,
    data_gpu: Annotated[int | None, option("GPU that prepares data; set both or neither.")] = None,
    model_gpu: Annotated[int | None, option("GPU that trains.")] = None,
    enable_memory_isolation: Annotated[
        bool | None, option("Give each GPU a memory limit of its own.", "--enable-memory-isolation")
    ] = None,
    data_gpu_memory: Annotated[int | None, option("Limit of the data GPU in MB.")] = None,
    model_gpu_memory: Annotated[int | None, option("Limit of the model GPU in MB.")] = None,
    enable_static_shapes: Annotated[
        bool | None,
        option(
            "Static shapes, compiled once (the default).",
            "--enable-static-shapes/--disable-static-shapes",
        ),
    ] = None,
    prefetch_buffer_size: Annotated[int | None, option("Host batches loaded ahead.")] = None,
    buffer_size: Annotated[int | None, option("The most batches in flight (50).")] = None,
    model_start_delay: Annotated[
        float | None, option("Seconds to wait for a full pipeline (2.0).")
    ] = None,
    cache_dataset: Annotated[
        bool | None, option("Keep the feature store in memory.", "--cache-dataset")
    ] = None,
    plan: Annotated[
        str | None, option("one, dual, replicas, or auto: a short trial of each decides.")
    ] = None,
    virtual_gpus: Annotated[
        int | None, option("Rehearse on N logical CPU devices instead of GPUs.")
    ] = None,
    output: Annotated[str | None, option("Folder of the run (runs/latest).")] = None,
    cache_dir: Annotated[str | None, option("Folder of prepared text and features.")] = None,
    from_checkpoint: Annotated[
        str | None, option("Fine-tune: begin with the weights of this run or checkpoint.")
    ] = None,
    trace: Annotated[
        bool | None, option("Write trace.json.gz, for ui.perfetto.dev.", "--trace")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --output, as it was told.")
    ] = False,
    json: Json = False,
    lang: Lang = "en",
) -> None:
    """Train a model.

    Example: python train_main.py --train-data LJSpeech-1.1 --data-gpu 0 --model-gpu 1
    """
    own = Path(output or "runs/latest") / "config.yaml"
    if resume and config is None and own.is_file():
        config = own
    settings = load_settings(config).replaced(
        {
            "data.train_data": train_data,
            "data.val_data": val_data,
            "data.cache_dir": cache_dir,
            "data.batch_size": batch_size,
            "data.num_workers": num_workers,
            "data.data_gpu": data_gpu,
            "data.model_gpu": model_gpu,
            "data.enable_memory_isolation": enable_memory_isolation,
            "data.data_gpu_memory": data_gpu_memory,
            "data.model_gpu_memory": model_gpu_memory,
            "data.pad_to_fixed_length": enable_static_shapes,
            "data.prefetch_buffer_size": prefetch_buffer_size,
            "data.pipeline_buffer_size": buffer_size,
            "data.model_start_delay": model_start_delay,
            "data.cache_dataset": cache_dataset,
            "data.device_plan": plan,
            "data.virtual_gpus": virtual_gpus,
            "model.size": model_size,
            "training.epochs": epochs,
            "training.max_steps": max_steps,
            "training.from_checkpoint": from_checkpoint,
            "training.output_dir": output,
            "training.trace": trace,
        }
    )
    if settings.data.train_data is None:
        typer.echo(SHORT_HELP, err=True)
        raise typer.Exit(2)
    run(settings, resume=resume, json=json, language=lang)


def load_settings(file: Path | None) -> Config:
    """The configuration named, the one lying in the folder, or the defaults."""
    from myxtts import config_file
    from myxtts.config import Config

    if file is None:
        file = next((default for default in DEFAULT_FILES if default.is_file()), None)
    return Config() if file is None else config_file.load(file)


def run(
    settings: Config, *, resume: bool = False, json: bool = False, language: Language = "en"
) -> None:
    """Warn, train with a display, and say what came of it and what comes next."""
    from myxtts.cli.live import PlainDisplay, display
    from myxtts.telemetry import session
    from myxtts.tools.outcome import outcome
    from myxtts.tools.summary import summarize
    from myxtts.training.run import train as run_training

    # With --json standard output holds the document alone.
    with PlainDisplay(sys.stderr) if json else display() as screen:
        for warning in start_warnings(settings):
            screen.say(f"warning: {warning}")
        screen.say("to find out what limits a run: myxtts profile --help")
        if not json:
            folder = train_and_account(settings, screen, resume=resume, language=language)
            screen.say(f"run: {folder}")
            return
        recorded = session.load(run_training(settings, screen, resume=resume))
        keep_outcome(recorded)
    document = summarize(recorded).as_json(language)
    print_json(document | {"outcome": outcome(recorded).as_json(language)})


def train_and_account(
    settings: Config, screen: Display, *, resume: bool = False, language: Language = "en"
) -> Path:
    """Train, then show the account of the run's time and what the run achieved."""
    from myxtts.telemetry import session
    from myxtts.tools import report_text
    from myxtts.tools.summary import summarize
    from myxtts.training.run import train as run_training

    folder = run_training(settings, screen, resume=resume)
    recorded = session.load(folder)
    report_text.show(summarize(recorded), stdout(), language)
    screen.say(keep_outcome(recorded).text(language))
    return folder


def keep_outcome(recorded: Session) -> Outcome:
    """What a run achieved, also as summary.txt in its folder."""
    from myxtts.files import write_atomically
    from myxtts.tools.outcome import outcome

    achieved = outcome(recorded)
    write_atomically(recorded.path.parent / "summary.txt", achieved.file().encode())
    return achieved


def start_warnings(settings: Config) -> list[str]:
    """What looks wrong for this machine: batch, workers, prefetch."""
    from myxtts.tools.audit import audit
    from myxtts.tools.catalogue import title
    from myxtts.tools.environment import environment

    found = environment()
    return [title(wrong) for wrong in audit(settings, found.cores, found.gpu_memory_mb)]


def prepare(
    folder: Annotated[Path, typer.Argument(help="Folder of the corpus.")],
    config: ConfigFile = None,
    cache_dir: Annotated[str | None, option("Folder of prepared text and features.")] = None,
    num_workers: Annotated[int | None, option("Workers.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
) -> None:
    """Turn a corpus into tokens and mels; training does it by itself when needed.

    Example: myxtts prepare LJSpeech-1.1
    """
    from myxtts.cli.live import display
    from myxtts.data.prepare import cache_folder
    from myxtts.data.prepare import prepare as prepare_corpus
    from myxtts.errors import MUST_FIX

    settings = load_settings(config).replaced(
        {"data.cache_dir": cache_dir, "data.num_workers": num_workers}
    )
    if json:
        prepared = prepare_corpus(folder, settings.data)
    else:
        with display() as screen:
            prepared = prepare_corpus(folder, settings.data, screen.preparing)
    hours = float(prepared.frames.sum()) * 256 / settings.data.sample_rate / 3600
    facts = {
        "clips": len(prepared.clip_ids),
        "hours": round(hours, 3),
        "speakers": len(prepared.speakers),
        "computed": asdict(prepared.computed),
        "long_clips": [asdict(clip) for clip in prepared.long_clips],
        "skipped": [{"clip": clip.clip, "reason": clip.reason} for clip in prepared.skipped],
        "unknown_characters": prepared.unknown_characters,
        "cache": str(cache_folder(folder, settings.data)),
    }
    if json:
        print_json(facts)
    else:
        typer.echo(
            f"{facts['clips']} clips, {hours:.2f} hours, {facts['speakers']} speakers, "
            f"{len(prepared.skipped)} left out; cache: {facts['cache']}"
        )
        typer.echo(
            f"computed now: {prepared.computed.texts} texts, {prepared.computed.clips} clips; "
            "the rest was there"
        )
        for long_clip in prepared.long_clips:
            typer.echo(f"  long clip: {long_clip}")
        for clip in prepared.skipped:
            typer.echo(f"  left out: {clip.clip}: {clip.reason}")
    if prepared.skipped:
        raise typer.Exit(MUST_FIX)
