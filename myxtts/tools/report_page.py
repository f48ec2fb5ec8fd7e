"""The parts of an HTML page: shell, style, cards, tables and a stacked bar; plots are `charts`'.

Everything is inside the page (no script, no font, no image from elsewhere), so it opens offline,
in light and dark, and from right to left in Persian. Every text is escaped here. What is on the
page is `report`'s business.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from myxtts.tools import charts
from myxtts.tools.catalogue import Language

COLOURS = ("#c2410c", "#b45309", "#15803d", "#7c3aed", "#0369a1", "#be185d", "#64748b")

_STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --soft: #5b6470; --page: #ffffff;
  --card: #f5f6f8; --line: #d5d9df; --fix: #b42318; --advice: #a15c07; --note: #5b6470;
  --good: #15803d; }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaed; --soft: #a3abb5; --page: #14171a;
  --card: #1e2328; --line: #3a4149; --fix: #ff8a80; --advice: #f6c26b; --note: #a3abb5;
  --good: #7bd88f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 60rem; background: var(--page);
  color: var(--text); font: 16px/1.6 system-ui, "Segoe UI", Tahoma, "Vazirmatn", sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.soft { color: var(--soft); } .card { background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem; padding: .75rem 1rem; margin: .5rem 0; overflow-wrap: anywhere; }
.fix { border-inline-start: .3rem solid var(--fix); } .fix b { color: var(--fix); }
.advice { border-inline-start: .3rem solid var(--advice); } .advice b { color: var(--advice); }
.note { border-inline-start: .3rem solid var(--note); }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: start; }
td { font-variant-numeric: tabular-nums; } th { color: var(--soft); font-weight: 600; }
code { direction: ltr; unicode-bidi: isolate; } code span { white-space: nowrap; }
.bar { display: flex; height: 2rem; border-radius: .4rem; overflow: hidden; margin: .5rem 0; }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; color: var(--soft); font-weight: 600; }
.good { border-inline-start: .3rem solid var(--good); } .good b { color: var(--good); }
.path { overflow-wrap: anywhere; unicode-bidi: isolate; }
@media (max-width: 34rem) { body { padding: .75rem; font-size: 15px; }
  th, td { padding: .25rem .35rem; } }
@media print { :root { --text: #000; --soft: #444; --page: #fff; --card: #f5f6f8; --line: #bbb; }
  body { max-width: none; padding: 0; font-size: 11pt; } h2 { break-after: avoid; }
  .card, tr { break-inside: avoid; } .wide { overflow: visible; }
  .bar, .key { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""


def page(title: str, body: Sequence[str], language: Language) -> str:
    """A whole document."""
    direction = "rtl" if language == "fa" else "ltr"
    return (
        f'<!doctype html>\n<html lang="{language}" dir="{direction}">\n<head>\n'
        '<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{charts.STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )


def heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def subheading(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def path(text: str) -> str:
    """A file's name, which reads from the left and may be long."""
    return f'<p class="soft"><span class="path" dir="ltr">{escape(text)}</span></p>'


def paragraph(text: str, style: str = "soft") -> str:
    return f'<p class="{style}">{escape(text)}</p>'


def card(style: str, title: str, text: str, code: str = "", after: str = "") -> str:
    """A finding: its title, its reason, and the change as code."""
    change = f'<br><code dir="ltr">{_unbroken(code)}</code> {escape(after)}' if code else ""
    return f'<div class="card {style}"><b>{escape(title)}</b> {escape(text)}{change}</div>'


def _unbroken(code: str) -> str:
    """Escaped; a flag is not torn apart after its dashes."""
    words = (escape(word) for word in code.split(" "))
    return " ".join(f"<span>{word}</span>" if word.startswith("--") else word for word in words)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Plain cells; the first column names the row."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row"><bdi>{escape(row[0])}</bdi></th>'
        + "".join(f"<td><bdi>{escape(cell)}</bdi></td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def stacked_bar(parts: Sequence[tuple[str, float, str]], *, listed: bool = True) -> str:
    """(label, percent, amount) as one bar that is 100 % wide, and the table that reads it out."""
    coloured = [(*part, COLOURS[i % len(COLOURS)]) for i, part in enumerate(parts)]
    segments = "".join(
        f'<div style="width:{percent:.1f}%;background:{colour}" '
        f'title="{escape(label)} {percent:.1f} %"></div>'
        for label, percent, _, colour in coloured
        if percent > 0
    )
    rows = "".join(
        f'<tr><th scope="row"><span class="key" style="background:{colour}"></span> '
        f"{escape(label)}</th><td><bdi>{escape(amount)}</bdi></td>"
        f"<td><bdi>{percent:.1f} %</bdi></td></tr>"
        for label, percent, amount, colour in coloured
    )
    described = ", ".join(f"{label} {percent:.1f} %" for label, percent, _ in parts)
    bar = f'<div class="bar" role="img" aria-label="{escape(described)}">{segments}</div>'
    return f'{bar}<div class="wide"><table><tbody>{rows}</tbody></table></div>' if listed else bar
