"""`myxtts plan`: what another set-up would do, predicted from one recorded run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from myxtts.cli.configuration import Json, Lang
from myxtts.cli.console import print_json, stderr, stdout

if TYPE_CHECKING:
    from myxtts.tools.plan import Planner
    from myxtts.tools.what_if import WhatIf


PlanName = Literal["one", "dual", "replicas"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(plan)


def plan(
    run: Annotated[Path, typer.Argument(help="A recorded run: its folder or its run.jsonl.")],
    batch_size: Annotated[int | None, typer.Option(min=1, help="Another batch size.")] = None,
    num_workers: Annotated[int | None, typer.Option(min=1, help="Other loading workers.")] = None,
    pipeline_depth: Annotated[int | None, typer.Option(min=1, help="Another ring depth.")] = None,
    features: Annotated[
        Literal["cached", "live"] | None, typer.Option(help="Cached or live mels.")
    ] = None,
    device_plan: Annotated[PlanName | None, typer.Option(help="Another plan of devices.")] = None,
    model_faster: Annotated[
        float | None, typer.Option(min=0.01, help="A GPU that trains K times as fast.")
    ] = None,
    overlap: Annotated[
        bool | None, typer.Option("--overlap/--no-overlap", help="Threads ahead, or none.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Picture of throughput against the varied quantity.")
    ] = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """What if? Throughput, utilisation, memory and waits of another set-up, with their range.

    Without a change: all that are worth a look, and the best of them together.

    Example: myxtts plan runs/profile-001 --batch-size 32
    """
    from myxtts.errors import COULD_NOT_MEASURE
    from myxtts.telemetry.session import load
    from myxtts.tools.plan import Planner
    from myxtts.tools.plan_text import show_plan
    from myxtts.tools.what_if import WhatIf
    from myxtts.tools.what_to_try import answer, survey

    asked = WhatIf(
        batch_size=batch_size,
        num_workers=num_workers,
        pipeline_depth=pipeline_depth,
        features=features,
        device_plan=device_plan,
        model_faster=model_faster,
        overlap=overlap,
    )
    planner = Planner(load(run))
    found = answer(planner, asked) if asked.asked else survey(planner)
    if plot is not None:
        _draw(planner, asked, plot)
    if json:
        print_json(found.as_json() | {"picture": plot and str(plot)})
    else:
        show_plan(found, stdout(), lang, str(run))
    if not found.predictions:
        raise typer.Exit(COULD_NOT_MEASURE)


def _draw(planner: Planner, asked: WhatIf, plot: Path) -> None:
    from myxtts.errors import UsageError
    from myxtts.files import write_atomically
    from myxtts.tools.drawing import to_png, to_svg
    from myxtts.tools.plan_picture import VARIED, picture, varied
    from myxtts.tools.what_if import NotPredictable

    names = [name for name in asked.asked if name in VARIED] or ["pipeline_depth"]
    if plot.suffix not in (".svg", ".png"):
        raise UsageError(
            "A picture is an SVG or a PNG file", received=str(plot), remedy="--plot plan.svg"
        )
    try:
        drawing = picture(names[0], varied(planner, names[0]))
    except NotPredictable as why:
        stderr().print(f"no picture: {why}", markup=False)
        return
    write_atomically(plot, to_svg(drawing) if plot.suffix == ".svg" else to_png(drawing))
