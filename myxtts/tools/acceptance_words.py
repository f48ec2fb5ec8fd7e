"""Labels of the acceptance run in English and Persian; more are in `words` and `page_words`."""

from __future__ import annotations

from myxtts.tools.catalogue import Language
from myxtts.tools.page_words import label as page_label

_WORDS: dict[str, dict[Language, str]] = {
    "title": {"en": "acceptance run", "fa": "اجرای پذیرش"},
    "result": {"en": "Result", "fa": "نتیجه"},
    "cases": {"en": "Cases", "fa": "حالت‌ها"},
    "missing": {"en": "Not measured", "fa": "سنجیده‌نشده‌ها"},
    "case": {"en": "case", "fa": "حالت"},
    "std/mean": {"en": "std/mean", "fa": "نوسان"},
    "useful frames/s": {"en": "useful frames/s", "fa": "فریم سودمند در ثانیه"},
    "tier": {"en": "tier", "fa": "رده"},
    "dual": {"en": "two devices against one", "fa": "دو دستگاه در برابر یکی"},
    "async": {"en": "asynchronous against synchronous", "fa": "ناهمگام در برابر همگام"},
    "best": {"en": "best batch size", "fa": "بهترین اندازهٔ دسته"},
    "enough": {"en": "batch size that is enough", "fa": "اندازهٔ دسته‌ای که بس است"},
    "limits": {"en": "memory limits", "fa": "حدهای حافظه"},
    "memory_end": {"en": "the batch where memory ends", "fa": "دسته‌ای که حافظه در آن تمام می‌شود"},
    "stability": {"en": "stability over a longer run", "fa": "پایداری در اجرای بلندتر"},
    "held": {"en": "hold under load", "fa": "زیر بار برقرارند"},
    "broken": {"en": "do NOT hold under load", "fa": "زیر بار برقرار نیستند"},
    "ends_at": {"en": "{fits} fits, {ends_at} does not", "fa": "{fits} جا می‌شود، {ends_at} نه"},
    "not_reached": {"en": "not reached: {fits} fits", "fa": "نرسید: {fits} جا می‌شود"},
    "none_fits": {"en": "{ends_at} does not fit", "fa": "{ends_at} جا نمی‌شود"},
    "steady": {
        "en": "stable: variation {variation:.1%}, drift {drift:+.1%}, memory {growth}",
        "fa": "پایدار: نوسان {variation:.1%}، رانش {drift:+.1%}، حافظه {growth}",
    },
    "unsteady": {
        "en": "NOT stable: variation {variation:.1%}, drift {drift:+.1%}, memory {growth}",
        "fa": "ناپایدار: نوسان {variation:.1%}، رانش {drift:+.1%}، حافظه {growth}",
    },
    "shared_memory": {
        "en": "virtual devices share the host's memory",
        "fa": "دستگاه‌های مجازی حافظهٔ میزبان را شریک‌اند",
    },
    "left_out": {
        "en": "left out (--stability-steps 0)", "fa": "کنار گذاشته شد (--stability-steps 0)"
    },
    "failed": {"en": "the run failed", "fa": "اجرا ناموفق بود"},
}  # fmt: skip


def label(name: str, language: Language = "en") -> str:
    """A label of this table, or else of the report page."""
    known = _WORDS.get(name)
    return known[language] if known is not None else page_label(name, language)


def labels() -> dict[str, dict[Language, str]]:
    """The whole table, for the test that both languages are complete."""
    return _WORDS
