"""Does `myxtts fix` end near the best? Twenty misconfigured runs, and a grid measured beside them.

    python benchmarks/tools_fix.py            # about 10 minutes
    python benchmarks/tools_fix.py --quick    # two cases, to see that it works

Every case is a machine (what each stage costs) and a configuration with something wrong in it. Runs
sleep instead of computing, through the product's own shapes, lanes, threads and loop. `fix` sees
what it always sees: a recorded run and the settings. Then its result, the best of a grid and the
configuration as it was are measured in turn.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from notes import Notes, Say, write

NEAR = 0.90
"""Of the best of the grid."""
STEPS = 72
"""Counted steps of a run with batches of 16; larger batches take fewer."""
ROUNDS = 3
"""Of the final comparison."""
MOST_TRIALS = 14
AT_ONCE = 3
"""Cases side by side: they sleep, but waking up takes a core."""

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A machine by what differs from the usual one, and the keys of `data` that are wrong."""

    name: str
    machine: dict[str, Any]
    wrong: dict[str, Any]
    dual: bool = True


SLOW_LIVE = {"live": (1.0, 2.0), "train": (3.0, 1.0)}
JITTER = {"load": 0.8, "preprocess": 0.8}
EVEN = {"load": (1.0, 3.8), "cached": (1.0, 0.9), "train": (3.0, 1.0), "jitter": JITTER}
DECODED = {"decode": 5.0, "train": (3.0, 1.0)}
OFF = {"optimize_cpu_gpu_overlap": False}
ONE_BUFFER = {"pipeline_depth": 1, "adaptive_depth": False, "prefetch_buffer_size": 1}
CASES = (
    Case("overlap off", {"live": (1.0, 0.9)}, OFF | {"features": "live"}),
    Case("overlap off, slow loading", {"load": (1.0, 2.5)}, OFF),
    Case("one buffer, jitter", EVEN, ONE_BUFFER),
    Case("one buffer, stalls", {"stalls": (0.08, 90.0), "load": (1.0, 1.0)}, ONE_BUFFER),
    Case("uploads late", {"upload": (1.0, 0.6), "cached": (1.0, 0.6)}, {"prefetch_to_gpu": False}),
    Case("Python loading", DECODED, {"use_tf_native_loading": False}),
    Case("Python loading, one worker", DECODED, {"use_tf_native_loading": False, "num_workers": 1}),
    Case("one shape", {}, {"static_shapes": "single"}),
    Case("one bucket", {}, {"max_buckets": 1}),
    Case("shapes change", {}, {"pad_to_fixed_length": False}),
    Case("batch of 2", {"train": (8.0, 1.0)}, {"batch_size": 2}),
    Case("batch of 4", {"train": (5.0, 0.8)}, {"batch_size": 4}),
    Case("live features on a slow device", SLOW_LIVE, {"features": "live"}),
    Case("one worker", {"load": (1.0, 3.5)}, {"num_workers": 1}),
    Case("slow disk", {"disk": 6.0}, {}),
    Case("few in flight", EVEN, {"pipeline_buffer_size": 1}),
    Case("overlap off, live, small batch", SLOW_LIVE, OFF | {"features": "live", "batch_size": 4}),
    Case(
        "one worker, one shape", {"load": (1.0, 3.0)}, {"num_workers": 1, "static_shapes": "single"}
    ),
    Case(
        "Python loading, overlap off, shapes change",
        DECODED,
        OFF | {"use_tf_native_loading": False, "pad_to_fixed_length": False},
    ),
    Case("nothing wrong", {}, {"batch_size": 64}),
)
GRID: dict[str, tuple[Any, ...]] = {
    "batch_size": (16, 32, 64),
    "pipeline_depth": (3, 8),
    "enhanced_gpu_prefetch": (False, True),
}
HEALTHY = {
    "optimize_cpu_gpu_overlap": True,
    "use_tf_native_loading": True,
    "pad_to_fixed_length": True,
    "static_shapes": "buckets",
    "max_buckets": 8,
    "features": "cached",
    "num_workers": 0,
    "cache_dataset": True,
    "prefetch_to_gpu": True,
    "prefetch_buffer_size": 8,
    "adaptive_depth": True,
    "pipeline_buffer_size": 50,
}
"""The grid varies what depends on the machine; the rest of it has no downside here."""


@dataclass(frozen=True)
class Found:
    """One case; useful frames a second, medians over rounds of the final comparison."""

    case: str
    before: float
    after: float
    best: float
    worse: bool
    """Slower than before in every round, and by more than 3 % in all."""
    kept: dict[str, Any]
    best_settings: dict[str, Any]
    trials: list[str]
    """Each change that was tried, and what came of it."""
    runs: int
    seconds: float

    @property
    def near(self) -> bool:
        return self.after >= NEAR * self.best

    def to_json(self) -> dict[str, Any]:
        return {
            "case": self.case,
            "before": round(self.before),
            "after": round(self.after),
            "best_of_grid": round(self.best),
            "after_vs_best": round(self.after / self.best, 3),
            "after_vs_before": round(self.after / self.before, 3),
            "near_the_best": self.near,
            "worse": self.worse,
            "kept": self.kept,
            "best_settings": self.best_settings,
            "trials": self.trials,
            "runs": self.runs,
            "seconds": round(self.seconds),
        }


