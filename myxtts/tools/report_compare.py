"""Two recorded runs on one page: the figures side by side, and where the time of both went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from myxtts.tools.catalogue import Language
from myxtts.tools.compare import ComparedRow, compare
from myxtts.tools.page_words import label
from myxtts.tools.report_page import heading, paragraph, path, stacked_bar, subheading, table
from myxtts.tools.summary import Summary


@dataclass(frozen=True)
class BeforeAfter:
    """A run, and the one it is held against."""

    before: Summary
    rows: list[ComparedRow]
    """Empty: one of the two has no steady step, so its rates are not measured."""

    def as_json(self, language: Language = "en") -> dict[str, Any]:
        """Plain data, for `--json`."""
        return {
            "before": self.before.as_json(language),
            "compared": [row.as_json() for row in self.rows],
        }


def before_after(before: Summary, after: Summary) -> BeforeAfter:
    """Hold `after` against `before`."""
    measured = before.figures is not None and after.figures is not None
    rows = compare(before.figures, after.figures) if measured else []  # type: ignore[arg-type]
    return BeforeAfter(before, rows)


def section(pair: BeforeAfter, after: Summary, language: Language) -> list[str]:
    """The part of the page."""
    parts = [heading(label("before_after", language)), path(str(pair.before.session.path))]
    if pair.before.virtual != after.virtual:
        parts.append(paragraph(label("virtual_run", language)))
    parts.append(
        table(
            ["", *(label(name, language) for name in ("before", "after", "changed")), ""],
            compared_rows(pair.rows, language),
        )
        if pair.rows
        else paragraph(label("not_measured", language))
    )
    for name, summary in (("before", pair.before), ("after", after)):
        if summary.account:
            bars = [
                (label(row.name, language), row.percent, f"{row.seconds:.2f} s")
                for row in summary.account
            ]
            parts += [subheading(label(name, language)), stacked_bar(bars, listed=False)]
    return parts


def compared_rows(rows: list[ComparedRow], language: Language) -> list[tuple[str, ...]]:
    """Name, before, after, change and verdict of each figure, as texts."""
    return [
        (
            label(row.name, language),
            row.shown(row.a),
            row.shown(row.b),
            row.shown_change,
            label(row.verdict, language),
        )
        for row in rows
    ]
