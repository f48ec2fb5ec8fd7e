"""What each of the doctor's checks is called and why it matters, in English and Persian."""

from __future__ import annotations

from myxtts.tools.catalogue import Language

# check -> language -> (label, what it means)
_WORDS: dict[str, dict[Language, tuple[str, str]]] = {
    "python": {
        "en": ("Python", "MyXTTS needs 3.11 or newer."),
        "fa": ("پایتون", "MyXTTS به نسخهٔ 3.11 یا تازه‌تر نیاز دارد."),
    },
    "libraries": {
        "en": ("libraries", "Reading audio, text and configurations needs all of them."),
        "fa": ("کتابخانه‌ها", "خواندن صدا و متن و پیکربندی به همهٔ آن‌ها نیاز دارد."),
    },
    "tensorflow": {
        "en": ("TensorFlow", "Nothing is trained or spoken without it."),
        "fa": ("TensorFlow", "بدون آن نه آموزشی ممکن است و نه گفتاری."),
    },
    "gpus_seen": {
        "en": ("GPUs that TensorFlow sees", "What it does not see stands idle."),
        "fa": ("GPUهایی که TensorFlow می‌بیند", "آنچه نبیند بیکار می‌ماند."),
    },
    "driver": {
        "en": ("NVIDIA driver and GPUs", "Without it training runs on the CPU, slowly."),
        "fa": ("درایور NVIDIA و GPUها", "بدون آن آموزش روی CPU و کند انجام می‌شود."),
    },
    "espeak": {
        "en": ("espeak-ng", "Phonemes and the demo corpus come from it."),
        "fa": ("espeak-ng", "واج‌ها و پیکرهٔ نمایشی از آن می‌آید."),
    },
    "machine": {
        "en": ("cores and memory", "Loading and training share them."),
        "fa": ("هسته‌ها و حافظه", "بارگذاری و آموزش از آن‌ها مشترک استفاده می‌کنند."),
    },
    "configuration": {
        "en": ("configuration", "Where every setting is written down."),
        "fa": ("پیکربندی", "جایی که همهٔ تنظیم‌ها نوشته می‌شود."),
    },
    "corpus": {
        "en": ("corpus", "What the model learns from."),
        "fa": ("پیکره", "آنچه مدل از آن می‌آموزد."),
    },
    "runs_disk": {
        "en": ("disk of the runs", "Checkpoints and recordings are written there."),
        "fa": ("دیسکِ اجراها", "وضعیت‌ها و ضبط‌ها آنجا نوشته می‌شود."),
    },
    "cache_disk": {
        "en": ("disk of the prepared corpus", "Every batch is read from there."),
        "fa": ("دیسکِ پیکرهٔ آماده", "هر دسته از آنجا خوانده می‌شود."),
    },
}

VERDICT: dict[bool, dict[Language, str]] = {
    True: {"en": "This installation is ready.", "fa": "این نصب آماده است."},
    False: {"en": "Something must be put right (✗).", "fa": "چیزی باید درست شود (✗)."},
}


def label(name: str, language: Language = "en") -> str:
    """What a check is called."""
    return _WORDS[name][language][0]


def meaning(name: str, language: Language = "en") -> str:
    """Why it matters."""
    return _WORDS[name][language][1]


def words() -> dict[str, dict[Language, tuple[str, str]]]:
    """The whole table, for the test that both languages are complete."""
    return _WORDS
