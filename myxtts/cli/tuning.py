"""`myxtts configure | check-gpu | fix`: settings for this machine, checked, shown and applied."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from myxtts.cli.configuration import ConfigFile, Json, Lang
from myxtts.cli.console import print_json, stderr, stdout
from myxtts.cli.profiling import Output, ShortRun, TrainData, notice
from myxtts.cli.training import DEFAULT_FILES, load_settings

if TYPE_CHECKING:
    from myxtts.config import Config


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(configure)
    app.command("check-gpu")(check_gpu)
    app.command()(fix)


def configure(
    verify: Annotated[
        bool, typer.Option("--verify", help="Read each setting back; fail if one did not take.")
    ] = False,
    config: ConfigFile = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """Apply thread pools, memory policy, XLA, precision, tf.data options and variables.

    Example: myxtts configure --verify
    """
    from dataclasses import asdict

    from myxtts.errors import GOOD, MUST_FIX
    from myxtts.tools import tuning
    from myxtts.tools.environment import environment
    from myxtts.tools.validation_words import said

    knobs = tuning.apply(load_settings(config), environment().cores)
    if not verify:
        wanted = {knob.name: knob.wanted for knob in knobs}
        if json:
            print_json({"applied": wanted, "verified": False})
            return
        for name, value in wanted.items():
            stdout().print(f"{name}: {value or said('left alone', lang)}", markup=False)
        _say_scope(tuning.GPU_VARIABLES)
        return
    settings = tuning.verify(knobs)
    good = all(setting.taken for setting in settings)
    if json:
        rows = [asdict(setting) | {"taken": setting.taken} for setting in settings]
        print_json({"good": good, "verified": True, "settings": rows})
    else:
        for setting in settings:
            mark = "[green]✓[/]" if setting.taken else "[red]✗[/]"
            wrong = "" if setting.taken else f" ({said('wanted', lang)} {setting.wanted})"
            note = f" ({setting.note})" if setting.note else ""
            stdout().print(f"{mark} {setting.name}: {setting.found}{wrong}{note}")
        _say_scope(tuning.GPU_VARIABLES)
    raise typer.Exit(GOOD if good else MUST_FIX)


def check_gpu(config: ConfigFile = None, lang: Lang = "en", json: Json = False) -> None:
    """Is the configuration right for this machine's cores and GPUs?

    Example: myxtts check-gpu --config configs/config.yaml
    """
    from myxtts.tools.audit import CHECKS
    from myxtts.tools.environment import environment
    from myxtts.tools.findings import exit_code, ordered
    from myxtts.tools.report_text import MARKS, show_findings
    from myxtts.tools.summary import finding_json

    settings, machine = load_settings(config), environment()
    checks = {
        name: check(settings, machine.cores, machine.gpu_memory_mb)
        for name, check in CHECKS.items()
    }
    found = ordered([one for one in checks.values() if one is not None])
    if json:
        print_json(
            {
                "checks": {name: one is None for name, one in checks.items()},
                "findings": [finding_json(one, lang) for one in found],
                "machine": machine.as_json(),
            }
        )
    else:
        for name, one in checks.items():
            mark = "[green]✓[/]" if one is None else MARKS[one.severity]
            stdout().print(f"{mark} {name.replace('_', ' ')}")
        show_findings(found, stdout(), lang)
    raise typer.Exit(exit_code(found))


def fix(
    config: ConfigFile = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Write the recommended settings (with a backup).")
    ] = False,
    train_data: TrainData = None,
    num_steps: ShortRun = 30,
    output: Output = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """From prerequisites to the training command: diagnose, recommend, apply if told to.

    Example: ./quick_fix_gpu_utilization.sh --config configs/config.yaml --apply
    """
    from myxtts.tools import change_file
    from myxtts.tools.diagnosis import diagnose
    from myxtts.tools.diagnosis_text import show_environment
    from myxtts.tools.findings import combined_settings, exit_code
    from myxtts.tools.profile_run import fresh_folder
    from myxtts.tools.report_text import show_findings

    file = _file(config)
    settings = load_settings(file).replaced({"data.train_data": train_data})
    folder = output or fresh_folder("fix")
    found = diagnose(settings, folder, steps=num_steps, notice=notice)
    recommended = combined_settings(found.findings)
    changes = change_file.diff(file, recommended)
    backup = change_file.apply(file, recommended) if apply and changes else None
    command = training_command(settings, file, train_data)
    left = [one for one in found.findings if backup is None or not one.change.settings]
    if json:
        print_json(
            found.as_json(lang)
            | {
                "recommended": recommended,
                "diff": changes,
                "backup": backup and str(backup),
                "training_command": command,
            }
        )
        raise typer.Exit(exit_code(left))
    console = stdout()
    console.print("[bold]1. Prerequisites[/]")
    show_environment(found.environment, console)
    console.print("\n[bold]2. Diagnosis[/]")
    for what, why in found.not_measured.items():
        console.print(f"not measured: {what}: {why}", markup=False)
    show_findings(found.findings, console, lang)
    console.print("\n[bold]3. Recommended configuration[/]")
    console.print(changes or f"{file} stays as it is.", markup=False)
    console.print("\n[bold]4. Apply[/]")
    if backup is not None:
        console.print(f"written; what it was is in {backup}", markup=False)
        console.print("whether it helped is not measured yet: train, then myxtts compare")
    elif changes:
        console.print("not applied: add --apply to write it (a backup is kept)")
    else:
        console.print("nothing to apply")
    console.print(f"\n[bold]5. Train[/]\n{command}")
    run = settings.training.output_dir
    console.print(
        "\n[bold]6. Watch it[/]\nnvidia-smi dmon -s um    (utilisation and memory, each second)\n"
        f"myxtts report {run} -o report.html    (where the time went, while it runs or after)"
    )
    raise typer.Exit(exit_code(left))


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


def _say_scope(variables: dict[str, Any]) -> None:
    exports = " ".join(f"{name}={value}" for name, value in variables.items())
    stderr().print(
        "These hold for one process; training sets its own at its start. For other programs:\n"
        f"  export {exports}",
        markup=False,
    )
