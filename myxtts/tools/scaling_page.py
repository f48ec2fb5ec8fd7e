"""Batch sizes compared, as text and as a page: throughput and memory against batch size."""

from __future__ import annotations

from myxtts.tools.catalogue import Language
from myxtts.tools.charts import Line, Mark, line_chart
from myxtts.tools.page_words import label
from myxtts.tools.report_page import card, heading, page, paragraph, table
from myxtts.tools.report_text import said
from myxtts.tools.scaling import Scaling, ScalingRow

_WORDS: dict[str, dict[Language, str]] = {
    "title": {"en": "Which batch size?", "fa": "کدام اندازهٔ دسته؟"},
    "batch": {"en": "batch", "fa": "دسته"},
    "step": {"en": "step", "fa": "گام"},
    "per clip": {"en": "per clip", "fa": "برای هر قطعه"},
    "run": {"en": "run", "fa": "اجرا"},
    "still_pays": {
        "en": "best: {best}; it still pays there, and larger ones were not measured",
        "fa": "بهترین: {best}؛ آنجا هنوز می‌ارزد و بزرگ‌تر از آن سنجیده نشد",
    },
    "stops_paying": {
        "en": "best: {best}; beyond {enough} less than 5 % is gained",
        "fa": "بهترین: {best}؛ بیش از {enough} کمتر از ۵٪ سود دارد",
    },
}
COLUMNS = ("batch", "useful_frames", "step", "memory", "per clip", "run")


def render(found: Scaling, language: Language = "en") -> str:
    """The whole page."""
    throughput = [(float(row.batch_size), row.frames_per_second) for row in found.rows]
    memory = [
        (float(row.batch_size), float(row.memory_mb)) for row in found.rows if row.memory_mb
    ]  # fmt: skip
    body = [card("advice", label("virtual_run", language), "")] if found.virtual else []
    body += [
        card("good", verdict(found, language), ""),
        heading(label("useful_frames", language)),
        _chart(throughput, "/s", found, label("useful_frames", language), language),
        heading(label("memory", language)),
        _chart(memory, "MB", found, label("memory", language), language)
        if memory
        else paragraph(label("not_measured", language)),
        heading(_word("batch", language)),
        table(headings(language), [cells(row) for row in found.rows]),
    ]
    return page(f"MyXTTS: {_word('title', language)}", body, language)


def verdict(found: Scaling, language: Language = "en") -> str:
    """One sentence: the best size, and where more stops paying."""
    name = "still_pays" if found.still_pays else "stops_paying"
    return _word(name, language).format(best=found.best, enough=found.enough)


def headings(language: Language = "en") -> list[str]:
    """Of the table's columns."""
    return [_word(name, language) if name in _WORDS else label(name, language) for name in COLUMNS]


def cells(row: ScalingRow) -> tuple[str, ...]:
    """One batch size as texts."""
    return (
        str(row.batch_size),
        f"{row.frames_per_second:.0f}",
        f"{1e3 * row.step_seconds:.1f} ms",
        said(row.memory_mb, " MB"),
        f"{row.efficiency:.0%}",
        row.run,
    )


def words() -> dict[str, dict[Language, str]]:
    """The whole table, for the test that both languages are complete."""
    return _WORDS


def _chart(
    points: list[tuple[float, float]], unit: str, found: Scaling, name: str, language: Language
) -> str:
    first, last = found.rows[0].batch_size, found.rows[-1].batch_size
    enough = Mark(float(found.enough), f"{_word('batch', language)} {found.enough}")
    return line_chart(
        [Line("", points)],
        described=name,
        unit=unit,
        span=(float(first), float(last)),
        x_labels=(f"{_word('batch', language)} {first}", str(last)),
        moments=[enough],
    )


def _word(name: str, language: Language) -> str:
    return _WORDS[name][language]
