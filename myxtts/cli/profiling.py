"""`myxtts profile | diagnose | analyze | accept`: measure, and say what the measurement means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from myxtts.cli.configuration import ConfigFile, Json, Lang
from myxtts.cli.console import print_json, stderr, stdout
from myxtts.cli.training import load_settings

if TYPE_CHECKING:
    from myxtts.tools.environment import Environment

Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Folder of the recording (runs/…).")
]
TrainData = Annotated[
    str | None, typer.Option("--train-data", help="Corpus; without one a demo corpus is spoken.")
]
VirtualGpus = Annotated[
    int, typer.Option("--virtual-gpus", min=0, help="Rehearse on N logical CPU devices.")
]
Plant = Annotated[
    list[str] | None,
    typer.Option(
        "--plant", help="Slow a stage on purpose: STAGE=MS[:JITTER], buffer=1, …; repeatable."
    ),
]
DUMMY_STEP_MS = 50.0
"""About what a small model takes on a GPU, and long against the error of a sleep."""
ShortRun = Annotated[
    int, typer.Option("--num-steps", min=0, help="Steps of the short run; 0: train nothing.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (profile, diagnose, analyze, accept):
        app.command()(command)


def profile(
    batch_size: Annotated[int, typer.Option(help="Clips in a batch.", min=1)] = 16,
    num_steps: Annotated[int, typer.Option(help="Steps to train.", min=3)] = 100,
    data_gpu: Annotated[int, typer.Option(help="GPU that prepares data.")] = 0,
    model_gpu: Annotated[int, typer.Option(help="GPU that trains.")] = 1,
    one_device: Annotated[
        bool, typer.Option("--one-device", help="Prepare and train on the same device.")
    ] = False,
    virtual_gpus: VirtualGpus = 0,
    plant: Plant = None,
    plant_seed: Annotated[int, typer.Option(help="Seed of planted jitter.", min=0)] = 0,
    dummy_model: Annotated[
        bool, typer.Option("--dummy-model", help="A step that sleeps stands in for the model.")
    ] = False,
    dummy_step_ms: Annotated[
        float, typer.Option(help="Milliseconds of the stand-in's step.", min=0.1, max=60_000.0)
    ] = DUMMY_STEP_MS,
    config: ConfigFile = None,
    train_data: TrainData = None,
    output: Output = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """Train a few real steps and say where the time goes and what to change.

    Example: myxtts profile --batch-size 16 --num-steps 100 --virtual-gpus 2
    """
    from myxtts.tools import profile_run
    from myxtts.tools.report_text import show
    from myxtts.tools.summary import summarize
    from myxtts.training import planting
    from myxtts.training.study import Study

    planted = planting.parse(plant or [], plant_seed)
    if not one_device:
        _require_two(virtual_gpus)
    settings = profile_run.on_devices(
        load_settings(config).replaced(
            {"data.batch_size": batch_size, "data.train_data": train_data}
        ),
        data_gpu=None if one_device else data_gpu,
        model_gpu=None if one_device else model_gpu,
        virtual_gpus=virtual_gpus,
    )
    folder = output or profile_run.fresh_folder("profile")
    study = Study(planted, dummy_step_ms / 1e3 if dummy_model else None, rates=True)
    session = profile_run.profile(settings, folder, steps=num_steps, notice=notice, study=study)
    summary = summarize(session)
    if json:
        print_json(summary.as_json(lang))
    else:
        show(summary, stdout(), lang)
        stdout().print(f"recording: {folder}; as a page: myxtts report {folder} -o report.html")
    raise typer.Exit(summary.exit_code)


def diagnose(
    config: ConfigFile = None,
    train_data: TrainData = None,
    num_steps: ShortRun = 30,
    output: Output = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """Look at GPUs, TensorFlow, configuration and data; time a short run; recommend.

    Example: myxtts diagnose --config configs/config.yaml
    """
    from myxtts.tools.diagnosis import diagnose as look
    from myxtts.tools.diagnosis_text import show_diagnosis
    from myxtts.tools.profile_run import fresh_folder

    settings = load_settings(config).replaced({"data.train_data": train_data})
    folder = output or fresh_folder("diagnose")
    found = look(settings, folder, steps=num_steps, notice=notice)
    if json:
        print_json(found.as_json(lang))
    else:
        show_diagnosis(found, stdout(), lang)
    raise typer.Exit(found.exit_code)


def analyze(
    config: ConfigFile = None,
    train_data: TrainData = None,
    num_steps: ShortRun = 30,
    output: Output = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """Time the data's way: text, audio, waits between batches, the idle share that follows.

    Example: myxtts analyze --train-data LJSpeech-1.1
    """
    from dataclasses import asdict

    from myxtts.tools import analyze as timing
    from myxtts.tools import profile_run
    from myxtts.tools.diagnosis_text import show_timings
    from myxtts.tools.findings import exit_code, findings
    from myxtts.tools.report_text import show_findings
    from myxtts.tools.summary import finding_json

    settings = profile_run.with_corpus(
        load_settings(config).replaced({"data.train_data": train_data}), notice
    )
    text, audio = timing.time_corpus(settings)
    found, waits = timing.uneven_audio(settings, audio), None
    if num_steps:
        folder = output or profile_run.fresh_folder("analyze")
        session = profile_run.profile(settings, folder, steps=num_steps, notice=notice)
        waits = timing.batch_waits(session)
        found += findings(session)
    if json:
        print_json(
            {
                "text": text.as_json(),
                "audio": audio.as_json(),
                "waits": waits and asdict(waits),
                "findings": [finding_json(one, lang) for one in found],
            }
        )
    else:
        show_timings(text, audio, waits, stdout())
        show_findings(found, stdout(), lang)
    raise typer.Exit(exit_code(found))


def accept(
    data_gpu: Annotated[int, typer.Option(help="GPU that prepares data.")] = 0,
    model_gpu: Annotated[int, typer.Option(help="GPU that trains.")] = 1,
    virtual_gpus: VirtualGpus = 0,
    batch_sizes: Annotated[str, typer.Option(help="Batch sizes to measure.")] = "8,16,32",
    num_steps: Annotated[int, typer.Option(help="Steps of each case.", min=3)] = 100,
    stability_steps: Annotated[
        int, typer.Option(help="Steps of the longer run; 0: leave it out.", min=0)
    ] = 500,
    largest_batch: Annotated[
        int, typer.Option(help="Look for the end of the memory up to this batch.", min=0)
    ] = 512,
    config: ConfigFile = None,
    train_data: TrainData = None,
    output: Output = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """The acceptance run for your own two GPUs: several short runs, one report to send.

    Example: myxtts accept --data-gpu 0 --model-gpu 1
    """
    from myxtts.files import write_atomically
    from myxtts.tools import acceptance, acceptance_page
    from myxtts.tools.environment import environment
    from myxtts.tools.profile_run import fresh_folder
    from myxtts.tools.words import word

    batches = _batch_sizes(batch_sizes)
    machine = _require_two(virtual_gpus)
    folder = output or fresh_folder("accept")
    result = acceptance.accept(
        load_settings(config).replaced({"data.train_data": train_data}),
        folder,
        batches=batches,
        steps=num_steps,
        devices=(data_gpu, model_gpu),
        virtual_gpus=virtual_gpus,
        notice=notice,
        stability_steps=stability_steps,
        largest_batch=largest_batch,
    )
    page = folder / "acceptance.html"
    write_atomically(page, acceptance_page.render(result, machine or environment(), lang).encode())
    if json:
        print_json(result.as_json(lang) | {"report": str(page)})
    else:
        console = stdout()
        if result.virtual:
            console.print(f"[yellow]{word('rehearsal', lang)}[/]")
        for question, answer in acceptance_page.conclusions(result, lang):
            console.print(f"{question}: {answer}", markup=False)
        console.print(f"report: {page}", markup=False)
    raise typer.Exit(result.exit_code)


def _require_two(virtual_gpus: int) -> Environment | None:
    """Two GPUs or virtual ones, or the end: nothing can be measured."""
    from myxtts.errors import MeasurementError
    from myxtts.tools.environment import environment

    if virtual_gpus:
        return None
    found = environment()
    if len(found.gpus) < 2:
        raise MeasurementError(
            f"Measuring two GPUs needs at least 2 GPUs, found {len(found.gpus)}",
            received=found.no_gpu_reason,
            follows="nothing was measured",
            remedy="rehearse with --virtual-gpus 2 (myxtts profile also has --one-device)",
        )
    return found


def _batch_sizes(text: str) -> list[int]:
    from myxtts.errors import UsageError

    try:
        sizes = sorted({int(part) for part in text.split(",")})
    except ValueError:
        sizes = []
    if not sizes or sizes[0] < 1:
        raise UsageError(
            "--batch-sizes is a list of whole numbers",
            received=text,
            remedy="--batch-sizes 8,16,32",
        )
    return sizes


def notice(text: str) -> None:
    """A word about the work, beside the result."""
    stderr().print(text, markup=False)
