"""What 100 profiled steps cost over the same steps unprofiled.

Profiled: the loop of a run with its ledger, waits, records, reports and curves, and a loader that
tells reading from decoding. Unprofiled: a bare `for` over the same threads, rings, loader and
preprocessor, with none of it. Both take 50 ms steps of the stand-in for the model, on two logical
devices and a real corpus, and take turns. A profile's rates come after its steps and are not in it.
"""

from __future__ import annotations

import tempfile
import time
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from telemetry_cost import with_interval

STEPS = 100
PAIRS = 12
STEP = 0.050
CLIPS = 96


def measure(pairs: int) -> dict[str, Any]:
    """Percent of a step, the median over pairs of runs, with the interval of 95 %."""
    with tempfile.TemporaryDirectory(prefix="myxtts-profile-") as scratch:
        bench = _Bench(Path(scratch))
        bench.bare()  # loads modules, reads the corpus, traces
        bench.profiled(0)
        found = []
        for number in range(1, pairs + 1):
            if number % 2:
                bare, profiled = bench.bare(), bench.profiled(number)
            else:
                profiled, bare = bench.profiled(number), bench.bare()
            found.append(100.0 * (profiled / bare - 1.0))
        middle, low, high = with_interval(np.array(found))
    return {
        "pct": round(middle, 3), "low": round(low, 3), "high": round(high, 3), "pairs": pairs,
        "steps": STEPS, "step_ms": 1e3 * STEP,
    }  # fmt: skip


class _Bench:
    """The parts that both ways share."""

    def __init__(self, scratch: Path) -> None:
        from myxtts import devices
        from myxtts.config import Config
        from myxtts.data import demo_corpus
        from myxtts.training.memory_isolated_trainer import MemoryIsolatedTrainer
        from myxtts.training.study import Study

        corpus = demo_corpus.make(scratch / "corpus", clips=CLIPS, seed=3)
        self._scratch = scratch
        self._config = Config().replaced(
            {
                "data.train_data": str(corpus), "data.batch_size": 8, "data.max_buckets": 2,
                "data.virtual_gpus": 2, "data.data_gpu": 0, "data.model_gpu": 1,
                "training.output_dir": str(scratch / "run"), "training.max_steps": STEPS,
            }
        )  # fmt: skip
        plan = devices.place(self._config.data)
        trainer = MemoryIsolatedTrainer(self._config, plan, study=Study(dummy_step=STEP))
        self._data, self._path, self._step = trainer.data, trainer.path, trainer.step
        for bucket in range(len(self._data.buckets)):
            self._step.compile(self._path.example(bucket))

    def bare(self) -> float:
        """Seconds of the steps alone."""
        self._data.loader.parts = None
        with self._feeder() as feeder:
            feeder.wait_until_warm(2.0)
            started = time.perf_counter()
            for parcel in feeder:
                self._step(parcel.batch)
            return time.perf_counter() - started

    def profiled(self, number: int) -> float:
        """Seconds of the same steps, recorded."""
        from myxtts.data.load_parts import LoadParts
        from myxtts.telemetry.accounts import Ledger
        from myxtts.training.journal import Journal
        from myxtts.training.loop import Loop
        from myxtts.training.planting import Delays
        from myxtts.training.progress import Gauges, Silent
        from myxtts.training.run_folder import RunFolder

        self._data.loader.parts = LoadParts()
        folder = str(self._scratch / f"profiled-{number}")
        config = self._config.replaced(
            {"training.output_dir": folder, "training.report_interval": 10}
        )
        paths, ledger = RunFolder(config), Ledger()
        gauges = Gauges(memory_mb=800, learning_rate=1e-3, loss_scale=None, depth=3)
        journal = Journal(paths, ledger, Silent(), STEPS, config.training, lambda: gauges)
        shortages: deque[Any] = deque()
        trained: Any = SimpleNamespace(
            step=self._step,
            config=config,
            path=SimpleNamespace(shortages=shortages),
            delays=Delays(),
        )
        milestones: Any = SimpleNamespace(reached=lambda _: False, stopped=False)
        loop = Loop(trained, paths.checkpoints, 0, STEPS, ledger, journal, milestones)
        with self._feeder() as feeder:
            feeder.wait_until_warm(2.0)
            started = time.perf_counter()
            loop.run(feeder)
            taken = time.perf_counter() - started
        journal.end("finished")
        return taken

    def _feeder(self) -> Any:
        from myxtts.training.feeder import Feeder

        load = self._path.load_stage(self._data.loader.batches(0, STEPS))
        feeder = Feeder(range(STEPS), self._path.lanes(load, 3))
        feeder.start()
        return feeder
