"""What a step's telemetry costs: the real loop and journal around a step that computes nothing.

With telemetry, the loop of a training run: ledger, waits and their blame, the step's record in
run.jsonl, reports and TensorBoard's curves every 50 steps. Without, the bare `for batch in feeder`,
with the same threads behind it. Both take turns, so that what else the machine does meets both.

A percent of a 50 ms step is below what two such runs differ by. So the figure comes from steps
that return at once, where the telemetry is most of the time; runs of 50 ms steps, with and without,
stand beside it.
"""

from __future__ import annotations

import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

STEP = 0.050
"""Seconds of the step that the cost is compared with."""
RESAMPLES = 10_000
FACTS = {"bucket": 0, "clips": [f"clip-{i:05d}" for i in range(16)], "useful": 5000, "padded": 6400}


def measure(pairs: int, idle_steps: int, real_steps: int) -> dict[str, Any]:
    """`pairs` runs with and without telemetry, of steps that do nothing and of 50 ms steps."""
    idle = np.array(list(_differences(pairs + 1, idle_steps, 0.0))[1:])  # the first loads modules
    real = np.array(list(_differences(pairs, real_steps, STEP)))
    cost, low, high = with_interval(1e6 * idle)
    share, least, most = with_interval(100.0 * real / STEP)
    return {
        "microseconds": round(cost, 1),
        "low": round(low, 1),
        "high": round(high, 1),
        "pct_of_a_50_ms_step": round(cost / STEP / 1e4, 4),
        "pairs": pairs,
        "runs_of_50_ms_steps": {
            "steps": real_steps,
            "difference_pct": round(share, 3),
            "low": round(least, 3),
            "high": round(most, 3),
        },
    }


def with_interval(found: np.ndarray) -> tuple[float, float, float]:
    """With the interval that holds 95 of 100 medians of as many measurements."""
    chosen = np.random.default_rng(1).integers(0, len(found), (RESAMPLES, len(found)))
    low, high = np.percentile(np.median(found[chosen], axis=1), (2.5, 97.5))
    return float(np.median(found)), float(low), float(high)


def _differences(pairs: int, steps: int, seconds: float) -> Iterator[float]:
    """Seconds a step, pair by pair; which of the two comes first changes every time."""
    with tempfile.TemporaryDirectory(prefix="myxtts-telemetry-") as folder:
        for number in range(pairs):
            run = Path(folder) / f"run-{number}"
            if number % 2:
                bare = _bare(steps, seconds)
                recorded = _recorded(steps, seconds, run)
            else:
                recorded = _recorded(steps, seconds, run)
                bare = _bare(steps, seconds)
            yield (recorded - bare) / steps


class _Step:
    """A training step that sleeps."""

    def __init__(self, seconds: float) -> None:
        self.shortages: deque[Any] = deque()
        self.compilations = 3
        self.optimizer = None
        self._seconds = seconds

    def __call__(self, *_: Any, **__: Any) -> dict[str, float]:
        if self._seconds:
            time.sleep(self._seconds)
        return {"total": 1.0, "mel": 0.5, "prior": 0.4, "duration": 1.0}


def _feeder(steps: int) -> Any:
    """Batches that are ready at once, through the threads and rings of a real run."""
    from myxtts.training.feeder import Feeder
    from myxtts.training.stages import Lane, Parcel, Stage

    def load(parcel: Parcel) -> None:
        parcel.facts = dict(FACTS)

    def nothing(parcel: Parcel) -> None:
        parcel.batch = parcel.step

    device = (Stage("upload", nothing), Stage("preprocess", nothing), Stage("transfer", nothing))
    lanes = [Lane("host", 4, (Stage("load", load),)), Lane("ready", 3, device)]
    return Feeder(range(steps), lanes)


def _bare(steps: int, seconds: float) -> float:
    step = _Step(seconds)
    with _feeder(steps) as feeder:
        feeder.start()
        started = time.perf_counter()
        for parcel in feeder:
            step(parcel.batch)
        return time.perf_counter() - started


def _recorded(steps: int, seconds: float, folder: Path) -> float:
    from myxtts.config import Config
    from myxtts.telemetry.accounts import Ledger
    from myxtts.training.journal import Journal
    from myxtts.training.loop import Loop
    from myxtts.training.planting import Delays
    from myxtts.training.progress import Gauges, Silent
    from myxtts.training.run_folder import RunFolder

    config = Config().replaced({"training.output_dir": str(folder)})
    paths, ledger = RunFolder(config), Ledger()
    gauges = Gauges(memory_mb=800, learning_rate=1e-3, loss_scale=None, depth=3)
    journal = Journal(paths, ledger, Silent(), steps, config.training, lambda: gauges)
    trained: Any = SimpleNamespace(
        step=_Step(seconds),
        config=config,
        path=SimpleNamespace(shortages=deque()),
        delays=Delays(),
    )
    milestones: Any = SimpleNamespace(reached=lambda _: False, stopped=False)
    loop = Loop(trained, paths.checkpoints, 0, steps, ledger, journal, milestones)
    with _feeder(steps) as feeder:
        feeder.start()
        started = time.perf_counter()
        loop.run(feeder)
        taken = time.perf_counter() - started
    journal.end("finished")
    return taken
