"""The report of a run as one self-contained HTML page, in English or Persian.

It lays out a `Summary` and computes nothing. What is drawn is `report_charts`', two runs side by
side are `report_compare`'s, the parts of the page are `report_page`'s, the judgement is `verdict`'s
and `findings`'.
"""

from __future__ import annotations

from typing import Any

from myxtts.tools.catalogue import Language, deed, reason, title
from myxtts.tools.findings import Change, Finding
from myxtts.tools.page_words import label
from myxtts.tools.report_charts import devices, rings, step_times, timeline
from myxtts.tools.report_compare import BeforeAfter, section
from myxtts.tools.report_page import (
    card,
    heading,
    page,
    paragraph,
    path,
    stacked_bar,
    table,
)
from myxtts.tools.report_text import figures_line, tier_line
from myxtts.tools.summary import Summary
from myxtts.tools.words import word


def render(summary: Summary, language: Language = "en", compared: BeforeAfter | None = None) -> str:
    """The whole page; `compared` adds the run before."""
    body = [path(str(summary.session.path)), *sections(summary, language)]
    if compared is not None:
        body += section(compared, summary, language)
    return page(f"MyXTTS: {word('report_title', language)}", body, language)


def sections(summary: Summary, language: Language = "en") -> list[str]:
    """The parts of the page, for pages that show more than a run."""
    parts = (
        _verdict,
        _account,
        _findings,
        timeline,
        _stages,
        step_times,
        rings,
        devices,
        _incidents,
        _machine,
    )
    return [part for section in parts for part in section(summary, language)]


def _verdict(summary: Summary, language: Language) -> list[str]:
    notes = []
    if summary.virtual:
        notes.append(card("advice", word("rehearsal", language), ""))
    if not summary.session.complete:
        notes.append(card("note", label("cut_short", language), ""))
    tier = f"{word('tier', language)}: {tier_line(summary.tier, language)}"
    return [
        *notes,
        heading(word("verdict", language)),
        _verdict_card(summary, language),
        paragraph(figures_line(summary, language)),
        paragraph(tier),
    ]


def _verdict_card(summary: Summary, language: Language) -> str:
    found = summary.as_json(language).get("verdict")
    worst = summary.worst
    if found is not None:
        return _judged(found, language)
    if summary.figures is None:
        return card("note", word("not_measured", language), "")
    return (
        card("good", word("healthy", language), "") if worst is None else _finding(worst, language)
    )


def _judged(found: dict[str, Any], language: Language) -> str:
    """A verdict with its confidence, what it means and the exact change."""
    sure = f"({label('sure', language)} {found['confidence']:.0%})"
    lost = f" ({label('cost', language)} {found['lost']:.0%})" if not found["healthy"] else ""
    means = f"{found['looks']} {found['why']} {found['remedy']}"
    change = deed(Change(found["change"]["settings"], found["change"]["command"]), language)
    style = "good" if found["healthy"] else "fix"
    return card(style, f"{found['title']} {sure}.", means, change, lost)


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
    return [heading(label("recommendations", language)), *(found or none)]


def _finding(finding: Finding, language: Language) -> str:
    gain = (
        f"({word('gain', language)} {finding.expected_gain:.0%})" if finding.expected_gain else ""
    )
    name = f"{word(finding.severity, language)}: {title(finding, language)}."
    return card(
        finding.severity, name, reason(finding, language), deed(finding.change, language), gain
    )


def _machine(summary: Summary, language: Language) -> list[str]:
    header = summary.session.header
    facts = dict(header.get("machine", {})) | {
        name: version for name, version in header.get("versions", {}).items() if name != "python"
    }
    text = ", ".join(f"{name} {value}" for name, value in facts.items())
    return [heading(word("machine", language)), f'<div dir="ltr">{paragraph(text)}</div>']
