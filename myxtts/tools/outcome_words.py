"""The sentences of `outcome` in English and Persian; names in braces are a remark's numbers."""

from __future__ import annotations

from myxtts.tools.catalogue import Language

_HEADINGS: dict[str, dict[Language, str]] = {
    "improved": {"en": "What improved", "fa": "چه چیزی بهتر شد"},
    "time": {"en": "Where the time went", "fa": "زمان کجا رفت"},
    "next": {"en": "What to try next", "fa": "گام بعدی"},
}

_SENTENCES: dict[str, dict[Language, str]] = {
    "no_steps": {
        "en": "No step was trained: the run was already at its end.",
        "fa": "هیچ گامی آموزش داده نشد: اجرا از پیش به پایان رسیده بود.",
    },
    "loss_fell": {
        "en": "The loss fell from {first:.3f} (step {first_step}) to {last:.3f} (step "
        "{last_step}).",
        "fa": "مقدار loss از {first:.3f} (گام {first_step}) به {last:.3f} (گام {last_step}) رسید.",
    },
    "loss_rose": {
        "en": "The loss did not fall: {first:.3f} at step {first_step}, {last:.3f} at step "
        "{last_step}.",
        "fa": "مقدار loss کم نشد: {first:.3f} در گام {first_step} و {last:.3f} در گام {last_step}.",
    },
    "loss_parts": {"en": "In parts: {parts}.", "fa": "جزءبه‌جزء: \u2066{parts}\u2069."},
    "validation_best": {
        "en": "On clips it was not trained on, the best loss was {best:.3f} at step {best_step}; "
        "the last was {last:.3f} at step {last_step}.",
        "fa": "روی قطعه‌هایی که با آن‌ها آموزش ندیده، بهترین loss در گام {best_step} برابر "
        "{best:.3f} بود؛ آخرین مقدار در گام {last_step} برابر {last:.3f} است.",
    },
    "stopped_early": {
        "en": "It stopped early, at step {step}: nothing was better than step {best_step}.",
        "fa": "در گام {step} زودتر ایستاد: هیچ‌چیز از گام {best_step} بهتر نشد.",
    },
    "time": {
        "en": "{training:.0f} % of {minutes:.1f} minutes was training; the largest of the rest was "
        "{account} with {share:.0f} %.",
        "fa": "از {minutes:.1f} دقیقه، {training:.0f}٪ صرف آموزش شد؛ بزرگ‌ترین سهم دیگر {account} "
        "با {share:.0f}٪ است.",
    },
    "bottleneck": {
        "en": "{rule}. Change this first:",
        "fa": "{rule}. نخست این را تغییر دهید:",
    },
    "past_its_best": {
        "en": "It became worse on new sentences after step {step}: it began to learn by heart. "
        "More clips help; or stop in time:",
        "fa": "پس از گام {step} روی جمله‌های تازه بدتر شد: به ازبرکردن افتاد. قطعه‌های بیشتر کمک "
        "می‌کند؛ یا به‌موقع بایستید:",
    },
    "go_on": {
        "en": "The loss was still falling at the end. Train longer:",
        "fa": "مقدار loss در پایان هنوز کم می‌شد. بیشتر آموزش دهید:",
    },
    "hold_out": {
        "en": "Nothing was held out, so nobody knows how it does on new sentences. Next time:",
        "fa": "قطعه‌ای کنار گذاشته نشده بود، پس کسی نمی‌داند با جمله‌های تازه چه می‌کند. بار بعد:",
    },
    "listen": {"en": "Listen to it:", "fa": "به آن گوش دهید:"},
}


def heading(name: str, language: Language) -> str:
    """The heading of a paragraph."""
    return _HEADINGS[name][language]


def sentence(name: str, language: Language) -> str:
    """The template of a remark."""
    return _SENTENCES[name][language]


def names() -> list[str]:
    """Every sentence, for the test that both languages have the same numbers."""
    return list(_SENTENCES)
