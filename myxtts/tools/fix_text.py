"""What `fix` did, in sentences of two languages. Decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from myxtts.tools.catalogue import Language
from myxtts.tools.findings import Change
from myxtts.tools.fix_loop import Trial
from myxtts.tools.fix_run import Fixed

WORDS: dict[str, dict[Language, str]] = {
    "prerequisites": {"en": "1. Prerequisites", "fa": "۱. پیش‌نیازها"},
    "diagnosis": {"en": "2. Diagnosis", "fa": "۲. تشخیص"},
    "apply": {"en": "3. Apply", "fa": "۳. اِعمال"},
    "recommended": {"en": "4. Recommended configuration", "fa": "۴. پیکربندی پیشنهادی"},
    "train": {"en": "5. Train", "fa": "۵. آموزش"},
    "watch": {"en": "6. Watch it", "fa": "۶. تماشای آن"},
    "not_measured": {"en": "not measured", "fa": "سنجیده نشد"},
    "shown": {
        "en": "not applied: with --apply each change is tried, measured, and kept only if it helps",
        "fa": "اِعمال نشد: با --apply هر تغییر آزموده و سنجیده می‌شود و فقط اگر سود داشت می‌ماند",
    },
    "nothing": {"en": "nothing to apply", "fa": "چیزی برای اِعمال نیست"},
    "unmeasured": {
        "en": "written without a measurement (--num-steps 0); what it was is in {backup}",
        "fa": "بدون سنجش نوشته شد (--num-steps 0)؛ نسخهٔ پیشین در {backup} است",
    },
    "written": {
        "en": "written; what it was is in {backup}",
        "fa": "نوشته شد؛ نسخهٔ پیشین در {backup} است",
    },
    "as_it_was": {
        "en": "{file} is as it was, byte for byte: no change helped beyond noise",
        "fa": "{file} بایت به بایت همان است که بود: هیچ تغییری بیش از نوفه سود نداشت",
    },
    "together": {
        "en": "together: {gain:.2f} times the useful frames a second",
        "fa": "روی هم: {gain:.2f} برابر فریم سودمند در ثانیه",
    },
    "stays": {"en": "{file} stays as it is.", "fa": "{file} همان که هست می‌ماند."},
    "kept": {"en": "kept", "fa": "نگه داشته شد"},
    "no clear gain": {"en": "not kept, no clear gain", "fa": "نگه داشته نشد، سود روشنی نداشت"},
    "slower": {"en": "not kept, slower", "fa": "نگه داشته نشد، کندتر بود"},
    "did not run": {"en": "not kept, did not run", "fa": "نگه داشته نشد، اجرا نشد"},
    "figures": {
        "en": "{before:,.0f} → {after:,.0f} useful frames/s, {point:.2f} × ({low:.2f} – "
        "{high:.2f}), {runs} runs in turn",
        "fa": "{before:,.0f} ← {after:,.0f} فریم سودمند در ثانیه، {point:.2f} × ({low:.2f} – "
        "{high:.2f})، {runs} اجرای نوبتی",
    },
    "interrupted": {
        "en": "interrupted: {file} is as it was, byte for byte",
        "fa": "قطع شد: {file} بایت به بایت همان است که بود",
    },
}


def heading(name: str, language: Language) -> str:
    return f"[bold]{WORDS[name][language]}[/]"


def said(name: str, language: Language, **values: object) -> str:
    return WORDS[name][language].format(**values)


def trial_line(trial: Trial, language: Language) -> str:
    """One candidate: what it was, whether it is kept, and the figures."""
    line = f"{Change(trial.candidate.settings)}: {WORDS[trial.verdict][language]}"
    if trial.ratio is None:
        return f"{line}: {trial.problem}"
    ratio = trial.ratio
    figures = said(
        "figures", language, before=trial.before, after=trial.after, low=ratio.low,
        point=ratio.point, high=ratio.high, runs=trial.runs,
    )  # fmt: skip
    return f"{line}: {figures}"


def applied_lines(fixed: Fixed, file: Path, language: Language) -> Sequence[str]:
    """What was tried and what became of the file."""
    lines = [trial_line(trial, language) for trial in fixed.outcome.trials]
    if fixed.backup is None:
        return [*lines, said("as_it_was", language, file=file)]
    if len(fixed.outcome.kept) > 1:
        lines.append(said("together", language, gain=fixed.outcome.gain))
    return [*lines, said("written", language, backup=fixed.backup)]
