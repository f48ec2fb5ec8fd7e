"""A `CorpusCheck` as lines for a terminal, as a document and as a picture. Computes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myxtts.errors import UsageError
from myxtts.files import write_atomically
from myxtts.tools.drawing import Box, Drawing, Label, to_png, to_svg

if TYPE_CHECKING:
    from myxtts.data.corpus_check import CorpusCheck, Histogram, Share
    from myxtts.data.corpus_rules import Problem

MARKS = {"lost": "✗", "harmed": "✗", "advice": "•"}
PLOT_FORMATS = {".svg": to_svg, ".png": to_png}

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR = 40  # characters of the longest bar
_MOST_NAMES = 10
_LONGEST_NAME = 16
_ZERO_WIDTH_NON_JOINER = "\u200c"


def lines(check: CorpusCheck, most_problems: int | None = None) -> Iterator[str]:
    """The report; `most_problems` of a kind are listed, the others counted."""
    yield f"{printable(str(check.folder))}: {check.form}, {headline(check)}"
    yield from _shares("speakers", check.speakers)
    yield from _shares("languages", check.languages)
    if check.beyond_largest_shape:
        yield f"longer than the largest shape: {check.beyond_largest_shape} clips"
    for unit, bars in (("seconds", check.seconds), ("tokens", check.tokens)):
        yield ""
        yield from histogram_lines(unit, bars)
    yield ""
    yield from _problems(check, most_problems)


def headline(check: CorpusCheck) -> str:
    """How much there is."""
    lost = f", {check.lost} of them lost" if check.lost else ""
    voices = f"{len(check.speakers):,} speaker{'' if len(check.speakers) == 1 else 's'}"
    return f"{check.clips:,} clips{lost}, {check.hours:.2f} hours, {voices}"


def document(check: CorpusCheck) -> dict[str, Any]:
    """Everything, for JSON."""

    def shares(all_: Sequence[Share]) -> list[dict[str, Any]]:
        return [{"name": s.name, "clips": s.clips, "hours": round(s.hours, 4)} for s in all_]

    def bars(histogram: Histogram) -> dict[str, Any]:
        return {"edges": histogram.edges, "counts": histogram.counts}

    return {
        "folder": str(check.folder),
        "form": check.form,
        "good": check.good,
        "clips": check.clips,
        "lost": check.lost,
        "hours": round(check.hours, 4),
        "speakers": shares(check.speakers),
        "languages": shares(check.languages),
        "beyond_largest_shape": check.beyond_largest_shape,
        "tokens": bars(check.tokens),
        "seconds": bars(check.seconds),
        "unknown_characters": check.unknown_characters,
        "problems": [
            {
                "kind": problem.kind,
                "effect": problem.effect,
                "file": str(problem.file),
                "line": problem.line,
                "clip": problem.clip,
                "detail": problem.detail,
            }
            for problem in check.problems
        ],
    }


def histogram_lines(unit: str, bars: Histogram) -> Iterator[str]:
    """Horizontal bars of block characters, to an eighth of a character."""
    ranges = [f"{low:g}–{high:g}" for low, high in zip(bars.edges, bars.edges[1:], strict=False)]
    width = max(map(len, [unit, *ranges]))
    yield f"{unit:>{width}}  clips"
    for label, count in zip(ranges, bars.counts, strict=True):
        whole, rest = divmod(round(count / max(bars.counts) * _BAR * 8), 8)
        bar = ("█" * whole + _EIGHTHS[rest]).strip() or ("▏" if count else "")
        yield f"{label:>{width}}  {bar + ' ' if bar else ''}{count:,}"


def check_plot_name(path: Path) -> None:
    """Before minutes of work: can this picture be written at all?"""
    if path.suffix.lower() not in PLOT_FORMATS:
        raise UsageError(
            "a plot is an SVG or a PNG file",
            received=path.name,
            remedy=f"--plot {path.with_suffix('.svg').name}",
        )


def write_plot(check: CorpusCheck, path: Path) -> None:
    """Both histograms as a picture."""
    check_plot_name(path)
    write_atomically(path, PLOT_FORMATS[path.suffix.lower()](plot(check)))


def plot(check: CorpusCheck) -> Drawing:
    """Two panels, one above the other."""
    boxes: list[Box] = []
    labels = [Label(16, 24, headline(check))]
    for top, unit, bars in ((56, "seconds", check.seconds), (316, "tokens", check.tokens)):
        _panel(top, unit, bars, boxes, labels)
    return Drawing(800, 560, f"Lengths of {headline(check)}", boxes, labels)


def _panel(top: int, unit: str, bars: Histogram, boxes: list[Box], labels: list[Label]) -> None:
    left, width, height = 72, 712, 190
    base = top + height
    boxes.append(Box(left, base, width, 1, "axis"))
    labels.append(Label(left, base + 38, unit))
    if not bars.counts:
        return
    highest, step = max(bars.counts), width / len(bars.counts)
    labels += [Label(left - 8, base, "0", "end"), Label(left - 8, top + 5, f"{highest:,}", "end")]
    labels.append(Label(left - 8, top + 22, "clips", "end"))
    for number, count in enumerate(bars.counts):
        tall = count / highest * height
        low, high = bars.edges[number : number + 2]
        words = f"{low:g}–{high:g} {unit}: {count:,} clips"
        boxes.append(Box(left + number * step + 1, base - tall, step - 2, tall, "bar", words))
    for number in range(0, len(bars.edges), 2 if len(bars.edges) > 12 else 1):
        labels.append(Label(left + number * step, base + 18, f"{bars.edges[number]:g}", "middle"))


def _shares(what: str, shares: Sequence[Share]) -> Iterator[str]:
    named = [
        f"{shortened(share.name)} {share.hours:.2f} h ({share.clips:,})"
        for share in shares[:_MOST_NAMES]
    ]
    more = f", and {len(shares) - _MOST_NAMES:,} more" if len(shares) > _MOST_NAMES else ""
    yield f"{what}: {', '.join(named) or 'none'}{more}"


def _problems(check: CorpusCheck, most: int | None) -> Iterator[str]:
    if not check.problems:
        yield "✓ nothing is wrong"
        return
    shown: Counter[str] = Counter()
    for problem in check.problems:
        shown[problem.kind] += 1
        if most is None or shown[problem.kind] <= most:
            yield _problem(problem)
    kinds = Counter((problem.kind, problem.effect) for problem in check.problems)
    yield ""
    for (kind, effect), count in kinds.most_common():
        yield f"{MARKS[effect]} {kind}: {count:,} ({effect})"
    if most is not None and any(count > most for count in shown.values()):
        yield f"the first {most} of each kind are listed; for all of them: --all or --json"
    if check.good:
        yield "✓ no clip is lost or harmed"


def _problem(problem: Problem) -> str:
    clip = f"{problem.clip}: " if problem.clip else ""
    place = f"{problem.file}:{problem.line}"
    return printable(f"{MARKS[problem.effect]} {place}: {problem.kind}: {clip}{problem.detail}")


def shortened(name: str) -> str:
    """Common Voice names its speakers by 128 hexadecimal digits."""
    name = printable(name)
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def printable(text: str) -> str:
    """Names and texts come from the corpus: none of them may steer the terminal."""
    return "".join(
        c if c.isprintable() or c == _ZERO_WIDTH_NON_JOINER else "\N{REPLACEMENT CHARACTER}"
        for c in text
    )
