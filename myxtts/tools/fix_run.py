"""`fix` on a configuration file: short real runs decide, and the file changes once, at the end.

Until a change has proved itself, it lives in the configurations of the trial runs alone: a process
that is killed, or a Ctrl-C, finds the user's file as it was, byte for byte. What helped is then
written in one atomic step, after the backup. The loop of trials is `fix_loop`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from myxtts.config import Config, parse
from myxtts.telemetry.session import Session, load
from myxtts.tools import change_file, pieces
from myxtts.tools.candidates import candidates
from myxtts.tools.environment import Environment
from myxtts.tools.fix_loop import Candidate, Measure, Outcome, Settings, Trial, improve
from myxtts.tools.plan import Planner
from myxtts.tools.what_to_try import survey
from myxtts.training import child_run

TRIALS = 6


@dataclass(frozen=True)
class Fixed:
    """What became of a file."""

    outcome: Outcome
    diff: str
    """From the file as it was to the file as it is, or would be; empty: nothing helped."""
    backup: Path | None
    """What the file was; None: it was not changed."""

    def as_json(self) -> dict[str, Any]:
        """Plain data, for `--json`."""
        return {
            "kept": dict(self.outcome.settings),
            "gain": self.outcome.gain,
            "trials": [trial_json(trial) for trial in self.outcome.trials],
        }


class ShortRuns:
    """Measures settings by training a few steps with them, each run in a process of its own."""

    def __init__(self, config: Config, folder: Path, steps: int, first: Session) -> None:
        """`first` is a recorded run of the configuration as it is."""
        self._config = config
        self._folder = folder
        # Steps that live on full buffers are not counted, so there are as many more.
        self._steps = steps + pieces.TIMES_OVER * pieces.capacity(first)
        self._runs = 0
        self._latest: dict[str, Session] = {_key({}): first}

    def __call__(self, settings: Settings) -> list[float]:
        self._runs += 1
        folder = self._folder / f"trial-{self._runs:02}"
        folder.mkdir(parents=True, exist_ok=True)
        told = child_run.shortened(with_settings(self._config, settings), folder, self._steps)
        with (folder / "words.txt").open("wb") as words:
            session = child_run.recorded(told, folder, f"The trial run {self._runs}", words)
        self._latest[_key(settings)] = session
        return pieces.rates(session)

    def latest(self, settings: Settings) -> Session:
        """The newest recording of these settings."""
        return self._latest[_key(settings)]

    def config(self, settings: Settings) -> Config:
        return with_settings(self._config, settings)


def worth_trying(
    runs: ShortRuns,
    machine: Environment,
    *,
    keep_batch: bool,
    planned: Candidate | None = None,
) -> Callable[[Settings], list[Candidate]]:
    """Candidates for any settings that were measured; what was `planned` comes first."""

    def of(settings: Settings) -> list[Candidate]:
        found = candidates(
            runs.latest(settings),
            runs.config(settings),
            machine.cores,
            machine.gpu_memory_mb,
            keep_batch=keep_batch,
        )
        return found if planned is None or settings else [planned, *found]

    return of


def planned_from(run: Path) -> Candidate | None:
    """The best that the plan of a recorded run knows; None: it advises nothing."""
    best = survey(Planner(load(run))).best
    return None if best is None else Candidate(best.settings, "plan", best.ratio.point)


def fix_file(
    file: Path,
    candidates_of: Callable[[Settings], list[Candidate]],
    measure: Measure,
    *,
    most_trials: int = TRIALS,
    tell: Callable[[Trial], None] | None = None,
) -> Fixed:
    """Try, keep what helps, and write it into the file with a backup beside it."""
    outcome = improve({}, candidates_of, measure, most_trials=most_trials, tell=tell)
    changes = change_file.diff(file, outcome.settings)
    backup = change_file.apply(file, outcome.settings) if changes else None
    return Fixed(outcome, changes, backup)


def with_settings(config: Config, settings: Settings) -> Config:
    """The same configuration with these keys; None is a value like any other."""
    tree = config.model_dump()
    for key, value in settings.items():
        section, field = key.split(".")
        tree[section][field] = value
    return parse(tree, "the trial")


def trial_json(trial: Trial) -> dict[str, Any]:
    """Plain data; rates in useful frames a second."""
    ratio = trial.ratio
    return {
        "settings": dict(trial.candidate.settings),
        "why": trial.candidate.why,
        "expected": trial.candidate.expected,
        "verdict": trial.verdict,
        "ratio": ratio and {"low": ratio.low, "point": ratio.point, "high": ratio.high},
        "before": trial.before,
        "after": trial.after,
        "runs": trial.runs,
        "problem": trial.problem,
    }


def _key(settings: Settings) -> str:
    return str(sorted(settings.items(), key=str))
