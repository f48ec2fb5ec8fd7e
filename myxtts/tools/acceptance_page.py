"""The acceptance report as one self-contained HTML page: to read, and to send."""

from __future__ import annotations

from myxtts.tools.acceptance import NOT_TRIED, Acceptance, Outcome
from myxtts.tools.diagnosis_text import environment_lines
from myxtts.tools.environment import Environment
from myxtts.tools.report_page import heading, page, paragraph, table
from myxtts.tools.report_text import said, tier_line
from myxtts.tools.words import word


def render(result: Acceptance, machine: Environment) -> str:
    """The whole page."""
    body = [paragraph(word("rehearsal"), "card advice")] if result.virtual else []
    body += [
        heading("Result"),
        table(["", ""], [(name, value) for name, value in conclusions(result)]),
        heading("Cases"),
        table(
            ["case", "steps", "step time", "std/mean", "useful frames/s", "waiting", "memory"],
            [_row(one) for one in result.outcomes],
        ),
        heading("Not measured"),
        paragraph("; ".join(NOT_TRIED)),
        heading("Machine"),
        *map(paragraph, environment_lines(machine)),
    ]
    return page("MyXTTS: acceptance run", body, "en")


def conclusions(result: Acceptance) -> list[tuple[str, str]]:
    """(question, answer), for the page and for the terminal."""
    found = result.scaling
    return [
        ("tier", tier_line(result.tier)),
        ("two devices against one", _times(result.dual_speedup)),
        ("asynchronous against synchronous", _times(result.async_speedup)),
        ("best batch size", str(found.best) if found else word("not_measured")),
        ("batch size that is enough", str(found.enough) if found else word("not_measured")),
    ]


def _row(outcome: Outcome) -> tuple[str, ...]:
    figures = outcome.figures
    if figures is None:
        reason = f"{word('not_measured')}: {outcome.not_measured}"
        return (outcome.name, "", reason, "", "", "", "")
    return (
        outcome.name,
        str(figures.steps),
        f"{1e3 * figures.step_seconds:.1f} ms ± {1e3 * figures.step_std:.1f}",
        f"{figures.variation:.1%}",
        said(figures.useful_frames_per_second),
        "N/A" if figures.wait_share is None else f"{figures.wait_share:.1%}",
        said(figures.memory_mb, " MB"),
    )


def _times(ratio: float | None) -> str:
    return word("not_measured") if ratio is None else f"{ratio:.2f} ×"
