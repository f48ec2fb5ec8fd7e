"""Charts for an HTML page: lines, bars and lanes of time, as SVG between labels of plain HTML.

Only the picture is stretched with the window; labels keep their size, so a chart can be read on a
phone and on paper. Time runs from left to right in every language. What rests under the pointer is
named. What is drawn, and every number, comes from the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 1000, 100
COLOURS = 6
"""Lines that can be told apart; the style sheet has their colours for light and dark."""

STYLE = """
:root { --c0: #0369a1; --c1: #c2410c; --c2: #15803d; --c3: #7c3aed; --c4: #be185d; --c5: #64748b; }
@media (prefers-color-scheme: dark) { :root { --c0: #5bb6f0; --c1: #f59e6b; --c2: #6fcf8b;
  --c3: #b79cf7; --c4: #f28cb8; --c5: #a3abb5; } }
.chart { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .15rem .5rem; margin: 0;
  direction: ltr; break-inside: avoid; }
.chart svg { display: block; width: 100%; height: 9rem; overflow: hidden;
  border-bottom: 1px solid var(--line); border-inline-start: 1px solid var(--line); }
.chart .y { display: flex; flex-direction: column; justify-content: space-between;
  text-align: right; } .chart .x { grid-column: 2; display: flex; gap: 1rem;
  justify-content: space-between; } .chart .y, .chart .x, .chart figcaption { color: var(--soft);
  font-size: .8rem; line-height: 1.3; } .chart figcaption { grid-column: 1 / -1; display: flex;
  flex-wrap: wrap; gap: .2rem 1rem; } .chart figcaption span { unicode-bidi: isolate; }
.chart .line { fill: none; stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.chart .mark { stroke: var(--text); stroke-dasharray: 4 3; vector-effect: non-scaling-stroke; }
.lanes svg { height: 1.4rem; border-bottom: 0; background: var(--card); }
.lanes .name { font-size: .8rem; color: var(--soft); align-self: center; max-width: 7rem;
  overflow-wrap: anywhere; line-height: 1.2; }
@media print { .chart svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A line and its name in the legend."""

    name: str
    points: Sequence[Point]
    colour: int = 0
    """A number; the same thing has the same colour on every chart."""


@dataclass(frozen=True)
class Mark:
    """A dashed line at a moment or a value, named in the legend."""

    at: float
    name: str


@dataclass(frozen=True)
class Block:
    """A piece of work in a lane, named when the pointer rests on it."""

    begin: float
    end: float
    title: str


def line_chart(
    lines: Sequence[Line],
    *,
    described: str,
    unit: str,
    x_labels: tuple[str, str],
    span: tuple[float, float] | None = None,
    highest: float | None = None,
    level: Mark | None = None,
    moments: Sequence[Mark] = (),
) -> str:
    """Lines over the same axis, from zero; each needs a point, a nameless one is not listed."""
    xs = [x for line in lines for x, _ in line.points] + [mark.at for mark in moments]
    top = (highest or 1.05 * max(y for line in lines for _, y in line.points)) or 1.0
    first, last = span or (min(xs), max(xs))

    def across(x: float) -> float:
        return (x - first) / ((last - first) or 1.0) * WIDTH

    drawn = [
        f'<polyline class="line" stroke="{_colour(line.colour)}" points="'
        + " ".join(f"{across(x):.1f},{_down(y, top):.1f}" for x, y in _stretched(line.points, last))
        + f'"><title>{escape(line.name or described)}</title></polyline>'
        for line in lines
    ]
    drawn += [_upright(across(mark.at), mark.name) for mark in moments]
    legend = [(_colour(line.colour), line.name) for line in lines if line.name]
    legend += [("┆", mark.name) for mark in moments]
    if level is not None:
        y = f"{_down(level.at, top):.1f}"
        drawn.append(f'<line class="mark" x1="0" x2="{WIDTH}" y1="{y}" y2="{y}"/>')
        legend.append(("┄", level.name))
    return _figure(described, "".join(drawn), f"{_short(top)} {unit}", x_labels, legend)


def histogram(
    counts: Sequence[int],
    titles: Sequence[str],
    *,
    described: str,
    x_labels: tuple[str, str],
    marks: Sequence[tuple[float, str]],
) -> str:
    """Bars of equal width; `marks` stand at a share (0–1) of the axis."""
    top, step = max(counts) or 1, WIDTH / len(counts)
    drawn = [
        f'<rect x="{number * step + 1:.1f}" y="{_down(count, top):.1f}" width="{step - 2:.1f}" '
        f'height="{HEIGHT - _down(count, top):.1f}" fill="{_colour(0)}">'
        f"<title>{escape(title)}</title></rect>"
        for number, (count, title) in enumerate(zip(counts, titles, strict=True))
        if count
    ]
    drawn += [_upright(at * WIDTH, name) for at, name in marks]
    legend = [("┆", name) for _, name in marks]
    return _figure(described, "".join(drawn), str(top), x_labels, legend)


def lanes(
    rows: Sequence[tuple[str, str, Sequence[Block]]],
    *,
    described: str,
    length: float,
    x_labels: tuple[str, str],
) -> str:
    """(name, colour, blocks) in rows under each other, all on one scale of `length`."""
    strips = "".join(
        f'<span class="name" dir="auto">{escape(name)}</span>'
        f'<svg viewBox="0 0 {WIDTH} 10" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(name)}">{_blocks(blocks, colour, length)}</svg>'
        for name, colour, blocks in rows
    )
    ends = "".join(f'<span dir="auto">{escape(label)}</span>' for label in x_labels)
    return (
        f'<figure class="chart lanes" role="group" aria-label="{escape(described)}">{strips}'
        f'<div class="x">{ends}</div></figure>'
    )


def _blocks(blocks: Sequence[Block], colour: str, length: float) -> str:
    """Neighbours are told apart by their opacity."""
    return "".join(
        f'<rect x="{block.begin / length * WIDTH:.2f}" y="0" height="10" fill="{colour}" '
        f'width="{max(0.6, (block.end - block.begin) / length * WIDTH):.2f}" '
        f'opacity="{0.95 if number % 2 else 0.65}"><title>{escape(block.title)}</title></rect>'
        for number, block in enumerate(blocks)
    )


def _figure(
    described: str,
    drawn: str,
    top: str,
    x_labels: tuple[str, str],
    legend: Sequence[tuple[str, str]],
) -> str:
    keys = "".join(f"<span>{_key(sign)} <bdi>{escape(name)}</bdi></span>" for sign, name in legend)
    caption = f"<figcaption>{keys}</figcaption>" if keys else ""
    ends = "".join(f'<span dir="auto">{escape(label)}</span>' for label in x_labels)
    return (
        f'<figure class="chart"><div class="y"><span dir="auto">{escape(top)}</span>'
        "<span>0</span></div>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(described)}">{drawn}</svg>'
        f'<div class="x">{ends}</div>{caption}</figure>'
    )


def _key(sign: str) -> str:
    """A coloured square, or the dashes that the mark is drawn with."""
    return f'<span class="key" style="background:{sign}"></span>' if len(sign) > 1 else sign


def _upright(x: float, name: str) -> str:
    at = f"{min(max(x, 0.0), WIDTH):.1f}"
    return (
        f'<line class="mark" x1="{at}" x2="{at}" y1="0" y2="{HEIGHT}">'
        f"<title>{escape(name)}</title></line>"
    )


def _stretched(points: Sequence[Point], last: float) -> Sequence[Point]:
    """A single reading is a level line."""
    return [*points, (last, points[0][1])] if len(points) == 1 else points


def _down(value: float, top: float) -> float:
    return HEIGHT - min(value, top) / top * HEIGHT


def _colour(number: int) -> str:
    return f"var(--c{number % COLOURS})"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 10 or value.is_integer() else f"{value:.1f}"
