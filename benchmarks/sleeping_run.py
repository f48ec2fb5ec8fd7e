"""A training run that sleeps instead of computing: real settings, real threads, real recording.

Shapes, sampler, lanes, feeder, loop and journal are the product's; only what a stage computes is a
nap, whose length follows from the configuration as it would on a machine with devices of their
own: so much for a batch, so much for each of its frames. A run of a hundred steps takes a second or
two, and any number of cores is free meanwhile.
"""

from __future__ import annotations

import tempfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from myxtts.config import Config, DataConfig
from myxtts.data import buckets as shapes
from myxtts.data import lengths
from myxtts.data.sampler import Sampler
from myxtts.telemetry import session
from myxtts.telemetry.accounts import Ledger
from myxtts.telemetry.run_log import SCHEMA
from myxtts.telemetry.session import Session
from myxtts.training.batch_path import BatchPath
from myxtts.training.feeder import Feeder
from myxtts.training.journal import Journal
from myxtts.training.loop import Loop
from myxtts.training.planting import Delays
from myxtts.training.progress import Gauges, Silent
from myxtts.training.run_folder import RunFolder
from myxtts.training.stages import Parcel, Stage

CLIPS = 600
RATE_BATCHES = 4

Cost = tuple[float, float]
"""Milliseconds of a batch, and of a thousand frames of it."""


@dataclass(frozen=True)
class Machine:
    """What everything costs, and how much it varies."""

    load: Cost = (0.3, 0.2)
    decode: float = 0.6
    """Milliseconds of each clip that Python decodes with one worker."""
    disk: float = 0.0
    """Milliseconds of a thousand frames that come from the disk and not from memory."""
    upload: Cost = (0.2, 0.05)
    cached: Cost = (0.5, 0.1)
    live: Cost = (0.5, 0.5)
    transfer: Cost = (0.2, 0.05)
    train: Cost = (3.0, 1.0)
    compile: float = 80.0
    """Milliseconds for every shape that was never seen before."""
    cores: int = 4
    jitter: Mapping[str, float] = field(default_factory=dict)
    """Sigma of the log-normal times of a stage (or of `training`)."""
    stalls: tuple[float, float] = (0.0, 0.0)
    """How likely a load stalls, and for how many milliseconds."""
    shortest: int = 120
    longest: int = 780
    """Frames of the clips."""
    seed: int = 0

    def seconds(self, stage: str, data: DataConfig, rows: int, frames: int) -> float:
        """Of one batch of `rows` clips and `frames` padded frames, without jitter."""
        workers = min(data.num_workers or self.cores, self.cores)
        if stage == "load":
            cost = _of(self.load, frames)
            cost += 0.0 if data.cache_dataset else self.disk * frames / 1e3
            cost += 0.0 if data.use_tf_native_loading else self.decode * rows
            return cost / workers / 1e3
        if stage == "preprocess":
            return _of(self.cached if data.features == "cached" else self.live, frames) / 1e3
        return _of(getattr(self, "train" if stage == "training" else stage), frames) / 1e3


def _of(cost: Cost, frames: int) -> float:
    return cost[0] + cost[1] * frames / 1e3


def record(
    config: Config,
    machine: Machine,
    steps: int,
    *,
    dual: bool = True,
    rates: bool = True,
    seed: int = 0,
    folder: Path | None = None,
) -> Session:
    """Run `steps` steps and read back what was recorded."""
    with tempfile.TemporaryDirectory(prefix="myxtts-sleeping-") as scratch:
        run = _Run(config, machine, steps, folder or Path(scratch) / "run", dual=dual, seed=seed)
        run.train()
        if rates:
            run.time_alone()
        run.journal.end("finished", steps=steps)
        return session.load(run.paths.log)


class _Path(BatchPath):
    """The product's lanes around stages that nap."""

    def __init__(self, run: _Run, data_device: str, model_device: str) -> None:
        stand_in: Any = SimpleNamespace(device=data_device, shortages=deque())
        super().__init__(None, run.config.data, stand_in, model_device)
        self._run = run

    @cached_property
    def route(self) -> Any:
        crosses = self._preprocessor.device != self._model_device
        return SimpleNamespace(way="direct") if crosses else None

    def _upload(self, parcel: Parcel) -> None:
        self._run.nap("upload", parcel)

    def _preprocess(self, parcel: Parcel) -> None:
        self._run.nap("preprocess", parcel)

    def _transfer(self, parcel: Parcel) -> None:
        self._run.nap("transfer", parcel)


class _Step:
    """A training step that naps; a shape that it has not seen costs a compilation."""

    def __init__(self, run: _Run) -> None:
        self.shortages: deque[Any] = deque()
        self.compilations = 0
        self.optimizer = None
        self._run = run
        self._seen: set[Any] = set()

    def __call__(self, batch: Parcel, *, update: bool) -> dict[str, float]:
        del update
        shape = batch.facts["shape"]
        if shape not in self._seen:
            self._seen.add(shape)
            if not self._run.config.data.pad_to_fixed_length:
                self.compilations += 1
                time.sleep(self._run.machine.compile / 1e3)
        self._run.nap("training", batch)
        return {"total": 1.0}


