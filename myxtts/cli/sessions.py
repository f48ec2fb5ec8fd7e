"""`myxtts compare | scaling | report`: what recorded runs say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from myxtts.cli.configuration import Json, Lang
from myxtts.cli.console import print_json, stdout

if TYPE_CHECKING:
    from myxtts.tools.compare import ComparedRow

RunPath = Annotated[
    Path, typer.Argument(help="A run's folder, its run.jsonl, or a file with its output.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (compare, scaling, report):
        app.command()(command)


def compare(a: RunPath, b: RunPath, json: Json = False) -> None:
    """Two runs side by side, with the change from the first to the second.

    Example: myxtts compare runs/before runs/after
    """
    from dataclasses import asdict

    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from myxtts.tools import figures
    from myxtts.tools.compare import compare as side_by_side

    first, second = figures.read(a), figures.read(b)
    rows = side_by_side(first, second)
    if json:
        document = {"a": asdict(first), "b": asdict(second)}
        print_json(document | {"rows": [row.as_json() for row in rows]})
        return
    table = Table(box=SIMPLE_HEAD)
    for heading in ("", f"A: {first.name}", f"B: {second.name}", "change", ""):
        table.add_column(heading, justify="left" if not heading else "right")
    for row in rows:
        change = "" if row.change is None else f"{row.change:+.1%}"
        table.add_row(row.name, shown(row, row.a), shown(row, row.b), change, row.verdict)
    console = stdout()
    if first.virtual or second.virtual:
        console.print("[yellow]Virtual devices: no figure of such a run is a GPU's.[/]")
    console.print(table)


def scaling(
    logs: Annotated[list[Path], typer.Argument(help="Runs with different batch sizes.")],
    json: Json = False,
) -> None:
    """Throughput and memory against batch size, the best one, and where it stops paying.

    Example: myxtts scaling runs/batch8 runs/batch16 runs/batch32
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from myxtts.tools import figures
    from myxtts.tools.report_text import said
    from myxtts.tools.scaling import scaling as judged

    result = judged([figures.read(log) for log in logs])
    if json:
        print_json(result.as_json())
        return
    table = Table(box=SIMPLE_HEAD)
    for heading in ("batch", "useful frames/s", "step", "memory", "per clip", "run"):
        table.add_column(heading, justify="right")
    for row in result.rows:
        table.add_row(
            str(row.batch_size),
            f"{row.frames_per_second:.0f}",
            f"{1e3 * row.step_seconds:.1f} ms",
            said(row.memory_mb, " MB"),
            f"{row.efficiency:.0%}",
            row.run,
        )
    console = stdout()
    if result.virtual:
        console.print("[yellow]Virtual devices: no figure of such a run is a GPU's.[/]")
    console.print(table)
    console.print(result.verdict)


def report(
    run: RunPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """A recorded run as one HTML page: where the time went and what to change.

    Example: myxtts report runs/latest -o report.html --lang fa
    """
    from myxtts.files import write_atomically
    from myxtts.telemetry.session import load
    from myxtts.tools.report import render
    from myxtts.tools.summary import summarize

    summary = summarize(load(run))
    write_atomically(output, render(summary, lang).encode())
    if json:
        print_json(summary.as_json(lang) | {"page": str(output)})
    else:
        stdout().print(f"written: {output}", markup=False)


def shown(row: ComparedRow, value: float | None) -> str:
    """A figure in its unit."""
    if value is None:
        return "not measured"
    formats = {
        "ms": f"{value:.1f} ms",
        "per second": f"{value:.2f}/s" if value < 100 else f"{value:.0f}/s",
        "share": f"{value:.1%}",
        "percent": f"{value:.0f} %",
        "MB": f"{value:.0f} MB",
        "s": f"{value:.1f} s",
    }
    return formats[row.unit]
