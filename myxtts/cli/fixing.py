"""`myxtts fix`: from prerequisites to the training command; changes have to prove themselves."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from myxtts.cli.configuration import ConfigFile, Json, Lang
from myxtts.cli.console import print_json, stdout
from myxtts.cli.profiling import Output, ShortRun, TrainData, notice
from myxtts.cli.training import DEFAULT_FILES, load_settings

if TYPE_CHECKING:
    from myxtts.config import Config
    from myxtts.tools.catalogue import Language
    from myxtts.tools.diagnosis import Diagnosis
    from myxtts.tools.findings import Finding
    from myxtts.tools.fix_run import Fixed, ShortRuns


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(fix)


def fix(
    config: ConfigFile = None,
    apply: Annotated[
        bool,
        typer.Option("--apply", help="Try each change, keep what helps, write it (with a backup)."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what is recommended (the default).")
    ] = False,
    trials: Annotated[int, typer.Option(min=1, help="The most changes to try.")] = 6,
    keep_batch_size: Annotated[
        bool, typer.Option("--keep-batch-size", help="Do not try other batch sizes.")
    ] = False,
    from_run: Annotated[
        Path | None, typer.Option(help="Try the plan of this recorded run first (with --apply).")
    ] = None,
    train_data: TrainData = None,
    num_steps: ShortRun = 30,
    output: Output = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """Diagnose, show the change; with --apply measure it and keep it only if it helps.

    Example: ./quick_fix_gpu_utilization.sh --config configs/config.yaml --apply
    """
    from myxtts.errors import UsageError
    from myxtts.tools import change_file
    from myxtts.tools.diagnosis import diagnose
    from myxtts.tools.findings import combined_settings, exit_code
    from myxtts.tools.fix_run import fix_file, planned_from, worth_trying
    from myxtts.tools.fix_text import trial_line
    from myxtts.tools.profile_run import fresh_folder

    if apply and dry_run:
        raise UsageError(
            "A change is either applied or only shown", received="--apply and --dry-run",
            remedy="leave one of the two out",
        )  # fmt: skip
    file = _file(config)
    settings = load_settings(file).replaced({"data.train_data": train_data})
    folder = output or fresh_folder("fix")
    found = diagnose(settings, folder, steps=num_steps, notice=notice)
    recommended = combined_settings(found.findings)
    changes, backup, fixed = change_file.diff(file, recommended), None, None
    if apply and num_steps == 0:
        backup = change_file.apply(file, recommended) if changes else None
    elif apply:
        planned = None if from_run is None else planned_from(from_run)
        with _told_when_interrupted(file, lang):
            runs = _short_runs(found, settings, file, folder, num_steps)
            fixed = fix_file(
                file,
                worth_trying(runs, found.environment, keep_batch=keep_batch_size, planned=planned),
                runs,
                most_trials=trials,
                tell=lambda trial: notice(trial_line(trial, lang)),
            )
        changes, backup = fixed.diff, fixed.backup
    left = _left(found.findings, fixed, unmeasured=backup is not None and fixed is None)
    command = training_command(settings, file, train_data)
    if json:
        print_json(
            found.as_json(lang)
            | {
                "recommended": recommended,
                "diff": changes,
                "backup": backup and str(backup),
                "training_command": command,
                "fixed": fixed and fixed.as_json(),
            }
        )
    else:
        _show(found, changes, backup, fixed, file, lang)
        _show_next(settings, command, lang)
    raise typer.Exit(exit_code(left))


def _short_runs(
    found: Diagnosis, settings: Config, file: Path, folder: Path, num_steps: int
) -> ShortRuns:
    """What measures a change; the run of the diagnosis is the first of them."""
    from myxtts.errors import MeasurementError
    from myxtts.tools.fix_run import ShortRuns
    from myxtts.tools.profile_run import with_corpus

    if found.summary is None:
        why = found.not_measured.get("run") or found.not_measured.get("corpus")
        raise MeasurementError(
            "No run could be measured, so no change can prove itself",
            received=why,
            follows=f"{file} is as it was",
            remedy="remove the cause, or myxtts fix --dry-run to see what the rules recommend",
        )
    return ShortRuns(with_corpus(settings, notice), folder, num_steps, found.summary.session)


@contextmanager
def _told_when_interrupted(file: Path, lang: Language) -> Iterator[None]:
    """Nothing is written before the last run is over, so a Ctrl-C changes nothing."""
    from myxtts.tools.fix_text import said

    try:
        yield
    except KeyboardInterrupt:
        notice(said("interrupted", lang, file=file))
        raise


def _left(findings: list[Finding], fixed: Fixed | None, *, unmeasured: bool) -> list[Finding]:
    """What still has to be done by hand: no key does it, or nobody tried it."""
    if unmeasured:
        return [one for one in findings if not one.change.settings]
    if fixed is None:
        return findings
    tried: dict[str, Any] = {}
    for trial in fixed.outcome.trials:
        tried |= trial.candidate.settings
    # A change that was tried and did not help is no longer something that must be done.
    return [one for one in findings if not set(one.change.settings) & set(tried)]


def _show(
    found: Diagnosis,
    changes: str,
    backup: Path | None,
    fixed: Fixed | None,
    file: Path,
    lang: Language,
) -> None:
    from myxtts.tools.diagnosis_text import show_environment
    from myxtts.tools.fix_text import applied_lines, heading, said
    from myxtts.tools.report_text import show_findings

    console = stdout()
    console.print(heading("prerequisites", lang))
    show_environment(found.environment, console)
    console.print(f"\n{heading('diagnosis', lang)}")
    for what, why in found.not_measured.items():
        console.print(f"{said('not_measured', lang)}: {what}: {why}", markup=False)
    show_findings(found.findings, console, lang)
    console.print(f"\n{heading('apply', lang)}")
    if fixed is not None:
        for line in applied_lines(fixed, file, lang):
            console.print(line, markup=False)
    elif backup is not None:
        console.print(said("unmeasured", lang, backup=backup), markup=False)
    else:
        console.print(said("shown" if changes else "nothing", lang), markup=False)
    console.print(f"\n{heading('recommended', lang)}")
    console.print(changes or said("stays", lang, file=file), markup=False)


def _show_next(settings: Config, command: str, lang: Language) -> None:
    from myxtts.tools.fix_text import heading

    console = stdout()
    console.print(f"\n{heading('train', lang)}\n{command}")
    console.print(
        f"\n{heading('watch', lang)}\n"
        "nvidia-smi dmon -s um    (utilisation and memory, each second)\n"
        f"myxtts report {settings.training.output_dir} -o report.html    "
        "(where the time went, while it runs or after)"
    )


def training_command(settings: Config, file: Path, train_data: str | None) -> str:
    """What to type to train with this file; a corpus that it does not name is named by a flag."""
    if train_data is None and settings.data.train_data is None:
        train_data = "FOLDER"
    corpus = "" if train_data is None else f" --train-data {shlex.quote(train_data)}"
    return f"python train_main.py --config {shlex.quote(str(file))}{corpus}"


def _file(config: Path | None) -> Path:
    from myxtts.errors import UsageError

    file = config or next((default for default in DEFAULT_FILES if default.is_file()), None)
    if file is None:
        raise UsageError(
            "There is no configuration file to recommend changes for",
            received="no --config, and neither config.yaml nor configs/config.yaml is here",
            remedy="myxtts config init config.yaml, then myxtts fix --config config.yaml",
        )
    return file
