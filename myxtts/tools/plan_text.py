"""A plan as tables on a terminal, in English and Persian. Computes nothing."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from myxtts.tools.catalogue import Language
from myxtts.tools.findings import Change
from myxtts.tools.plan import Prediction, Range
from myxtts.tools.what_to_try import Plan

WORDS: dict[str, dict[Language, str]] = {
    "figure": {"en": "", "fa": ""},
    "recorded": {"en": "recorded", "fa": "ضبط‌شده"},
    "predicted": {"en": "predicted", "fa": "پیش‌بینی"},
    "range": {"en": "range (95 %)", "fa": "بازه (۹۵٪)"},
    "change": {"en": "change", "fa": "تغییر"},
    "steps": {"en": "steps/s", "fa": "گام در ثانیه"},
    "frames": {"en": "useful frames/s", "fa": "فریم سودمند در ثانیه"},
    "wait": {"en": "waiting for data", "fa": "انتظار برای داده"},
    "data_device": {"en": "data device busy", "fa": "کارکرد دستگاه داده"},
    "model_device": {"en": "model device busy", "fa": "کارکرد دستگاه مدل"},
    "memory": {"en": "memory", "fa": "حافظه"},
    "times": {"en": "times as fast", "fa": "چند برابرِ سرعت"},
    "ratio": {"en": "times", "fa": "برابر"},
    "waits": {"en": "waits", "fa": "انتظار"},
    "busy": {"en": "busy", "fa": "کارکرد"},
    "advice": {"en": "advice", "fa": "توصیه"},
    "faster": {"en": "do it", "fa": "انجام دهید"},
    "slower": {"en": "do not", "fa": "انجام ندهید"},
    "unclear": {"en": "unclear", "fa": "نامعلوم"},
    "if": {"en": "What if", "fa": "چه می‌شود اگر"},
    "best": {"en": "Best for this machine", "fa": "بهترین برای این ماشین"},
    "stay": {
        "en": "No change can be advised: every range holds 1, or is below it.",
        "fa": "هیچ تغییری را نمی‌توان توصیه کرد: هر بازه یا عدد ۱ را در بر دارد یا "
        "پایین‌تر از آن است.",
    },
    "apply": {
        "en": "try it, and keep it if it helps",
        "fa": "آن را بیازمایید و اگر سود داشت نگه دارید",
    },
    "missing": {"en": "Not predicted", "fa": "پیش‌بینی نشد"},
    "record": {"en": "to predict it, record", "fa": "برای پیش‌بینی، این را ضبط کنید"},
    "not_known": {"en": "not known", "fa": "نامعلوم"},
    "busy_note": {
        "en": "Busy: share of the time in which the stages worked; the GPUs said nothing.",
        "fa": "کارکرد: سهمی از زمان که مرحله‌ها کار کردند؛ خودِ GPUها چیزی نگفتند.",
    },
    "virtual": {
        "en": "Virtual devices: no figure of such a run is a GPU's.",
        "fa": "دستگاه‌های مجازی: هیچ رقمی از چنین اجرایی رقم GPU نیست.",
    },
}


def show_plan(plan: Plan, console: Console, language: Language, run: str) -> None:
    """One change as a table of figures; several as one row each, and the best of them."""

    def say(name: str) -> str:
        return WORDS[name][language]

    if plan.recorded.virtual:
        console.print(f"[yellow]{say('virtual')}[/]")
    if len(plan.predictions) == 1 and plan.best is None:
        _one(plan, plan.predictions[0], console, language)
    elif plan.predictions:
        _several(plan, console, language)
    if plan.predictions and not plan.recorded.sampled:
        console.print(say("busy_note"))
    for missing in plan.not_predicted:
        console.print(f"{say('missing')}: {missing}", markup=False)
        console.print(f"  {say('record')}: {missing.record}", markup=False)
    if len(plan.predictions) > 1:
        console.print(f"\n[bold]{say('best')}[/]")
        if plan.best is None:
            console.print(say("stay"))
            return
        ratio = plan.best.ratio
        console.print(f"{Change(plan.best.settings)}", markup=False)
        console.print(f"{say('times')}: {_ranged(ratio, '{:.2f}')}", markup=False)
        console.print(
            f"{say('apply')}: myxtts fix --config FILE --from-run {run} --apply", markup=False
        )


def _one(plan: Plan, one: Prediction, console: Console, language: Language) -> None:
    recorded = plan.recorded
    console.print(f"[bold]{WORDS['if'][language]}: {one.what_if}[/]")
    table = Table(box=SIMPLE_HEAD)
    for heading in ("figure", "recorded", "predicted", "range", "change"):
        table.add_column(
            WORDS[heading][language], justify="left" if heading == "figure" else "right"
        )
    for name, before, after in (
        ("steps", recorded.steps_per_second, one.steps_per_second),
        ("frames", recorded.frames_per_second, one.frames_per_second),
    ):
        style = "{:.2f}" if before < 100 else "{:,.0f}"
        table.add_row(
            WORDS[name][language], style.format(before), style.format(after.point),
            f"{style.format(after.low)} – {style.format(after.high)}",
            f"{after.point / before - 1:+.1%}",
        )  # fmt: skip
    for name, before, now in (
        ("wait", 100 * recorded.wait_share, 100 * one.wait_share),
        ("data_device", recorded.data_utilization, one.data_utilization),
        ("model_device", recorded.model_utilization, one.model_utilization),
    ):
        table.add_row(
            WORDS[name][language], f"{before:.0f} %", f"{now:.0f} %", "", f"{now - before:+.0f}"
        )
    table.add_row(
        WORDS["memory"][language],
        _megabytes(recorded.memory_mb, language),
        _megabytes(one.memory_mb, language),
        "",
        "",
    )
    console.print(table)
    ratio = _ranged(one.ratio, "{:.2f}")
    console.print(f"{WORDS['times'][language]}: {ratio}: {WORDS[one.direction][language]}")
    if one.settings:
        console.print(str(Change(one.settings)), markup=False)


def _several(plan: Plan, console: Console, language: Language) -> None:
    recorded = plan.recorded
    console.print(
        f"{WORDS['recorded'][language]}: "
        f"{recorded.steps_per_second:.2f} {WORDS['steps'][language]}, "
        f"{recorded.frames_per_second:,.0f} {WORDS['frames'][language]}, "
        f"{WORDS['wait'][language]} {recorded.wait_share:.0%}",
        markup=False,
    )
    table = Table(box=SIMPLE_HEAD, pad_edge=False)  # seven columns in eighty characters
    for heading in ("change", "ratio", "range", "waits", "busy", "memory", "advice"):
        table.add_column(
            WORDS[heading][language],
            justify="left" if heading in ("change", "advice") else "right",
            no_wrap=True,
        )
    for one in plan.predictions:
        table.add_row(
            str(one.what_if),
            f"{one.ratio.point:.2f}",
            f"{one.ratio.low:.2f} – {one.ratio.high:.2f}",
            f"{one.wait_share:.0%}",
            f"{one.model_utilization:.0f}%",
            "–" if one.memory_mb is None else f"{one.memory_mb:,} MB",
            WORDS[one.direction][language],
        )
    console.print(table)


def _ranged(value: Range, style: str) -> str:
    low, point, high = (style.format(part) for part in (value.low, value.point, value.high))
    return f"{point} ({low} – {high})"


def _megabytes(value: int | None, language: Language) -> str:
    return WORDS["not_known"][language] if value is None else f"{value:,} MB"
