"""`myxtts validate` (validate_dual_gpu_pipeline.py)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from myxtts.cli.configuration import Lang
from myxtts.cli.console import print_json
from myxtts.errors import GOOD, MUST_FIX

MARKS = {True: "✓", False: "✗", None: "–"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(validate)


def validate(
    data_gpu: Annotated[int, typer.Option(help="GPU that prepares data.")] = 0,
    model_gpu: Annotated[int, typer.Option(help="GPU that trains.")] = 1,
    virtual_gpus: Annotated[
        int, typer.Option(help="Rehearse on N logical CPU devices instead of GPUs.")
    ] = 0,
    lang: Lang = "en",
    json: Annotated[bool, typer.Option("--json", help="The checks as JSON.")] = False,
) -> None:
    """Check that two devices can prepare and train together: five sections, one verdict.

    Example: python validate_dual_gpu_pipeline.py --data-gpu 0 --model-gpu 1
    """
    from myxtts.config import Config
    from myxtts.tools import validation
    from myxtts.tools.validation_words import said

    settings = Config().replaced(
        {"data.data_gpu": data_gpu, "data.model_gpu": model_gpu, "data.virtual_gpus": virtual_gpus}
    )
    checks, section = [], 0
    for check in validation.validate(settings.data):
        checks.append(check)
        if json:
            continue
        if check.section != section:
            section = check.section
            typer.echo(f"\n{section}. {said(validation.SECTIONS[section - 1], lang)}")
        typer.echo(f"   {MARKS[check.good]} {said(check.name, lang)}: {check.detail}")
    good = validation.verdict(checks)
    if json:
        print_json({"good": good, "checks": [asdict(check) for check in checks]})
    else:
        missing = validation.SECTIONS[max(check.section for check in checks) :]
        if missing:
            unreached = "; ".join(said(section, lang) for section in missing)
            typer.echo(f"\n{said('not reached', lang)}: {unreached}")
        verdict = "the two-device pipeline works here" if good else "NOT ready"
        typer.echo(f"\n{said('verdict', lang)}: {said(verdict, lang)}")
    raise typer.Exit(GOOD if good else MUST_FIX)
