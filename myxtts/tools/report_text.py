"""A `Summary` and its findings as tables on a terminal. Computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from myxtts.tools.account import AccountRow, StageRow
from myxtts.tools.catalogue import Language, deed, reason, title
from myxtts.tools.findings import Finding
from myxtts.tools.gpu_figures import GpuFigures, Tier
from myxtts.tools.summary import RingRow, Summary
from myxtts.tools.verdict import Verdict
from myxtts.tools.verdict_words import said as verdict_said
from myxtts.tools.words import word

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MARKS = {"fix": "[red]✗[/]", "advice": "[yellow]•[/]", "note": "[dim]–[/]"}


def show(summary: Summary, console: Console, language: Language = "en") -> None:
    """The whole summary: verdict, figures, findings."""
    from rich.markup import escape

    if summary.virtual:
        console.print(f"[yellow]{word('rehearsal', language)}[/]")
    show_verdict(summary.verdict, console, language)
    console.print(figures_line(summary, language))
    if summary.account:
        console.print(_account_table(summary.account, language))
    if summary.stages:
        console.print(_stage_table(summary.stages, language))
    if summary.rings:
        console.print(_ring_table(summary.rings, language))
    if summary.gpus:
        console.print(_gpu_table(summary.gpus, language))
    else:
        console.print(f"GPU: {word('not_measured', language)}")
    console.print(f"{word('tier', language)}: {tier_line(summary.tier, language)}")
    for incident in summary.incidents:
        mark = "[green]✓[/]" if incident.good else "[yellow]![/]"
        console.print(f"{mark} {escape(incident.said(language))}")
    show_findings(summary.findings, console, language)


def show_verdict(found: Verdict | None, console: Console, language: Language = "en") -> None:
    """What limits the run, why, and what to change."""
    from rich.markup import escape

    if found is None:
        too_few = f"{word('not_measured', language)}: {word('too_short', language)}"
        console.print(f"[bold]{word('verdict', language)}[/]: {too_few}")
        return
    text = verdict_said(found, language)
    mark = "[green]✓[/]" if found.healthy else MARKS["fix"]
    sure = f"{word('confidence', language)} {found.confidence:.0%}"
    console.print(
        f"{mark} [bold]{word('verdict', language)}: {escape(text['title'])}[/] "
        f"({found.cause}, {sure})"
    )
    console.print(f"    {escape(text['looks'])} {escape(text['why'])} {escape(text['remedy'])}")
    if str(found.change):
        console.print(f"    → {escape(deed(found.change, language))}")


def show_findings(found: Sequence[Finding], console: Console, language: Language = "en") -> None:
    """Findings in order, each with its evidence and its change."""
    from rich.markup import escape

    if not found:
        console.print(f"[green]✓[/] {word('no_findings', language)}")
    for one in found:
        console.print(
            f"{MARKS[one.severity]} [bold]{escape(title(one, language))}[/] "
            f"({word(one.severity, language)}). {escape(reason(one, language))}"
        )
        if str(one.change):
            gain = (
                f" ({word('gain', language)} {one.expected_gain:.0%})" if one.expected_gain else ""
            )
            console.print(f"    → {escape(deed(one.change, language))}{gain}")


def figures_line(summary: Summary, language: Language = "en") -> str:
    """Steps, step time, variation and useful frames in one line."""
    figures = summary.figures
    if figures is None:
        return word("not_measured", language)
    time = f"{1e3 * figures.step_seconds:.1f} ms ± {1e3 * figures.step_std:.1f}"
    if language == "fa":
        time = f"\u2066{time}\u2069"  # its parts keep their order inside right-to-left text
    comma = "، " if language == "fa" else ", "
    parts = (
        f"{word('batch_size', language)} {said(figures.batch_size)}",
        f"{figures.steps} {word('steps', language)}: {time} "
        f"({word('variation', language)} {figures.variation:.1%})",
        f"{figures.steps_per_second:.2f} {word('steps_per_second', language)}",
        f"{figures.useful_frames_per_second:.0f} {word('useful_frames', language)}",
    )
    return comma.join(parts)


def tier_line(tier: Tier, language: Language = "en") -> str:
    """The tier, or why there is none."""
    missing = tier.not_measured and (
        f"{word('not_measured', language)}: {word(tier.not_measured, language)}"
    )
    if tier.reached is None:
        return str(missing)
    reached = word(tier.reached, language)
    return f"{reached} ({missing})" if missing else reached


def device_name(row: GpuFigures, language: Language = "en") -> str:
    """A card by its number and name, and whether it was lost."""
    lost = f" ({word('lost', language)})" if row.lost else ""
    return f"GPU {row.index} {row.name or 'N/A'}{lost}"


def said(value: float | None, unit: str = "", digits: int = 0) -> str:
    """A number with its unit, or N/A."""
    return "N/A" if value is None else f"{value:.{digits}f}{unit}"


def _table(heading: str, columns: Sequence[str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=heading, title_justify="left", box=SIMPLE_HEAD)
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position == 0 else "right")
    return table


def _add(table: Table, *cells: str, style: str | None = None) -> None:
    """A row whose cells are never broken; headings may be."""
    table.add_row(*(cell.replace(" ", "\N{NO-BREAK SPACE}") for cell in cells), style=style)


def _account_table(rows: list[AccountRow], language: Language) -> Table:
    table = _table(word("account", language), ["", word("seconds", language), "%"])
    for row in rows:
        _add(table, word(row.name, language), f"{row.seconds:.2f}", f"{row.percent:.1f}")
    total = sum(row.seconds for row in rows)
    percent = sum(row.percent for row in rows)
    _add(table, word("total", language), f"{total:.2f}", f"{percent:.1f}", style="bold")
    return table


def _stage_table(rows: list[StageRow], language: Language) -> Table:
    columns = [word(name, language) for name in ("stage", "work", "share")]
    table = _table(word("stages", language), columns)
    for row in rows:
        work = f"{1e3 * row.mean:.2f} ms ± {1e3 * row.spread:.2f}"
        _add(table, word(row.name, language), work, f"{row.share:.1%}")
    return table


def _ring_table(rows: list[RingRow], language: Language) -> Table:
    names = ("ring", "depth", "occupancy", "producer_wait", "consumer_wait")
    table = _table(word("rings", language), [word(name, language) for name in names])
    for row in rows:
        waits = f"{row.producer_wait:.2f} s", f"{row.consumer_wait:.2f} s"
        _add(table, row.name, str(row.depth), said(row.occupancy, digits=1), *waits)
    return table


def _gpu_table(rows: list[GpuFigures], language: Language) -> Table:
    names = ("device", "role", "utilization", "memory", "power")
    table = _table(word("devices", language), [word(name, language) for name in names])
    for row in rows:
        _add(
            table,
            device_name(row, language),
            word(row.role, language),
            said(row.utilization, " %"),
            f"{said(row.memory_used_mb)} / {said(row.memory_total_mb)} MB",
            said(row.power_w, " W"),
        )
    return table
