"""The report of a run as one self-contained HTML page, in English or Persian.

It lays out a `Summary`; the parts of the page are `report_page`'s, the judgement is `findings`'.
"""

from __future__ import annotations

from myxtts.telemetry.session import Session
from myxtts.tools.catalogue import Language, reason, title
from myxtts.tools.findings import Finding
from myxtts.tools.report_page import (
    card,
    heading,
    line_plot,
    page,
    paragraph,
    stacked_bar,
    table,
)
from myxtts.tools.report_text import device_name, figures_line, said, tier_line
from myxtts.tools.summary import Summary
from myxtts.tools.words import word

MOST_POINTS = 800
"""More would not be seen, and would make the page heavy."""


def render(summary: Summary, language: Language = "en") -> str:
    """The whole page."""
    return page(f"MyXTTS: {word('report_title', language)}", sections(summary, language), language)


def sections(summary: Summary, language: Language = "en") -> list[str]:
    """The parts of the page, for pages that show more than a run."""
    parts = (
        _verdict,
        _account,
        _stages,
        _step_times,
        _rings,
        _devices,
        _incidents,
        _findings,
        _machine,
    )
    return [part for section in parts for part in section(summary, language)]


def _verdict(summary: Summary, language: Language) -> list[str]:
    rehearsal = [paragraph(word("rehearsal", language), "card advice")] if summary.virtual else []
    worst = summary.worst
    if summary.figures is None:
        verdict = card("note", word("not_measured", language), "")
    elif worst is None:
        verdict = card("note", word("healthy", language), "")
    else:
        verdict = _finding(worst, language)
    tier = f"{word('tier', language)}: {tier_line(summary.tier, language)}"
    return [
        *rehearsal,
        heading(word("verdict", language)),
        verdict,
        paragraph(figures_line(summary, language)),
        paragraph(tier),
    ]


def _account(summary: Summary, language: Language) -> list[str]:
    if not summary.account:
        return [heading(word("account", language)), paragraph(word("not_measured", language))]
    parts = [
        (word(row.name, language), row.percent, f"{row.seconds:.2f} s") for row in summary.account
    ]
    return [heading(word("account", language)), stacked_bar(parts)]


def _stages(summary: Summary, language: Language) -> list[str]:
    rows = [
        (
            word(row.name, language),
            f"{1e3 * row.mean:.2f} ms ± {1e3 * row.spread:.2f}",
            f"{row.share:.1%}",
        )
        for row in summary.stages
    ]
    columns = [word(name, language) for name in ("stage", "work", "share")]
    return [
        heading(word("stages", language)),
        table(columns, rows) if rows else paragraph(word("not_measured", language)),
    ]


def _step_times(summary: Summary, language: Language) -> list[str]:
    points = _thinned(summary.session)
    if summary.figures is None or len(points) < 2:
        return []
    mean = 1e3 * summary.figures.step_seconds
    plot = line_plot(points, mean, word("step", language), "ms")
    return [heading(word("step_times", language)), plot]


def _rings(summary: Summary, language: Language) -> list[str]:
    if not summary.rings:
        return []
    names = ("ring", "depth", "occupancy", "producer_wait", "consumer_wait")
    rows = [
        (
            row.name,
            str(row.depth),
            said(row.occupancy, digits=1),
            f"{row.producer_wait:.2f} s",
            f"{row.consumer_wait:.2f} s",
        )
        for row in summary.rings
    ]
    return [heading(word("rings", language)), table([word(n, language) for n in names], rows)]


def _devices(summary: Summary, language: Language) -> list[str]:
    if not summary.gpus:
        text = f"GPU: {word('not_measured', language)}"
        return [heading(word("devices", language)), paragraph(text)]
    names = ("device", "role", "utilization", "memory", "power")
    rows = [
        (
            device_name(row, language),
            word(row.role, language),
            said(row.utilization, " %"),
            f"{said(row.memory_used_mb)} / {said(row.memory_total_mb)} MB",
            said(row.power_w, " W"),
        )
        for row in summary.gpus
    ]
    return [heading(word("devices", language)), table([word(n, language) for n in names], rows)]


def _incidents(summary: Summary, language: Language) -> list[str]:
    if not summary.incidents:
        return []
    told = [
        card("note" if one.good else "advice", one.said(language), "") for one in summary.incidents
    ]
    return [heading(word("incidents", language)), *told]


def _findings(summary: Summary, language: Language) -> list[str]:
    found = [_finding(one, language) for one in summary.findings]
    none = [paragraph(word("no_findings", language))]
    return [heading(word("findings", language)), *(found or none)]


def _finding(finding: Finding, language: Language) -> str:
    gain = (
        f"({word('gain', language)} {finding.expected_gain:.0%})" if finding.expected_gain else ""
    )
    name = f"{word(finding.severity, language)}: {title(finding, language)}."
    return card(finding.severity, name, reason(finding, language), str(finding.change), gain)


def _machine(summary: Summary, language: Language) -> list[str]:
    header = summary.session.header
    facts = dict(header.get("machine", {})) | {
        name: version for name, version in header.get("versions", {}).items() if name != "python"
    }
    text = ", ".join(f"{name} {value}" for name, value in facts.items())
    return [heading(word("machine", language)), f'<div dir="ltr">{paragraph(text)}</div>']


def _thinned(session: Session) -> list[tuple[float, float]]:
    """(step, ms) of the steady steps; of each group of a long run the slowest, which matters."""
    points = [(float(step.step), 1e3 * step.seconds) for step in session.steady_steps]
    size = -(-len(points) // MOST_POINTS) or 1
    groups = [points[i : i + size] for i in range(0, len(points), size)]
    return [max(group, key=lambda point: point[1]) for group in groups]
