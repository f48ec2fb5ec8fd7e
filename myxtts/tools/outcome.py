"""What a training run achieved, where its time went, and what to try next, in plain words.

`outcome` is a pure function over a recorded Session; the sentences, in English and Persian, are in
`outcome_words`. How fast a run was and why is `summary`'s business: here only its worst finding is
quoted.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from myxtts.telemetry.session import Session
from myxtts.tools.account import account
from myxtts.tools.catalogue import LANGUAGES, Language, title
from myxtts.tools.findings import findings
from myxtts.tools.outcome_words import heading, sentence
from myxtts.tools.words import word

STILL_FALLING = 0.01
"""The last quarter's loss is lower than the third's by at least this share."""
WORSE = 0.02
"""The last validation is worse than the best one by more than this share."""


@dataclass(frozen=True)
class Remark:
    """One sentence, as its name and the numbers in it, and what to type, if anything."""

    name: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    do: str = ""

    def said(self, language: Language) -> str:
        """The sentence, with what to type behind it."""
        evidence = dict(self.evidence)
        if "account" in evidence:
            evidence["account"] = word(evidence["account"], language)
        if "rule" in evidence:
            evidence["rule"] = title(evidence["rule"], language)
        text = sentence(self.name, language).format(**evidence)
        return f"{text}\n    {self.do}" if self.do else text


@dataclass(frozen=True)
class Outcome:
    """A run in three paragraphs."""

    improved: list[Remark]
    time: list[Remark]
    next: list[Remark]

    def text(self, language: Language = "en") -> str:
        """All of it, for a person."""
        lines = []
        for name in ("improved", "time", "next"):
            remarks: list[Remark] = getattr(self, name)
            lines += [heading(name, language)] if remarks else []
            lines += [f"  {remark.said(language)}" for remark in remarks]
        return "\n".join(lines) + "\n"

    def file(self) -> str:
        """The content of summary.txt: every language, one after the other."""
        return "\n".join(self.text(language) for language in LANGUAGES)

    def as_json(self, language: Language = "en") -> dict[str, Any]:
        """Plain data."""
        return {
            name: [
                {
                    "name": remark.name,
                    "text": remark.said(language).split("\n")[0],
                    "do": remark.do,
                    **{key: of for key, of in remark.evidence.items() if key != "rule"},
                }
                for remark in getattr(self, name)
            ]
            for name in ("improved", "time", "next")
        }


def outcome(session: Session) -> Outcome:
    """Judge what a run learned."""
    return Outcome(_improved(session), _time(session), _next(session))


def _improved(session: Session) -> list[Remark]:
    losses = [step.loss for step in session.steps]
    if not losses:
        return [Remark("no_steps")]
    span = max(1, min(50, len(losses) // 4))
    first, last = statistics.fmean(losses[:span]), statistics.fmean(losses[-span:])
    numbers = {
        "first": first,
        "last": last,
        "first_step": session.steps[0].step + 1,
        "last_step": session.steps[-1].step + 1,
    }
    remarks = [Remark("loss_fell" if last < first else "loss_rose", numbers)]
    reports = [event for event in session.of_kind("report") if event.get("losses")]
    if len(reports) > 1:
        begun, ended = reports[0]["losses"], reports[-1]["losses"]
        parts = [
            f"{name} {begun[name]:.3f} → {ended[name]:.3f}" for name in ended if name != "total"
        ]
        remarks.append(Remark("loss_parts", {"parts": ", ".join(parts)}))
    return remarks + _validated(session)


def _validated(session: Session) -> list[Remark]:
    validations = list(session.of_kind("validation"))
    if not validations:
        return []
    best, last = _best(session), validations[-1]
    numbers = {
        "best": best["loss"],
        "best_step": best["step"],
        "last": last["loss"],
        "last_step": last["step"],
    }
    stopped = [Remark("stopped_early", event) for event in session.of_kind("early_stop")]
    return [Remark("validation_best", numbers), *stopped]


def _best(session: Session) -> dict[str, Any]:
    """The best validation of the whole run: a resumed one remembers those before it."""
    remembered = (session.end or {}).get("best") or {}
    if remembered.get("step") is not None:
        return remembered
    return min(session.of_kind("validation"), key=lambda event: event["loss"])


def _time(session: Session) -> list[Remark]:
    rows = {row.name: row for row in account(session)}
    if not rows:
        return []
    rest = max(
        (row for row in rows.values() if row.name != "training"), key=lambda row: row.seconds
    )
    numbers = {
        "minutes": sum(row.seconds for row in rows.values()) / 60,
        "training": rows["training"].percent,
        "account": rest.name,
        "share": rest.percent,
    }
    return [Remark("time", numbers)]


def _next(session: Session) -> list[Remark]:
    training = session.header["config"]["training"]
    folder = session.path.parent
    validations = list(session.of_kind("validation"))
    remarks = []
    worst = next((one for one in findings(session) if one.severity == "fix"), None)
    if worst is not None:
        remarks.append(Remark("bottleneck", {"rule": worst}, str(worst.change)))
    newest = folder
    if validations and _best(session)["loss"] < validations[-1]["loss"] * (1 - WORSE):
        step = int(_best(session)["step"])
        kept = training.get("checkpoint_dir") or folder / "checkpoints"
        newest = Path(kept) / f"step-{step:08d}"
        remarks.append(Remark("past_its_best", {"step": step}, "training.early_stop_patience: 5"))
    elif _still_falling(session):
        remarks.append(Remark("go_on", {}, _longer(session, training, folder)))
    if not validations:
        remarks.append(Remark("hold_out", {}, "training.validation_share: 0.05"))
    said = f'myxtts say "Hello." --checkpoint {newest} -o hello.wav'
    return [*remarks, Remark("listen", {}, said)]


def _still_falling(session: Session) -> bool:
    losses = [step.loss for step in session.steps]
    quarter = len(losses) // 4
    if quarter < 1:
        return False
    before = statistics.fmean(losses[-2 * quarter : -quarter])
    return statistics.fmean(losses[-quarter:]) < before * (1 - STILL_FALLING)


def _longer(session: Session, training: Mapping[str, Any], folder: Path) -> str:
    """The command that goes on for as long again."""
    done = session.steps[-1].step + 1
    more = (
        f"--max-steps {2 * done}"
        if training.get("max_steps") == done
        else f"--epochs {2 * int(training.get('epochs', 1))}"
    )
    return f"python train_main.py --output {folder} {more} --resume"
