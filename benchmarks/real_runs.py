"""Real trainings in one process that take turns; and every stage timed alone, in turn as well.

The speed of a shared machine drifts by half within seconds. So all runs of a group advance
together, a few steps each, round after round: what slows one slows all. Two virtual devices are
placed once, and one compiled step trains every run: what is measured is the way of the batches and
the step's speed, and compiling the same program for each run would take most of the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from myxtts import devices
from myxtts.config import Config
from myxtts.devices import DevicePlan
from myxtts.telemetry import session
from myxtts.telemetry.run_log import RunLog
from myxtts.telemetry.session import Session
from myxtts.training.checkpoint import Checkpoint
from myxtts.training.milestones import Trained
from myxtts.training.step import TrainStep
from myxtts.training.trainer import Trainer

TWO = {"data.virtual_gpus": 2, "data.data_gpu": 0, "data.model_gpu": 1}
RATE_TURNS = 3
"""How often every stage is timed alone in each round."""

Timed = tuple[dict[str, Any], Callable[[Any], Any], Any]
"""A rate event, what is timed, and its argument."""


class Run(Trainer):
    """A training that advances when it is told to; `shared` is the step of another one."""

    def __init__(self, config: Config, plan: DevicePlan, shared: TrainStep | None) -> None:
        self._shared = shared
        super().__init__(config, plan)
        self._first_steps: set[int] = set()
        self._timed: list[Timed] | None = None

    def compile(self) -> None:
        """Everything that the first step needs."""
        self._loop.warm_up()

    def advance(self, counted: int) -> None:
        """Train some steps after those that live on batches prepared before the first of them."""
        data = self.config.data
        ahead = data.pipeline_depth + data.host_batches_ahead + 2
        unseen = ahead if data.optimize_cpu_gpu_overlap else 1
        self._first_steps |= set(range(self.step_number, self.step_number + unseen))
        self.total_steps = self.step_number + unseen + counted
        with self._batches() as feeder:
            feeder.start()
            self._wait_until_warm(feeder)
            self._loop.run(feeder)

    def time_alone(self) -> None:
        """Every stage, with whole batches and with about half of their rows."""
        if self._timed is None:
            self._timed = _stages(self)
            for _, work, argument in self._timed:
                work(argument)  # compiles
        for _ in range(RATE_TURNS):
            for event, work, argument in self._timed:
                begin = time.perf_counter()
                work(argument)
                event["seconds"].append(time.perf_counter() - begin)

    def recorded(self) -> Session:
        """What was recorded, without the steps that say nothing about the pipeline."""
        self._journal.end("finished", steps=self.step_number)
        self.data.loader.close()
        if self._timed is not None:
            with RunLog(self.folder.log) as log:
                for event, _, _ in self._timed:
                    log.write("rate", **event)
        found = session.load(self.folder.path)
        kept = tuple(step for step in found.steps if step.step not in self._first_steps)
        return replace(found, steps=(found.steps[0], *kept))

    def _build(self, found: Checkpoint | None) -> Trained:
        trained = super()._build(found)
        return trained if self._shared is None else replace(trained, step=self._shared)


class Workshop:
    """Makes runs around one step; `settings` are common to all."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self._folder = folder
        self._base = Config().replaced(settings | TWO)
        self._plan = devices.place(self._base.data)
        self._step: TrainStep | None = None
        self._runs = 0

    def run(self, settings: dict[str, Any], *, dual: bool = True) -> Run:
        """A training with these settings, compiled, on two devices or on one."""
        self._runs += 1
        folder = self._folder / f"run-{self._runs:03}"
        told = self._base.replaced(settings | {"training.output_dir": str(folder)})
        model = self._plan.model_device
        # One device is the one that trains in the dual plan: the step is compiled for it.
        plan = self._plan if dual else DevicePlan("one", model, model, virtual=True)
        run = Run(told, plan, self._step)
        self._step = run.step
        run.compile()
        return run


def _stages(run: Run) -> list[Timed]:
    """Of the first bucket: one is enough where all runs have one shape."""
    loader, bucket, path = run.data.loader, run.data.buckets[0], run.path
    rows, length = bucket.batch_size, bucket.mel_frames
    whole, preprocess = loader.load(0), path._preprocessor

    def event(stage: str, rows: int) -> dict[str, Any]:
        frames = rows * length
        return {"stage": stage, "bucket": 0, "rows": rows, "frames": frames, "seconds": []}

    found: list[Timed] = [
        (event("load", rows), loader.load, 0),
        (event("upload", rows), preprocess.upload, whole),
    ]
    for some in dict.fromkeys((rows, max(1, rows // 2))):
        part = {name: array[:some] if array.ndim else array for name, array in whole.items()}
        found.append((event("preprocess", some), preprocess, preprocess.upload(part)))
        found.append((event("training", some), run.step, path.at_once(part)))
    if path.route is not None:
        found.append((event("transfer", rows), path.route, preprocess(whole)))
    return found
