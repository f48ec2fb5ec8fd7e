"""`myxtts configure | check-gpu`: settings for this machine, applied and checked."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from myxtts.cli.configuration import ConfigFile, Json, Lang
from myxtts.cli.console import print_json, stderr, stdout
from myxtts.cli.training import load_settings


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(configure)
    app.command("check-gpu")(check_gpu)


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


def _say_scope(variables: dict[str, Any]) -> None:
    exports = " ".join(f"{name}={value}" for name, value in variables.items())
    stderr().print(
        "These hold for one process; training sets its own at its start. For other programs:\n"
        f"  export {exports}",
        markup=False,
    )
