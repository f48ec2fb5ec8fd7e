"""All that can be found out about a set-up in a minute: machine, settings, data, a short run.

`diagnose` gathers; what could not be measured is listed with its reason and never stops the rest.
Showing it, and changing anything, is the commands' job.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from myxtts.config import Config
from myxtts.errors import GOOD, UserError
from myxtts.tools import tuning
from myxtts.tools.analyze import BatchWaits, Timing, batch_waits, time_corpus, uneven_audio
from myxtts.tools.audit import CHECKS
from myxtts.tools.catalogue import Language
from myxtts.tools.environment import Environment, environment, prerequisites, tensorflow_gpus
from myxtts.tools.findings import Change, Finding, exit_code, ordered
from myxtts.tools.profile_run import Notice, profile, with_corpus
from myxtts.tools.summary import Summary, finding_json, summarize

Result = TypeVar("Result")


@dataclass
class Diagnosis:
    """What was found; None: see `not_measured`."""

    environment: Environment
    prerequisites: list[Finding]
    checks: dict[str, Finding | None]
    """Each check of the configuration, and what it found."""
    settings: list[tuning.Setting] | None = None
    text: Timing | None = None
    audio: Timing | None = None
    waits: BatchWaits | None = None
    summary: Summary | None = None
    not_measured: dict[str, str] = field(default_factory=dict)
    """What -> why."""
    findings: list[Finding] = field(default_factory=list)
    """All of them, the most important first, each rule and change once."""

    @property
    def exit_code(self) -> int:
        """1 when something must be fixed, by a finding or by the run's verdict, else 0."""
        return max(exit_code(self.findings), self.summary.exit_code if self.summary else GOOD)

    def as_json(self, language: Language) -> dict[str, Any]:
        """Plain data, for `--json`."""
        verdict = self.summary and self.summary.verdict
        return {
            "verdict": verdict and verdict.as_json(language),
            "environment": self.environment.as_json(),
            "checks": {name: found is None for name, found in self.checks.items()},
            "settings": self.settings and [
                asdict(one) | {"taken": one.taken} for one in self.settings
            ],
            "text": self.text and self.text.as_json(),
            "audio": self.audio and self.audio.as_json(),
            "waits": self.waits and asdict(self.waits),
            "run": self.summary and self.summary.as_json(language),
            "not_measured": self.not_measured,
            "findings": [finding_json(one, language) for one in self.findings],
        }  # fmt: skip


def diagnose(config: Config, folder: Path, *, steps: int, notice: Notice) -> Diagnosis:
    """Look at everything; with `steps` of 0 nothing is trained."""
    found = environment()
    result = Diagnosis(found, [], _checks(config, found))
    seen, reason, broken = None, "TensorFlow is not installed", []
    try:
        seen = tensorflow_gpus()
    except UserError as unusable:
        reason = f"{unusable.rule}: {unusable.received}"
        change = Change(command=unusable.remedy)
        broken = [Finding("tensorflow_broken", "fix", {"reason": reason}, None, change)]
    result.prerequisites = [*broken, *prerequisites(found, seen)]
    if seen is None:
        result.not_measured |= dict.fromkeys(("settings", "data pipeline", "run"), reason)
    else:
        _measure(result, config, folder, steps, notice)
    result.findings = _merged(config, result)
    return result


def _checks(config: Config, found: Environment) -> dict[str, Finding | None]:
    return {name: check(config, found.cores, found.gpu_memory_mb) for name, check in CHECKS.items()}


def _measure(result: Diagnosis, config: Config, folder: Path, steps: int, notice: Notice) -> None:
    def attempt(name: str, work: Callable[[], Result]) -> Result | None:
        try:
            return work()
        except UserError as error:
            result.not_measured[name] = str(error).replace("\n", "; ")
            return None

    cores = result.environment.cores
    result.settings = attempt("settings", lambda: tuning.verify(tuning.apply(config, cores)))
    ready = attempt("corpus", lambda: with_corpus(config, notice))
    if ready is None or not _usable(result, ready):
        return
    timings = attempt("data pipeline", lambda: time_corpus(ready))
    if timings is not None:
        result.text, result.audio = timings
    if steps == 0:
        result.not_measured["run"] = "--num-steps 0"
        return
    session = attempt("run", lambda: profile(ready, folder, steps=steps, notice=notice))
    if session is not None:
        result.waits = attempt("waits", lambda: batch_waits(session))
        result.summary = summarize(session)


def _usable(result: Diagnosis, config: Config) -> bool:
    """Whether there is anything to train on; if not, that is what must be fixed."""
    from myxtts.data.ljspeech import read_corpus

    folder = Path(str(config.data.train_data))
    try:
        clips = read_corpus(folder)
        wrong = "" if any(clip.audio.is_file() for clip in clips) else "its audio is missing"
        remedy = "myxtts corpus check FOLDER"
    except UserError as refused:
        wrong, remedy = refused.rule, refused.remedy
    if not wrong:
        return True
    evidence = {"folder": str(folder), "reason": wrong}
    result.prerequisites.append(
        Finding("corpus_unusable", "fix", evidence, None, Change(command=remedy))
    )
    result.not_measured |= dict.fromkeys(("data pipeline", "run"), wrong)
    return False


def _merged(config: Config, result: Diagnosis) -> list[Finding]:
    found = [
        *result.prerequisites,
        *(one for one in result.checks.values() if one is not None),
        *tuning.not_taken(result.settings or []),
        *(uneven_audio(config, result.audio) if result.audio else []),
        *(result.summary.findings if result.summary else []),
    ]
    return list({(one.rule, str(one.change)): one for one in ordered(found)}.values())
