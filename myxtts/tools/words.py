"""Labels of tables and pages in English and Persian; sentences of findings are in `catalogue`."""

from __future__ import annotations

from myxtts.tools.catalogue import Language

_WORDS: dict[str, dict[Language, str]] = {
    "data_wait": {"en": "waiting for data", "fa": "انتظار برای داده"},
    "transfer": {"en": "transfer", "fa": "انتقال"},
    "training": {"en": "training", "fa": "آموزش"},
    "compiling": {"en": "compiling", "fa": "کامپایل"},
    "validating": {"en": "validating", "fa": "اعتبارسنجی"},
    "checkpointing": {"en": "checkpointing", "fa": "ذخیرهٔ وضعیت"},
    "other": {"en": "other", "fa": "دیگر"},
    "load": {"en": "data load", "fa": "بارگذاری داده"},
    "upload": {"en": "host to device", "fa": "میزبان به دستگاه"},
    "preprocess": {"en": "preprocess", "fa": "پیش‌پردازش"},
    "gaps": {"en": "gaps", "fa": "فاصله‌ها"},
    "report_title": {"en": "Where the time went", "fa": "زمان کجا رفت"},
    "verdict": {"en": "Verdict", "fa": "حکم"},
    "confidence": {"en": "confidence", "fa": "اطمینان"},
    "account": {"en": "Account of the time", "fa": "حساب زمان"},
    "stages": {"en": "Stages of a step", "fa": "مرحله‌های یک گام"},
    "stage": {"en": "stage", "fa": "مرحله"},
    "work": {"en": "work per batch", "fa": "کار برای هر دسته"},
    "share": {"en": "share of the step", "fa": "سهم از گام"},
    "seconds": {"en": "seconds", "fa": "ثانیه"},
    "percent": {"en": "share", "fa": "سهم"},
    "step_times": {"en": "Step times", "fa": "زمان گام‌ها"},
    "step": {"en": "step", "fa": "گام"},
    "rings": {"en": "Buffers", "fa": "بافرها"},
    "ring": {"en": "buffer", "fa": "بافر"},
    "depth": {"en": "depth", "fa": "عمق"},
    "occupancy": {"en": "mean filling", "fa": "میانگین پُری"},
    "producer_wait": {"en": "producer waited", "fa": "انتظار تولیدکننده"},
    "consumer_wait": {"en": "consumer waited", "fa": "انتظار مصرف‌کننده"},
    "devices": {"en": "Devices", "fa": "دستگاه‌ها"},
    "device": {"en": "device", "fa": "دستگاه"},
    "role": {"en": "role", "fa": "نقش"},
    "utilization": {"en": "utilisation", "fa": "کارکرد"},
    "memory": {"en": "memory", "fa": "حافظه"},
    "power": {"en": "power", "fa": "توان"},
    "lost": {"en": "lost", "fa": "از دست رفت"},
    "incidents": {"en": "What happened on the way", "fa": "در راه چه پیش آمد"},
    "findings": {"en": "Findings", "fa": "یافته‌ها"},
    "no_findings": {"en": "Nothing to change.", "fa": "چیزی برای تغییر نیست."},
    "change": {"en": "change", "fa": "تغییر"},
    "gain": {"en": "gains at most", "fa": "حداکثر سود"},
    "not_measured": {"en": "not measured", "fa": "سنجیده نشد"},
    "machine": {"en": "Machine", "fa": "ماشین"},
    "rehearsal": {
        "en": "Virtual devices on the CPU: a rehearsal. No figure here is a GPU's.",
        "fa": "دستگاه‌های مجازی روی CPU: تمرین است. هیچ رقمی در این صفحه رقم GPU نیست.",
    },
    "tier": {"en": "Tier", "fa": "رده"},
    "excellent": {"en": "excellent", "fa": "عالی"},
    "good": {"en": "good", "fa": "خوب"},
    "minimum": {"en": "minimum", "fa": "کمینه"},
    "below minimum": {"en": "below minimum", "fa": "پایین‌تر از کمینه"},
    "virtual": {"en": "virtual devices are not GPUs", "fa": "دستگاه مجازی GPU نیست"},
    "one_device": {"en": "the run used one device", "fa": "اجرا روی یک دستگاه بود"},
    "no_samples": {"en": "no GPU samples", "fa": "نمونه‌ای از GPU نیست"},
    "too_short": {"en": "too few steps", "fa": "گام‌ها کم است"},
    "speedup": {"en": "the rate of one GPU", "fa": "سرعتِ یک GPU"},
    "fix": {"en": "must be fixed", "fa": "باید اصلاح شود"},
    "advice": {"en": "advice", "fa": "پیشنهاد"},
    "note": {"en": "note", "fa": "یادداشت"},
    "healthy": {"en": "No bottleneck found.", "fa": "گلوگاهی پیدا نشد."},
    "data": {"en": "data", "fa": "داده"},
    "model": {"en": "model", "fa": "مدل"},
    "data and model": {"en": "data and model", "fa": "داده و مدل"},
    "not used": {"en": "not used", "fa": "بی‌استفاده"},
    "total": {"en": "total", "fa": "جمع"},
    "batch_size": {"en": "batch size", "fa": "اندازهٔ دسته"},
    "steps": {"en": "steps", "fa": "گام"},
    "steps_per_second": {"en": "steps/s", "fa": "گام در ثانیه"},
    "variation": {"en": "variation", "fa": "نوسان"},
    "useful_frames": {"en": "useful frames/s", "fa": "فریم سودمند در ثانیه"},
    "evaluation": {"en": "What the judges say", "fa": "نظر داوران"},
    "metric": {"en": "measure", "fa": "سنجه"},
    "source": {"en": "source", "fa": "ضبط اصلی"},
    "ratio": {"en": "ratio (95 %)", "fa": "نسبت (۹۵٪)"},
    "clips": {"en": "clips", "fa": "قطعه"},
    "all_clips": {"en": "all clips", "fa": "همهٔ قطعه‌ها"},
    "wer": {"en": "word error rate", "fa": "نرخ خطای واژه"},
    "wer_moonshine": {"en": "word error rate, Moonshine", "fa": "نرخ خطای واژه، Moonshine"},
    "wer_pocketsphinx": {
        "en": "word error rate, pocketsphinx", "fa": "نرخ خطای واژه، pocketsphinx"
    },
    "similarity": {"en": "speaker similarity", "fa": "شباهت گوینده"},
    "nearest_speaker": {"en": "nearest to its own speaker", "fa": "نزدیک‌ترین به گویندهٔ خودش"},
    "mcd_db": {"en": "mel-cepstral distortion", "fa": "اعوجاج مل‌کپسترال"},
    "f0_cents": {"en": "pitch error", "fa": "خطای زیروبمی"},
    "voicing_error": {"en": "voicing error", "fa": "خطای واک‌داری"},
    "duration_error": {"en": "duration error", "fa": "خطای مدت"},
    "token_duration_error": {"en": "duration error by token", "fa": "خطای مدتِ هر نماد"},
    "about_source": {
        "en": "“source” is what the recordings themselves get: their own word error rate, their "
        "similarity to another clip of the speaker, and, for distortion, pitch and duration, the "
        "recording after the vocoder alone.",
        "fa": "«ضبط اصلی» یعنی آنچه خودِ ضبط‌ها می‌گیرند: نرخ خطای واژهٔ خودشان، شباهتشان به قطعه‌ای "
        "دیگر از همان گوینده، و برای اعوجاج و زیروبمی و مدت، همان ضبط پس از گذر از وُکودر به‌تنهایی.",
    },
    "distributions": {"en": "Clip by clip", "fa": "قطعه به قطعه"},
    "listen": {"en": "Look and listen", "fa": "ببینید و بشنوید"},
    "skipped_clips": {"en": "Clips not judged", "fa": "قطعه‌هایی که داوری نشدند"},
}  # fmt: skip


def word(name: str, language: Language = "en") -> str:
    """A label; a name without one stands for itself."""
    return _WORDS.get(name, {}).get(language, name)


def words() -> dict[str, dict[Language, str]]:
    """The whole table, for the test that both languages are complete."""
    return _WORDS
