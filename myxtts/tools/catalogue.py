"""The sentences of every finding, in English and Persian, from one place.

A template speaks of the finding's evidence by name; `title` and `reason` fill it in. Labels of
tables and pages are in `words`. No rule lives here.
"""

from __future__ import annotations

from typing import Literal

from myxtts.tools.findings import Change, Finding

Language = Literal["en", "fa"]
LANGUAGES: tuple[Language, ...] = ("en", "fa")

# rule -> language -> (title, reason)
_TEXTS: dict[str, dict[Language, tuple[str, str]]] = {
    "data_load_high": {
        "en": (
            "Training waits for data",
            "{share:.1%} of the step time is lost to loading (limit {limit:.0%}).",
        ),
        "fa": (
            "آموزش منتظر داده می‌ماند",
            "{share:.1%} از زمان گام‌ها صرف بارگذاری داده می‌شود (حد مجاز {limit:.0%}).",
        ),
    },
    "transfer_high": {
        "en": (
            "Moving batches between the devices holds training up",
            "{share:.1%} of the step time is lost to transfers (limit {limit:.0%}).",
        ),
        "fa": (
            "جابه‌جایی داده میان دو دستگاه آموزش را معطل می‌کند",
            "{share:.1%} از زمان گام‌ها صرف انتقال می‌شود (حد مجاز {limit:.0%}).",
        ),
    },
    "training_low": {
        "en": (
            "Less than half of the time is training",
            "Training takes {share:.1%} of the step time; the largest of the rest is {largest} "
            "with {largest_share:.1%}.",
        ),
        "fa": (
            "کمتر از نیمی از زمان به آموزش می‌رسد",
            "سهم آموزش از زمان گام {share:.1%} است؛ بزرگ‌ترین سهم دیگر {largest} با "
            "{largest_share:.1%} است.",
        ),
    },
    "step_variation_high": {
        "en": (
            "Step times swing",
            "std/mean of the step time is {variation:.1%} (limit {limit:.0%}); "
            "what varies: {cause}.",
        ),
        "fa": (
            "زمان گام‌ها نوسان دارد",
            "نسبت انحراف معیار به میانگینِ زمان گام {variation:.1%} است (حد مجاز {limit:.0%}). "
            "آنچه نوسان دارد: {cause}.",
        ),
    },
    "padding_high": {
        "en": (
            "The devices compute padding",
            "{useful:.1%} of the frames computed are speech (at least {floor:.0%} is possible).",
        ),
        "fa": (
            "دستگاه‌ها روی فضای خالی کار می‌کنند",
            "{useful:.1%} از فریم‌های محاسبه‌شده گفتار است (دست‌کم {floor:.0%} ممکن است).",
        ),
    },
    "compiled_in_training": {
        "en": (
            "Shapes are compiled in the middle of training",
            "{steps} of {of} steps compiled something, about {seconds:.1f} s in all.",
        ),
        "fa": (
            "کامپایل در میانهٔ آموزش انجام می‌شود",
            "{steps} گام از {of} گام کامپایل داشت؛ روی‌هم حدود {seconds:.1f} ثانیه.",
        ),
    },
    "clips_skipped": {
        "en": (
            "Clips were left out",
            "{clips} clips were not used; the first is {first}: {reason}.",
        ),
        "fa": (
            "چند قطعه کنار گذاشته شد",
            "{clips} قطعه استفاده نشد؛ نخستین آن {first} است: {reason}.",
        ),
    },
    "gpu_metrics_missing": {
        "en": ("Some GPU metrics are N/A", "Not reported: {missing}."),
        "fa": ("برخی سنجه‌های GPU در دسترس نیست", "گزارش نشده: {missing}."),
    },
    "run_incomplete": {
        "en": (
            "The recording is not whole",
            "Closing line: {ended}; damaged lines: {damaged_lines}.",
        ),
        "fa": ("ضبط کامل نیست", "سطر پایانی: {ended}؛ سطرهای خراب: {damaged_lines}."),
    },
    "native_loading_off": {
        "en": (
            "Native loading is off",
            "Clips are decoded one by one in Python, not read from the memory-mapped store.",
        ),
        "fa": (
            "بارگذاری بومی خاموش است",
            "قطعه‌ها یکی‌یکی در پایتون رمزگشایی می‌شوند، نه از انبارهٔ نگاشته در حافظه.",
        ),
    },
    "workers_too_many": {
        "en": (
            "More workers than cores",
            "{workers} workers on {cores} cores take time from each other (at most {most}).",
        ),
        "fa": (
            "شمار کارگرها از هسته‌ها بیشتر است",
            "{workers} کارگر روی {cores} هسته وقت یکدیگر را می‌گیرند (حداکثر {most}).",
        ),
    },
    "workers_too_few": {
        "en": (
            "Cores stand idle",
            "{workers} workers on {cores} cores (at least {fewest}).",
        ),
        "fa": ("هسته‌ها بیکار می‌مانند", "{workers} کارگر روی {cores} هسته (دست‌کم {fewest})."),
    },
    "prefetch_outside": {
        "en": (
            "Prefetch is outside its useful range",
            "{prefetch} batches are loaded ahead; {fewest} to {most} is useful.",
        ),
        "fa": (
            "پیش‌واکشی بیرون از بازهٔ سودمند است",
            "{prefetch} دسته از پیش بارگذاری می‌شود؛ بازهٔ سودمند {fewest} تا {most} است.",
        ),
    },
    "batch_large": {
        "en": (
            "The batch is large",
            "batch_size is {batch}; beyond {most} it rarely pays. Measure it: myxtts scaling.",
        ),
        "fa": (
            "اندازهٔ دسته بزرگ است",
            "batch_size برابر {batch} است؛ بیش از {most} کمتر می‌ارزد. بسنجید: myxtts scaling.",
        ),
    },
    "batch_small": {
        "en": (
            "The batch is small for the card",
            "batch_size is {batch}; a card of {memory_mb} MB should manage {start}.",
        ),
        "fa": (
            "اندازهٔ دسته برای این کارت کوچک است",
            "batch_size برابر {batch} است؛ کارتی با {memory_mb} مگابایت از پس {start} برمی‌آید.",
        ),
    },
    "shapes_dynamic": {
        "en": (
            "Shapes are not fixed",
            "Every new length is compiled again in the middle of training.",
        ),
        "fa": ("شکل‌ها ثابت نیستند", "هر طول تازه در میانهٔ آموزش دوباره کامپایل می‌شود."),
    },
    "xla_off": {
        "en": ("XLA is off", "auto measures with and without it and keeps the faster."),
        "fa": ("XLA خاموش است", "حالت auto هر دو را می‌سنجد و سریع‌تر را نگه می‌دارد."),
    },
    "overlap_off": {
        "en": (
            "Nothing overlaps",
            "Loading, preparing and training run one after the other, so their times add up.",
        ),
        "fa": (
            "هیچ کاری همپوشانی ندارد",
            "بارگذاری، آماده‌سازی و آموزش پشت سر هم انجام می‌شود و زمان‌ها جمع می‌شود.",
        ),
    },
    "virtual_devices": {
        "en": (
            "This is a rehearsal",
            "{devices} virtual devices share the CPU: no figure of it is a GPU's.",
        ),
        "fa": (
            "این یک تمرین است",
            "{devices} دستگاه مجازی روی همین CPU است: هیچ رقمی از آن رقم GPU نیست.",
        ),
    },
    "second_gpu_unused": {
        "en": (
            "A GPU is not used",
            "{gpus} GPUs are here and the configuration names none.",
        ),
        "fa": ("یک GPU بی‌استفاده است", "{gpus} GPU هست و پیکربندی از هیچ‌کدام نام نمی‌برد."),
    },
    "gpu_missing": {
        "en": (
            "The configuration names a GPU that is not here",
            "GPU {asked} is asked for; {gpus} are here, and dual-device mode needs at least 2.",
        ),
        "fa": (
            "GPU نام‌برده در پیکربندی وجود ندارد",
            "GPU شمارهٔ {asked} خواسته شده؛ {gpus} GPU هست و حالت دودستگاهی دست‌کم ۲ می‌خواهد.",
        ),
    },
    "limit_high": {
        "en": (
            "A memory limit leaves no room on the card",
            "{key} is {limit} MB on a card of {memory_mb} MB; 1024 MB must stay free.",
        ),
        "fa": (
            "حد حافظه جایی روی کارت باقی نمی‌گذارد",
            "{key} برابر {limit} مگابایت از {memory_mb} است؛ باید ۱۰۲۴ مگابایت آزاد بماند.",
        ),
    },
    "tensorflow_missing": {
        "en": ("TensorFlow is not installed", "Nothing can be trained or measured without it."),
        "fa": ("TensorFlow نصب نیست", "بدون آن نه آموزشی ممکن است و نه سنجشی."),
    },
    "tensorflow_broken": {
        "en": ("TensorFlow does not start", "{reason}."),
        "fa": ("TensorFlow راه نمی‌افتد", "{reason}."),
    },
    "gpu_not_seen": {
        "en": (
            "TensorFlow does not see the GPUs",
            "The driver shows {driver} GPUs, TensorFlow sees {tensorflow}.",
        ),
        "fa": (
            "TensorFlow GPUها را نمی‌بیند",
            "درایور {driver} GPU نشان می‌دهد و TensorFlow {tensorflow} تا می‌بیند.",
        ),
    },
    "no_gpu": {
        "en": ("No GPU was found", "{reason}. GPU figures are not measured."),
        "fa": ("هیچ GPU پیدا نشد", "{reason}. ارقام GPU سنجیده نشده است."),
    },
    "corpus_unusable": {
        "en": ("There is nothing to train on", "{folder}: {reason}."),
        "fa": ("چیزی برای آموزش نیست", "{folder}: {reason}."),
    },
    "audio_varies": {
        "en": (
            "Audio load times swing",
            "std/mean of decoding a clip is {variation:.0%}: prepared features hide it, loading "
            "clip by clip does not.",
        ),
        "fa": (
            "زمان خواندن صدا نوسان دارد",
            "نسبت انحراف معیار به میانگینِ رمزگشایی {variation:.0%} است: ویژگی‌های آماده آن را "
            "پنهان می‌کند، خواندن تک‌تک نه.",
        ),
    },
    "setting_not_taken": {
        "en": ("A setting did not take", "{name}: wanted {wanted}, read back {found}."),
        "fa": ("یک تنظیم اعمال نشد", "{name}: خواسته {wanted}، خوانده‌شده {found}."),
    },
}  # fmt: skip