class _Run:
    def __init__(
        self, config: Config, machine: Machine, steps: int, folder: Path, *, dual: bool, seed: int
    ) -> None:
        self.config = config.replaced({"training.output_dir": str(folder)})
        self.machine, self.steps = machine, steps
        self._rngs = {
            stage: np.random.default_rng([machine.seed, seed, number])
            for number, stage in enumerate((*session.STAGES, "training"))
        }  # each used by one thread
        self._lay_out_clips()
        self.paths, self.ledger = RunFolder(self.config), Ledger()
        gauges = Gauges(memory_mb=800, learning_rate=1e-3, loss_scale=None, depth=None)
        self.journal = Journal(
            self.paths, self.ledger, Silent(), steps, self.config.training, lambda: gauges
        )
        data, model = ("/GPU:0", "/GPU:1") if dual else ("/GPU:0", "/GPU:0")
        self.path = _Path(self, data, model)
        self.step = _Step(self)
        self._write_header("dual" if dual else "one", data, model)

    def _lay_out_clips(self) -> None:
        rng = np.random.default_rng([self.machine.seed, 99])
        middle = 0.55 * self.machine.longest
        self.frames = np.clip(
            rng.lognormal(np.log(middle), 0.4, CLIPS), self.machine.shortest, self.machine.longest
        ).astype(np.int64)
        self.tokens = self.frames // 6
        self.buckets = shapes.choose(self.tokens, self.frames, self.config.data)
        member = shapes.assign(self.tokens, self.frames, self.buckets)
        speakers = np.zeros(CLIPS, np.int32)
        self.sampler = Sampler(member, self.buckets, speakers, self.config.training.seed)

    def _write_header(self, kind: str, data: str, model: str) -> None:
        self.journal.write(
            "header",
            schema=SCHEMA,
            machine={"cpu": "sleeping", "cores": self.machine.cores, "memory_gb": 16},
            config=self.config.model_dump(),
            plan={"kind": kind, "virtual": False, "data_device": data, "model_device": model},
            buckets=[[b.text_length, b.mel_frames, b.batch_size] for b in self.buckets],
            lengths=lengths.histogram(self.tokens, self.frames),
        )

    def nap(self, stage: str, parcel: Parcel) -> None:
        """Rest as long as this stage would take for this batch."""
        facts = parcel.facts
        seconds = self.machine.seconds(stage, self.config.data, facts["rows"], facts["padded"])
        sigma = self.machine.jitter.get(stage, 0.0)
        rng = self._rngs[stage]
        if sigma:
            seconds *= float(rng.lognormal(-(sigma**2) / 2, sigma))
        likely, length = self.machine.stalls
        if stage == "load" and likely and rng.random() < likely:
            seconds += length / 1e3
        time.sleep(seconds)

    def train(self) -> None:
        data = self.config.data
        lanes = self.path.lanes(Stage("load", self._load), data.pipeline_depth)
        self.journal.write(
            "pipeline",
            overlapping=data.optimize_cpu_gpu_overlap,
            in_flight=data.pipeline_buffer_size,
            **self.path.recorded(lanes),
        )
        trained: Any = SimpleNamespace(
            step=self.step, config=self.config, path=self.path, delays=Delays()
        )
        milestones: Any = SimpleNamespace(reached=lambda _: False, stopped=False)
        loop = Loop(
            trained, self.paths.checkpoints, 0, self.steps, self.ledger, self.journal, milestones
        )
        synchronous = not data.optimize_cpu_gpu_overlap
        with Feeder(
            range(self.steps), lanes, synchronous=synchronous, in_flight=data.pipeline_buffer_size,
            on_depth=lambda change: self.journal.write("depth", **asdict(change)),
        ) as feeder:  # fmt: skip
            feeder.start()
            feeder.wait_until_warm(data.model_start_delay)
            loop.run(feeder)

    def time_alone(self) -> None:
        """Every stage on its own, with whole batches and with about half of the rows."""
        stages = [*self.path.lanes(Stage("load", self._load), 3)]
        names = [stage.name for lane in stages for stage in lane.stages]
        for number in _spread(len(self.buckets), 3):
            bucket = self.buckets[number]
            for rows in dict.fromkeys((bucket.batch_size, max(1, bucket.batch_size // 2))):
                for name in (*names, "training"):
                    if rows < bucket.batch_size and name in ("upload", "transfer"):
                        continue
                    self._time(name, number, rows, bucket.mel_frames)

    def _time(self, stage: str, bucket: int, rows: int, length: int) -> None:
        facts = {"rows": rows, "padded": rows * length}
        seconds = []
        for _ in range(RATE_BATCHES):
            begin = time.perf_counter()
            self.nap(stage, Parcel(0, facts=facts))
            seconds.append(time.perf_counter() - begin)
        self.journal.write(
            "rate", stage=stage, bucket=bucket, rows=rows, frames=rows * length, seconds=seconds
        )

    def _load(self, parcel: Parcel) -> None:
        plan = self.sampler.plan(parcel.step)
        bucket, own = self.buckets[plan.bucket], self.frames[plan.rows]
        length = bucket.mel_frames
        if not self.config.data.pad_to_fixed_length:
            length = int(shapes.rounded_up(int(own.max())))
        parcel.facts |= {
            "clips": [],
            "bucket": int(plan.bucket),
            "rows": len(plan.rows),
            "shape": (len(plan.rows), length),
            "useful": int((own * plan.weights).sum()),
            "padded": len(plan.rows) * length,
        }
        parcel.batch = parcel
        self.nap("load", parcel)


def _spread(count: int, most: int) -> Sequence[int]:
    """At most so many of `count` numbers, from the first to the last."""
    return sorted({round(i * (count - 1) / max(1, most - 1)) for i in range(most)})
