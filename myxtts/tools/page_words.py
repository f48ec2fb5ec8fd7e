"""Labels of the report page and of compared runs in English and Persian; more are in `words`."""

from __future__ import annotations

from myxtts.tools.catalogue import Language
from myxtts.tools.words import word

_WORDS: dict[str, dict[Language, str]] = {
    "sure": {"en": "confidence", "fa": "اطمینان"},
    "cost": {"en": "costs at most", "fa": "هزینه، حداکثر"},
    "change_this": {"en": "Change this:", "fa": "این را تغییر دهید:"},
    "timeline": {"en": "Timeline of the stages", "fa": "خط زمانِ مرحله‌ها"},
    "about_timeline": {
        "en": "Steps {first} to {last}, {seconds:.2f} s. Each block is the work on one batch; "
        "blocks above each other were done at the same time. Rest the pointer on one for its step.",
        "fa": "گام‌های {first} تا {last}، {seconds:.2f} ثانیه. هر تکه کار روی یک دسته است؛ "
        "تکه‌های زیر هم، هم‌زمان انجام شده‌اند. برای شمارهٔ گام، نشانگر را روی آن نگه دارید.",
    },
    "waiting": {"en": "waiting", "fa": "انتظار"},
    "filling": {"en": "Filling of the buffers", "fa": "پُریِ بافرها"},
    "about_filling": {
        "en": "Batches ready when training took one. At zero, training waits.",
        "fa": "شمار دسته‌های آماده هنگامی که آموزش یکی برداشت. در صفر، آموزش منتظر است.",
    },
    "ready_batches": {"en": "batches", "fa": "دسته"},
    "distribution": {"en": "Distribution of the step times", "fa": "پراکندگی زمان گام‌ها"},
    "median": {"en": "median", "fa": "میانه"},
    "slow": {"en": "95 % are below", "fa": "۹۵٪ کمتر از"},
    "longest": {"en": "longest", "fa": "بلندترین"},
    "mean": {"en": "mean", "fa": "میانگین"},
    "recommendations": {"en": "Recommendations", "fa": "پیشنهادها"},
    "before_after": {"en": "Before and after", "fa": "پیش و پس"},
    "before": {"en": "before", "fa": "پیش"},
    "after": {"en": "after", "fa": "پس"},
    "changed": {"en": "change", "fa": "تغییر"},
    "memory_used_mb": {"en": "memory", "fa": "حافظه"},
    "power_w": {"en": "power", "fa": "توان"},
    "lost_at": {"en": "GPU {index} lost", "fa": "از دست رفتن GPU {index}"},
    "of_run": {"en": "Run", "fa": "اجرا"},
    "ring host": {"en": "host", "fa": "میزبان"},
    "ring ready": {"en": "ready for training", "fa": "آمادهٔ آموزش"},
    "ring device": {"en": "on the data device", "fa": "روی دستگاه داده"},
    "cut_short": {
        "en": "The recording is not whole: the run goes on, or was cut off.",
        "fa": "ضبط کامل نیست: اجرا ادامه دارد یا بریده شده است.",
    },
    "virtual_run": {
        "en": "Virtual devices: no figure of such a run is a GPU's.",
        "fa": "دستگاه مجازی: هیچ رقمی از چنین اجرایی رقم GPU نیست.",
    },
    "step time": {"en": "step time", "fa": "زمان گام"},
    "steps": {"en": "steps", "fa": "گام"},
    "useful frames": {"en": "useful frames", "fa": "فریم سودمند"},
    "std/mean of the step time": {"en": "std/mean of the step time", "fa": "نوسان زمان گام"},
    "waiting for data": {"en": "waiting for data", "fa": "انتظار برای داده"},
    "data GPU utilisation": {"en": "data GPU utilisation", "fa": "کارکرد GPU داده"},
    "model GPU utilisation": {"en": "model GPU utilisation", "fa": "کارکرد GPU مدل"},
    "total time": {"en": "total time", "fa": "زمان کل"},
    "better": {"en": "better", "fa": "بهتر"},
    "worse": {"en": "worse", "fa": "بدتر"},
    "no clear change": {"en": "no clear change", "fa": "تغییر روشنی نیست"},
    "not measured": {"en": "not measured", "fa": "سنجیده نشد"},
}  # fmt: skip


def label(name: str, language: Language = "en") -> str:
    """A label of this table, or else of `words`."""
    known = _WORDS.get(name)
    return known[language] if known is not None else word(name, language)


def apart(text: str, language: Language) -> str:
    """A number with its unit, whose parts keep their order inside right-to-left text."""
    return f"\u2066{text}\u2069" if language == "fa" else text


def labels() -> dict[str, dict[Language, str]]:
    """The whole table, for the test that both languages are complete."""
    return _WORDS
