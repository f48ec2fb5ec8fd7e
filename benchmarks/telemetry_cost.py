"""What a step's telemetry costs: the real loop and journal around a step that does nothing.

    python benchmarks/telemetry_cost.py

With telemetry, the loop of a training run: ledger, waits and their blame, the step's record in
run.jsonl, reports and TensorBoard's curves every 50 steps. Without, the bare `for batch in feeder`.
The same feeder, with its threads, runs in both. They take turns, so that what else the machine does
meets both; the difference of each pair is one measurement. `measure` is what other benchmarks call.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

STEP_MS = 50.0
"""The step that the cost is compared with."""
FACTS = {"bucket": 0, "clips": [f"clip-{i:05d}" for i in range(16)], "useful": 5000, "padded": 6400}


@dataclass(frozen=True)
class Cost:
    """Of one step's telemetry; the interval holds the middle 95 % of the pairs' medians."""

    microseconds: float
    lowest: float
    highest: float
    pairs: int
    steps_per_run: int

    @property
    def percent(self) -> float:
        """Of a step of `STEP_MS`."""
        return self.microseconds / (10.0 * STEP_MS)


class IdleStep:
    """A training step that returns at once."""

    def __init__(self) -> None:
        self.shortages: deque[Any] = deque()
        self.compilations = 3
        self.optimizer = None

    def __call__(self, *_: Any, **__: Any) -> dict[str, float]:
        return {"total": 1.0, "mel": 0.5, "prior": 0.4, "duration": 1.0}


def measure(pairs: int = 20, steps: int = 500) -> Cost:
    """Take turns with and without telemetry, after a pair that does not count."""
    found = list(_differences(pairs + 1, steps))[1:]
    draws = sorted(_medians(found))
    low, high = draws[int(0.025 * len(draws))], draws[int(0.975 * len(draws))]
    return Cost(statistics.median(found), low, high, pairs, steps)


def _differences(pairs: int, steps: int) -> Iterator[float]:
    """Microseconds a step, pair by pair; which of the two comes first changes every time."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(pairs):
            run = Path(folder) / f"run-{number}"
            if number % 2:
                bare = _bare(steps)
                recorded = _recorded(steps, run)
            else:
                recorded = _recorded(steps, run)
                bare = _bare(steps)
            yield 1e6 * (recorded - bare) / steps


def _medians(found: list[float], draws: int = 2000) -> Iterator[float]:
    """Medians of samples drawn with replacement."""
    import random

    chance = random.Random(0)
    for _ in range(draws):
        yield statistics.median(chance.choices(found, k=len(found)))


def _feeder(steps: int) -> Any:
    """Batches that are ready at once, through the threads and rings of a real run."""
    from myxtts.training.feeder import Feeder, Lane, Parcel, Stage

    def load(parcel: Parcel) -> None:
        parcel.facts = dict(FACTS)

    def nothing(parcel: Parcel) -> None:
        parcel.batch = parcel.step

    device = (Stage("upload", nothing), Stage("preprocess", nothing), Stage("transfer", nothing))
    lanes = [Lane("host", 4, (Stage("load", load),)), Lane("ready", 3, device)]
    return Feeder(range(steps), lanes)


def _bare(steps: int) -> float:
    step = IdleStep()
    with _feeder(steps) as feeder:
        feeder.start()
        started = time.perf_counter()
        for parcel in feeder:
            step(parcel.batch)
        return time.perf_counter() - started


def _recorded(steps: int, folder: Path) -> float:
    from myxtts.config import Config
    from myxtts.telemetry.accounts import Ledger
    from myxtts.training.journal import Journal
    from myxtts.training.loop import Loop
    from myxtts.training.progress import Gauges, Silent
    from myxtts.training.run_folder import RunFolder

    config = Config().replaced({"training.output_dir": str(folder)})
    paths, ledger = RunFolder(config), Ledger()
    gauges = Gauges(memory_mb=800, learning_rate=1e-3, loss_scale=None, depth=3)
    journal = Journal(paths, ledger, Silent(), steps, config.training, lambda: gauges)
    trained: Any = SimpleNamespace(
        step=IdleStep(), config=config, path=SimpleNamespace(shortages=deque())
    )
    milestones: Any = SimpleNamespace(reached=lambda _: False, stopped=False)
    loop = Loop(trained, paths.checkpoints, 0, steps, ledger, journal, milestones)
    with _feeder(steps) as feeder:
        feeder.start()
        started = time.perf_counter()
        loop.run(feeder)
        seconds = time.perf_counter() - started
    journal.end("finished")
    return seconds


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--num-steps", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    cost = measure(told.pairs, told.num_steps)
    if told.json:
        print(json.dumps(asdict(cost) | {"percent_of_50_ms": cost.percent}))
    else:
        print(
            f"telemetry: {cost.microseconds:.0f} µs a step ({cost.lowest:.0f}–{cost.highest:.0f}), "
            f"{cost.percent:.2f} % of a step of {STEP_MS:.0f} ms"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
