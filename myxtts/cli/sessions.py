"""`myxtts compare | scaling | report`: what recorded runs say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from myxtts.cli.configuration import Json, Lang
from myxtts.cli.console import print_json, stdout

RunPath = Annotated[
    Path, typer.Argument(help="A run's folder, its run.jsonl, or a file with its output.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (compare, scaling, report):
        app.command()(command)


def compare(a: RunPath, b: RunPath, lang: Lang = "en", json: Json = False) -> None:
    """Two runs side by side, with the change from the first to the second.

    Example: myxtts compare runs/before runs/after
    """
    from dataclasses import asdict

    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from myxtts.tools import figures
    from myxtts.tools.compare import compare as side_by_side
    from myxtts.tools.page_words import label
    from myxtts.tools.report_compare import compared_rows

    first, second = figures.read(a), figures.read(b)
    rows = side_by_side(first, second)
    if json:
        document = {"a": asdict(first), "b": asdict(second)}
        print_json(document | {"rows": [row.as_json() for row in rows]})
        return
    table = Table(box=SIMPLE_HEAD)
    changed = label("changed", lang)
    for heading in ("", f"A: {first.name}", f"B: {second.name}", changed, ""):
        table.add_column(heading, justify="left" if not heading else "right")
    for cells in compared_rows(rows, lang):
        table.add_row(*cells)
    console = stdout()
    if first.virtual or second.virtual:
        console.print(f"[yellow]{label('virtual_run', lang)}[/]")
    console.print(table)


def scaling(
    logs: Annotated[list[Path], typer.Argument(help="Runs with different batch sizes.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Draw it into this HTML page, too.")
    ] = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """Throughput and memory against batch size, the best one, and where it stops paying.

    Example: myxtts scaling runs/batch8 runs/batch16 runs/batch32 -o scaling.html
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from myxtts.files import write_atomically
    from myxtts.tools import figures, scaling_page
    from myxtts.tools.page_words import label
    from myxtts.tools.scaling import scaling as judged

    result = judged([figures.read(log) for log in logs])
    if output is not None:
        write_atomically(output, scaling_page.render(result, lang).encode())
    if json:
        print_json(result.as_json() | {"page": output and str(output)})
        return
    table = Table(box=SIMPLE_HEAD)
    for heading in scaling_page.headings(lang):
        table.add_column(heading, justify="right")
    for row in result.rows:
        table.add_row(*scaling_page.cells(row))
    console = stdout()
    if result.virtual:
        console.print(f"[yellow]{label('virtual_run', lang)}[/]")
    console.print(table)
    console.print(scaling_page.verdict(result, lang))
    if output is not None:
        console.print(f"written: {output}", markup=False)


def report(
    run: RunPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
    before: Annotated[
        Path | None, typer.Option("--before", help="A run to hold it against, side by side.")
    ] = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """A recorded run as one HTML page: where the time went and what to change.

    Example: myxtts report runs/after --before runs/before -o report.html --lang fa
    """
    from myxtts.files import write_atomically
    from myxtts.telemetry.session import load
    from myxtts.tools.report import render
    from myxtts.tools.report_compare import before_after
    from myxtts.tools.summary import summarize

    summary = summarize(load(run))
    pair = None if before is None else before_after(summarize(load(before)), summary)
    write_atomically(output, render(summary, lang, pair).encode())
    if json:
        compared = {} if pair is None else pair.as_json(lang)
        print_json(summary.as_json(lang) | compared | {"page": str(output)})
    else:
        stdout().print(f"written: {output}", markup=False)
