"""The acceptance report as one self-contained HTML page: to read, and to send."""

from __future__ import annotations

from myxtts.tools.acceptance import Acceptance, Outcome
from myxtts.tools.acceptance_limits import MemoryEnd, Stability
from myxtts.tools.acceptance_words import label
from myxtts.tools.catalogue import Language
from myxtts.tools.diagnosis_text import environment_lines
from myxtts.tools.environment import Environment
from myxtts.tools.report_page import heading, page, paragraph, path, table
from myxtts.tools.report_text import said, tier_line

COLUMNS = (
    "case",
    "steps",
    "step time",
    "std/mean",
    "useful frames/s",
    "waiting for data",
    "memory",
)


def render(result: Acceptance, machine: Environment, language: Language = "en") -> str:
    """The whole page."""
    missing = [f"{label(what, language)}: {label(why, language)}"
               for what, why in result.not_measured.items()]  # fmt: skip
    body = [paragraph(label("rehearsal", language), "card advice")] if result.virtual else []
    body += [
        heading(label("result", language)),
        table(["", ""], conclusions(result, language)),
        heading(label("cases", language)),
        table(
            [label(name, language) for name in COLUMNS],
            [_row(one, language) for one in result.outcomes],
        ),
        heading(label("missing", language)),
        *map(paragraph, missing or [label("no_findings", language)]),
        heading(label("machine", language)),
        *map(path, environment_lines(machine)),
    ]
    return page(f"MyXTTS: {label('title', language)}", body, language)


def conclusions(result: Acceptance, language: Language = "en") -> list[tuple[str, str]]:
    """(question, answer), for the page and for the terminal."""
    found, unknown = result.scaling, label("not_measured", language)
    answers = {
        "tier": tier_line(result.tier, language),
        "dual": _times(result.dual_speedup, unknown),
        "async": _times(result.async_speedup, unknown),
        "best": str(found.best) if found else unknown,
        "enough": str(found.enough) if found else unknown,
        "limits": unknown
        if result.limits_hold is None
        else label("held" if result.limits_hold else "broken", language),
        "memory_end": _memory(result.memory_end, unknown, language),
        "stability": _stability(result.stability, unknown, language),
    }
    return [(label(name, language), answer) for name, answer in answers.items()]


def _memory(found: MemoryEnd | None, unknown: str, language: Language) -> str:
    if found is None:
        return unknown
    name = "not_reached" if found.ends_at is None else "ends_at" if found.fits else "none_fits"
    return label(name, language).format(fits=found.fits, ends_at=found.ends_at)


def _stability(found: Stability | None, unknown: str, language: Language) -> str:
    if found is None:
        return unknown
    growth = "N/A" if found.memory_growth_mb is None else f"{found.memory_growth_mb:+d} MB"
    return label("steady" if found.stable else "unsteady", language).format(
        variation=found.variation, drift=found.drift, growth=growth
    )


def _row(outcome: Outcome, language: Language) -> tuple[str, ...]:
    figures = outcome.figures
    if figures is None:
        reason = f"{label('not_measured', language)}: {outcome.not_measured}"
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


def _times(ratio: float | None, unknown: str) -> str:
    return unknown if ratio is None else f"{ratio:.2f} ×"
