"""What went otherwise than planned in a recorded run, and that nothing was compiled in between.

Pure functions over a Session. Each incident is a name and its numbers; the sentences, in English
and Persian, stand below. Judging speed is `findings`' job.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from myxtts.telemetry.session import Session
from myxtts.tools.catalogue import Language
from myxtts.tools.words import word

MOST_NAMED = 5
"""Steps or clips that a sentence names; the rest is counted."""

_SENTENCES: dict[str, dict[Language, str]] = {
    "nothing_compiled": {
        "en": "Nothing was compiled after warm-up: {programs} programs before the first step, none "
        "in the {steps} steps.",
        "fa": "پس از گرم‌شدن چیزی کامپایل نشد: {programs} برنامه پیش از نخستین گام، و هیچ‌کدام در "
        "{steps} گام.",
    },
    "compiled_late": {
        "en": "{count} of {steps} steps compiled after warm-up: {which}.",
        "fa": "از {steps} گام، {count} گام پس از گرم‌شدن کامپایل کرد: {which}.",
    },
    "out_of_memory": {
        "en": "The memory of {device} was not enough for batches of {rows} clips of length "
        "{length} ({work}, step {step}): they were done in {parts} parts from there on, with the "
        "same result.",
        "fa": "حافظهٔ {device} برای دسته‌های {rows} قطعه‌ای با طول {length} کافی نبود ({work}، گام "
        "{step}): از آن پس در {parts} بخش انجام شدند، با همان نتیجه.",
    },
    "copied_late": {
        "en": "The memory of {device} had no room for copies ahead of batches of {rows} clips of "
        "length {length} ({work}, step {step}): they were copied when their turn had come.",
        "fa": "حافظهٔ {device} جای رونوشتِ پیشاپیش برای دسته‌های {rows} قطعه‌ای با طول {length} "
        "نداشت ({work}، گام {step}): هنگامی که نوبتشان رسید رونوشت شدند.",
    },
    "bad_steps": {
        "en": "{count} steps were skipped because their loss was not a number: {which}. Their "
        "clips: {clips}.",
        "fa": "از {count} گام چشم‌پوشی شد چون loss آن‌ها عدد نبود: {which}. قطعه‌هایشان: {clips}.",
    },
    "went_back": {
        "en": "Too many bad steps in a row at step {step}: the run went back to step {to}.",
        "fa": "گام‌های بدِ پیاپی در گام {step} بیش از اندازه شد: اجرا به گام {to} بازگشت.",
    },
    "not_saved": {
        "en": "No checkpoint was written at step {step}: the weights were not numbers.",
        "fa": "در گام {step} وضعیت ذخیره نشد: وزن‌ها عدد نبودند.",
    },
    "gpu_lost": {
        "en": "GPU {index} did not answer any more ({reason}): its figures are N/A.",
        "fa": "GPU {index} دیگر پاسخ نداد ({reason}): رقم‌هایش N/A است.",
    },
}


@dataclass(frozen=True)
class Incident:
    """One sentence, as its name and the numbers in it."""

    name: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """It went as planned."""
        return self.name == "nothing_compiled"

    def said(self, language: Language = "en") -> str:
        """The sentence."""
        evidence = dict(self.evidence)
        if "work" in evidence:
            evidence["work"] = word(evidence["work"], language)
        if language == "fa":  # names in Latin letters keep their order inside the sentence
            evidence = {
                k: f"\u2068{v}\u2069" if isinstance(v, str) else v for k, v in evidence.items()
            }
        return _SENTENCES[self.name][language].format(**evidence)

    def as_json(self, language: Language = "en") -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "text": self.said(language), **self.evidence}


def incidents(session: Session) -> list[Incident]:
    """Whether anything was compiled late, then what went wrong, in order of its kind."""
    return [
        *_compiled(session),
        *_shortages(session),
        *_bad_steps(session),
        *_told(session, "went_back", "step", "to"),
        *_told(session, "not_saved", "step"),
        *_told(session, "gpu_lost", "index", "reason"),
    ]


def sentences() -> dict[str, dict[Language, str]]:
    """The whole table, for the test that both languages say the same."""
    return _SENTENCES


def _compiled(session: Session) -> Iterator[Incident]:
    """Only for runs that said when they were warm, and that trained."""
    warm = next(session.of_kind("warm"), None)
    if warm is None or not session.steps:
        return
    steps = len(session.steps)
    late = [step.step for step in session.steps if step.compiled]
    if late:
        numbers = {"count": len(late), "steps": steps, "which": _some(late)}
        yield Incident("compiled_late", numbers)
    else:
        yield Incident("nothing_compiled", {"programs": warm["compilations"], "steps": steps})


def _shortages(session: Session) -> Iterator[Incident]:
    for event in session.of_kind("out_of_memory"):
        numbers = {name: of for name, of in event.items() if name not in ("kind", "t")}
        yield Incident("out_of_memory" if event["parts"] > 1 else "copied_late", numbers)


def _bad_steps(session: Session) -> Iterator[Incident]:
    bad = list(session.of_kind("bad_step"))
    if bad:
        clips = list(dict.fromkeys(clip for event in bad for clip in event["clips"]))
        steps = [event["step"] for event in bad]
        numbers = {"count": len(bad), "which": _some(steps), "clips": _some(clips)}
        yield Incident("bad_steps", numbers)


def _told(session: Session, kind: str, *names: str) -> Iterator[Incident]:
    for event in session.of_kind(kind):
        yield Incident(kind, {name: event[name] for name in names})


def _some(things: list[Any]) -> str:
    """The first few by name."""
    named = ", ".join(str(thing) for thing in things[:MOST_NAMED])
    return f"{named}, … ({len(things)})" if len(things) > MOST_NAMED else named
