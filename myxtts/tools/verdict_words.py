"""The sentences of every verdict in English and Persian: its name, how it looks, why, what to do.

A template speaks of `lost` and `confidence`; `said` fills it in. No rule lives here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from myxtts.tools.catalogue import Language

if TYPE_CHECKING:
    from myxtts.tools.verdict import Cause, Verdict


@dataclass(frozen=True)
class Words:
    """One verdict in one language."""

    title: str
    looks: str
    why: str
    remedy: str


_WORDS: dict[Cause, dict[Language, Words]] = {
    "disk": {
        "en": Words(
            "Reading from the disk is too slow",
            "Training waits {lost:.0%} of the time for batches that are still being read.",
            "The disk delivers fewer bytes a second than training uses.",
            "Keep the prepared corpus in memory, or move it to a faster disk.",
        ),
        "fa": Words(
            "خواندن از دیسک کند است",
            "آموزش {lost:.0%} از زمان را منتظر دسته‌هایی است که هنوز خوانده می‌شوند.",
            "دیسک در هر ثانیه کمتر از آنچه آموزش مصرف می‌کند می‌دهد.",
            "پیکرهٔ آماده را در حافظه نگه دارید یا به دیسکی تندتر ببرید.",
        ),
    },
    "decode": {
        "en": Words(
            "Decoding and assembling batches is too slow",
            "Training waits {lost:.0%} of the time for batches that the processor is making.",
            "Clips are decoded, or put together, more slowly than training uses them.",
            "Load from the prepared store, and give loading more workers where cores are free.",
        ),
        "fa": Words(
            "رمزگشایی و چیدن دسته‌ها کند است",
            "آموزش {lost:.0%} از زمان را منتظر دسته‌هایی است که پردازنده می‌سازد.",
            "قطعه‌ها کندتر از آنکه آموزش مصرفشان کند رمزگشایی یا چیده می‌شوند.",
            "از انبارهٔ آماده بخوانید و اگر هسته‌ای آزاد است کارگر بیشتری به بارگذاری بدهید.",
        ),
    },
    "preprocess": {
        "en": Words(
            "Preprocessing is too slow",
            "Training waits {lost:.0%} of the time for the data device.",
            "Computing mels and augmentation takes longer than a training step.",
            "Store the mels once instead of computing them live, or augment less.",
        ),
        "fa": Words(
            "پیش‌پردازش کند است",
            "آموزش {lost:.0%} از زمان را منتظر دستگاه داده است.",
            "محاسبهٔ مل‌ها و افزایش داده بیش از یک گام آموزش زمان می‌برد.",
            "مل‌ها را یک بار ذخیره کنید و زنده حساب نکنید، یا افزایش داده را کم کنید.",
        ),
    },
    "transfer": {
        "en": Words(
            "Moving batches between the devices is too slow",
            "Training waits {lost:.0%} of the time for batches on their way to its device.",
            "The link between host and devices carries less than training uses.",
            "Copy ahead of need; check the link; one device may be faster than two here.",
        ),
        "fa": Words(
            "جابه‌جایی دسته‌ها میان دستگاه‌ها کند است",
            "آموزش {lost:.0%} از زمان را منتظر دسته‌هایی است که در راهِ دستگاهش هستند.",
            "پیوند میان میزبان و دستگاه‌ها کمتر از مصرف آموزش جابه‌جا می‌کند.",
            "پیشاپیش رونوشت بگیرید و پیوند را بیازمایید؛ شاید اینجا یک دستگاه از دو تا تندتر باشد.",
        ),
    },
    "training": {
        "en": Words(
            "Training is the limit, and it is fed",
            "Batches are ready when they are wanted: training waits {lost:.1%} of the time.",
            "The model's device works nearly all the time.",
            "Nothing in the pipeline: a faster device, lower precision or a smaller model.",
        ),
        "fa": Words(
            "آموزش خود مرز سرعت است و چیزی کم ندارد",
            "دسته‌ها هنگام نیاز آماده‌اند: آموزش {lost:.1%} از زمان را منتظر می‌ماند.",
            "دستگاه مدل کمابیش همیشه کار می‌کند.",
            "در خط لوله کاری نیست: دستگاهی تندتر، دقت پایین‌تر یا مدلی کوچک‌تر.",
        ),
    },
    "jitter": {
        "en": Words(
            "A stage is fast enough but uneven",
            "Training waits {lost:.0%} of the time, though every stage is faster in the mean.",
            "Now and then a stage takes many times as long as usual, longer than the buffers last.",
            "Find what interrupts it: other programs, a disk shared with others, rare long clips.",
        ),
        "fa": Words(
            "مرحله‌ای به‌اندازه تند است ولی یکنواخت نیست",
            "آموزش {lost:.0%} از زمان منتظر است، هرچند هر مرحله به‌طور میانگین تندتر است.",
            "گاهی مرحله‌ای چند برابرِ معمول طول می‌کشد، بیش از آنکه بافرها دوام آورند.",
            "بیابید چه چیزی آن را می‌بُرد: برنامه‌های دیگر، دیسک مشترک، قطعه‌های بلندِ نادر.",
        ),
    },
    "buffer": {
        "en": Words(
            "The buffers are too small",
            "Training waits {lost:.0%} of the time, though every stage is faster in the mean.",
            "The stages swing a little, and too few batches wait to bridge it.",
            "Let more batches wait.",
        ),
        "fa": Words(
            "بافرها کوچک‌اند",
            "آموزش {lost:.0%} از زمان منتظر است، هرچند هر مرحله به‌طور میانگین تندتر است.",
            "مرحله‌ها اندکی نوسان دارند و دسته‌های آماده برای پرکردن این فاصله کم‌اند.",
            "بگذارید دسته‌های بیشتری آماده بمانند.",
        ),
    },
    "recompilation": {
        "en": Words(
            "Shapes are compiled in the middle of training",
            "{lost:.0%} of the time goes into steps that meet a shape for the first time.",
            "Every new length of a batch is a new program.",
            "Use a few fixed shapes: they are compiled once, before the first step.",
        ),
        "fa": Words(
            "کامپایل در میانهٔ آموزش انجام می‌شود",
            "{lost:.0%} از زمان صرف گام‌هایی می‌شود که شکلی را نخستین بار می‌بینند.",
            "هر طول تازهٔ یک دسته برنامه‌ای تازه است.",
            "از چند شکل ثابت استفاده کنید: یک بار و پیش از نخستین گام کامپایل می‌شوند.",
        ),
    },
    "padding": {
        "en": Words(
            "The devices compute padding",
            "{lost:.0%} of the time goes into frames that are not speech.",
            "Short clips are filled up to the length of the longest.",
            "Choose shapes from the corpus, so that clips of one length come together.",
        ),
        "fa": Words(
            "دستگاه‌ها روی فضای خالی کار می‌کنند",
            "{lost:.0%} از زمان صرف فریم‌هایی می‌شود که گفتار نیستند.",
            "قطعه‌های کوتاه تا طول بلندترین پر می‌شوند.",
            "شکل‌ها را از روی پیکره برگزینید تا قطعه‌های هم‌طول کنار هم بیایند.",
        ),
    },
    "checkpointing": {
        "en": Words(
            "Checkpoints take too much of the time",
            "Training stands still for {lost:.0%} of the time while checkpoints are written.",
            "They are written too often, or to a slow disk.",
            "Write them less often.",
        ),
        "fa": Words(
            "ذخیرهٔ وضعیت زمان زیادی می‌گیرد",
            "آموزش {lost:.0%} از زمان می‌ایستد تا وضعیت ذخیره شود.",
            "بیش از اندازه یا روی دیسکی کند ذخیره می‌شود.",
            "کمتر ذخیره کنید.",
        ),
    },
    "validation": {
        "en": Words(
            "Validation takes too much of the time",
            "Training stands still for {lost:.0%} of the time while the model is validated.",
            "It comes too often, or has too many clips.",
            "Validate less often.",
        ),
        "fa": Words(
            "اعتبارسنجی زمان زیادی می‌گیرد",
            "آموزش {lost:.0%} از زمان می‌ایستد تا مدل سنجیده شود.",
            "بیش از اندازه انجام می‌شود یا قطعه‌هایش زیاد است.",
            "کمتر اعتبارسنجی کنید.",
        ),
    },
    "balanced": {
        "en": Words(
            "Preparing and training take about the same time",
            "Training waits {lost:.1%} of the time, and no single stage stands out.",
            "The threads are evenly loaded.",
            "Nothing: to go faster, both preparing and training have to become faster.",
        ),
        "fa": Words(
            "آماده‌سازی و آموزش کمابیش هم‌زمان‌اند",
            "آموزش {lost:.1%} از زمان منتظر می‌ماند و هیچ مرحله‌ای به‌تنهایی برجسته نیست.",
            "بار رشته‌ها یکسان است.",
            "هیچ: برای سرعت بیشتر باید آماده‌سازی و آموزش هر دو تندتر شوند.",
        ),
    },
}  # fmt: skip


def said(verdict: Verdict, language: Language = "en") -> dict[str, str]:
    """Title, `looks`, `why` and `remedy`, with the verdict's figures in them."""
    words = _WORDS[verdict.cause][language]
    figures = {"lost": verdict.lost, "confidence": verdict.confidence}
    return {name: text.format(**figures) for name, text in vars(words).items()}


def table() -> dict[Cause, dict[Language, Words]]:
    """All of it, for the test that both languages are complete."""
    return _WORDS