# What to do, where that is a sentence and not something to type.
_DEEDS: dict[str, str] = {
    "stop other programs on this machine and measure again":
        "برنامه‌های دیگرِ این دستگاه را ببندید و دوباره بسنجید",
    "a larger corpus, or a smaller --batch-size, fills the shapes better":
        "پیکره‌ای بزرگ‌تر یا ‎--batch-size کوچک‌تر شکل‌ها را بهتر پر می‌کند",
    "repair or remove the clips, then run myxtts prepare again":
        "قطعه‌ها را درست کنید یا بردارید و سپس دوباره myxtts prepare را اجرا کنید",
    "nvidia-smi -q shows what the card and its driver report":
        "‏nvidia-smi -q نشان می‌دهد که کارت و درایورش چه گزارش می‌کنند",
    "the figures hold for what was recorded; run it again for all of it":
        "رقم‌ها برای آنچه ضبط شده درست است؛ برای همهٔ آن دوباره اجرا کنید",
    "run it in a fresh process, before TensorFlow has started":
        "در فرایندی تازه اجرایش کنید، پیش از آغاز TensorFlow",
    'pip install "myxtts[gpu]" (without a GPU: "myxtts[cpu]")':
        'pip install "myxtts[gpu]" (بدون GPU: "myxtts[cpu]")',
    "nvidia-smi must list the GPUs; rehearse with --virtual-gpus 2":
        "‏nvidia-smi باید GPUها را نشان دهد؛ با ‎--virtual-gpus 2 تمرین کنید",
    'pip install "myxtts[gpu]", and look at CUDA_VISIBLE_DEVICES':
        'pip install "myxtts[gpu]"، و نگاهی به CUDA_VISIBLE_DEVICES',
    "myxtts accept (is one device faster here than two?)":
        "myxtts accept (آیا این‌جا یک دستگاه از دو تا تندتر است؟)",
}  # fmt: skip


def deed(change: Change, language: Language = "en") -> str:
    """What to change: keys and commands as they are typed, sentences in the language."""
    text = str(change)
    return _DEEDS.get(text, text) if language == "fa" else text


def deeds() -> list[str]:
    """Every sentence that has a translation."""
    return list(_DEEDS)


def rules() -> list[str]:
    """Every rule that has a text."""
    return list(_TEXTS)


def title(finding: Finding, language: Language = "en") -> str:
    """One line that names the finding."""
    return _filled(finding, language, 0)


def reason(finding: Finding, language: Language = "en") -> str:
    """The sentence that gives the evidence."""
    return _filled(finding, language, 1)


def _filled(finding: Finding, language: Language, part: int) -> str:
    texts = _TEXTS.get(finding.rule)
    if texts is None:  # noticed by the run itself, in its own words
        said = ", ".join(f"{name}: {value}" for name, value in finding.evidence.items())
        return (finding.rule.replace("_", " "), said)[part]
    evidence = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in finding.evidence.items()
    }
    return texts[language][part].format(**evidence)