def run(say: Say, *, quick: bool) -> dict[str, Any]:
    """All cases, a few at once; the figures of `fix`."""
    return measure(CASES[:2] if quick else CASES, say)


def measure(cases: Sequence[Case], say: Say) -> dict[str, Any]:
    """These cases."""
    with ProcessPoolExecutor(AT_ONCE, mp_context=get_context("spawn")) as pool:
        found = []
        for one in pool.map(_fixed, cases):
            found.append(one)
            told = one.to_json()
            say(
                f"{one.case}: {told['after_vs_before']} x before, {told['after_vs_best']} of the "
                f"best, {told['runs']} runs, kept {told['kept']}"
            )
    return {
        "fix_cases": len(found),
        "fix_improved": sum(one.near and not one.worse for one in found),
        "fix_worse": sum(one.worse for one in found),
        "fix_median_of_best": round(statistics.median(one.after / one.best for one in found), 3),
        "fix_least_of_best": round(min(one.after / one.best for one in found), 3),
        "cases": [one.to_json() for one in found],
    }


def _fixed(case: Case) -> Found:
    """In a process of its own."""
    from sleeping_run import Machine, record

    from myxtts.config import Config
    from myxtts.telemetry.session import Session
    from myxtts.tools import fix_loop, pieces
    from myxtts.tools.candidates import candidates

    begin = time.monotonic()
    machine = Machine(**case.machine)
    wrong = {f"data.{key}": value for key, value in case.wrong.items()}
    sessions: dict[str, Session] = {}
    runs = 0

    def recorded(settings: Settings, *, rates: bool = False) -> Session:
        nonlocal runs
        runs += 1
        config = Config().replaced(wrong | dict(settings))
        counted = min(2 * STEPS, max(STEPS // 2, STEPS * 16 // config.data.batch_size))
        ahead = config.data.host_batches_ahead + config.data.pipeline_depth + 2
        steps = counted + pieces.TIMES_OVER * min(ahead, counted // pieces.TIMES_OVER)
        return record(config, machine, steps, dual=case.dual, rates=rates, seed=runs)

    def measured(settings: Settings) -> list[float]:
        found = recorded(settings)
        sessions.setdefault(_key(settings), found)
        return pieces.rates(found)

    def worth_trying(settings: Settings) -> list[fix_loop.Candidate]:
        key = _key(settings)
        if not any(sessions[key].of_kind("rate")) if key in sessions else True:
            sessions[key] = recorded(settings, rates=True)
        config = Config().replaced(wrong | dict(settings))
        return candidates(sessions[key], config, machine.cores, ())

    outcome = fix_loop.improve({}, worth_trying, measured, most_trials=MOST_TRIALS)
    tried = runs
    names = list(GRID)
    grid = [
        {
            f"data.{key}": value
            for key, value in (HEALTHY | dict(zip(names, values, strict=True))).items()
        }
        for values in product(*GRID.values())
    ]
    best = max(grid, key=lambda settings: _rate(measured(settings)))
    turns = [[_rate(measured(one)) for one in ({}, outcome.settings, best)] for _ in range(ROUNDS)]
    before, after, top = (statistics.median(column) for column in zip(*turns, strict=True))
    return Found(
        case=case.name,
        before=before,
        after=after,
        best=top,
        worse=after < 0.97 * before and all(turn[1] < turn[0] for turn in turns),
        kept=dict(outcome.settings),
        best_settings={key: best[f"data.{key}"] for key in GRID},
        trials=[
            f"{dict(trial.candidate.settings)}: {trial.verdict}"
            + (
                f" {trial.ratio.point:.2f} ({trial.ratio.low:.2f}-{trial.ratio.high:.2f})"
                if trial.ratio
                else ""
            )
            for trial in outcome.trials
        ],
        runs=tried,
        seconds=time.monotonic() - begin,
    )


def _key(settings: Settings) -> str:
    return json.dumps(dict(settings), sort_keys=True)


def _rate(rates: Sequence[float]) -> float:
    return len(rates) / math.fsum(1 / rate for rate in rates)


def main() -> None:
    """Measure and print; the result is written only where it is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two cases")
    parser.add_argument("--only", action="append", help="this case alone, by its name")
    parser.add_argument("--output", type=Path, help="folder of tools-fix.json")
    options = parser.parse_args()
    notes = Notes()
    chosen = [case for case in CASES if not options.only or case.name in options.only]
    result = run(notes.say, quick=True) if options.quick else measure(chosen, notes.say)
    print(json.dumps(result, indent=2))
    if options.output is not None:
        write(options.output, "tools-fix", result | notes.about())


if __name__ == "__main__":
    main()
