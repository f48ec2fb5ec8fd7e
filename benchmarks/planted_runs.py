"""A planted case becomes a recorded run: threads, rings, loop and journal are the product's own.

Sleeping cases have stages that only sleep. Real ones load and preprocess a corpus spoken by
espeak-ng, on two logical devices, with the stand-in for the model. Both end in a run.jsonl.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from planted_cases import COMPILING, HOST, READY, Case, shapes_of

from myxtts.config import Config
from myxtts.telemetry import session
from myxtts.telemetry.session import Session

REAL = {
    "data.batch_size": 8, "data.max_buckets": 3, "data.virtual_gpus": 2, "data.data_gpu": 0,
    "data.model_gpu": 1, "data.model_start_delay": 2.0, "data.prefetch_buffer_size": HOST,
    "data.pipeline_depth": READY,
}  # fmt: skip
CLIPS, CORPUS_SEED = 240, 7
PADDED = 3200
"""Frames that a step of a sleeping pipeline computes."""


def recorded(case: Case, folder: Path, corpus: Path) -> Session:
    """Run it into `folder`, and read back what it wrote."""
    if case.way == "real":
        return _real(case, folder, corpus)
    return _sleeping(case, folder)


def _real(case: Case, folder: Path, corpus: Path) -> Session:
    from myxtts.training import child_run
    from myxtts.training.run import train
    from myxtts.training.study import Study

    planted = case.planted
    config = Config().replaced(REAL | {"data.train_data": str(corpus)})
    config = child_run.shortened(config, folder, case.steps).replaced(planted.settings)
    train(config, study=Study(planted, case.train_ms / 1e3, rates=True))
    return session.load(folder)


# -- stages that sleep ----------------------------------------------------------------------------


class _Step:
    """Sleeps; a shape that it has not met costs more."""

    def __init__(self, case: Case) -> None:
        self.shortages: deque[Any] = deque()
        self.optimizer = None
        self._seconds = case.train_ms / 1e3
        self._met: set[int] = set()
        self._shapes = shapes_of(case)

    @property
    def compilations(self) -> int:
        return len(self._met)

    def __call__(self, batch: int, *, update: bool) -> dict[str, float]:
        del update
        factor = 1.0
        if self._shapes and self._shapes[batch] not in self._met:
            self._met.add(self._shapes[batch])
            factor += COMPILING
        time.sleep(factor * self._seconds)
        return {"total": 1.0}


class _Milestones:
    """Pauses of the planted length, booked and written as the real ones are."""

    stopped = False

    def __init__(self, config: Config, delays: Any, ledger: Any, journal: Any) -> None:
        self._config, self._delays, self._ledger, self._journal = config, delays, ledger, journal

    def reached(self, step: int) -> bool:
        training = self._config.training
        save = step % training.checkpoint_interval == 0
        validate = training.validation_share > 0 and step % training.validation_interval == 0
        if validate:
            self._pause("validation", "validating", step, loss=1.0)
        if save:
            self._pause("checkpoint", "checkpointing", step, path="")
        return save or validate

    def _pause(self, stage: str, account: Any, step: int, **fields: Any) -> None:
        started = time.perf_counter()
        with self._ledger.account(account):
            self._delays.pause(stage)
        self._journal.write(stage, step=step, seconds=time.perf_counter() - started, **fields)


def _sleeping(case: Case, folder: Path) -> Session:
    from myxtts.telemetry.accounts import Ledger
    from myxtts.telemetry.run_log import SCHEMA, machine
    from myxtts.training.feeder import Feeder
    from myxtts.training.journal import Journal
    from myxtts.training.loop import Loop
    from myxtts.training.planting import Delays
    from myxtts.training.progress import Gauges, Silent
    from myxtts.training.run_folder import RunFolder

    delays = Delays(case.planted)
    settings = {
        "training.output_dir": str(folder),
        "training.report_interval": 20,
        "data.prefetch_buffer_size": HOST,
        "data.pipeline_depth": READY,
    }
    config = Config().replaced(settings | dict(case.planted.settings))
    paths, ledger = RunFolder(config), Ledger()
    gauges = Gauges(memory_mb=None, learning_rate=0.0, loss_scale=None)
    journal = Journal(paths, ledger, Silent(), case.steps, config.training, lambda: gauges)
    journal.write("header", schema=SCHEMA, machine=machine(), config=config.model_dump(),
                  plan={"kind": "dual", "virtual": True}, buckets=[[64, 400, 8]])  # fmt: skip
    step = _Step(case)
    trained: Any = SimpleNamespace(
        step=step, config=config, path=SimpleNamespace(shortages=deque()), delays=delays
    )
    milestones: Any = _Milestones(config, delays, ledger, journal)
    loop = Loop(trained, paths.checkpoints, 0, case.steps, ledger, journal, milestones)
    lanes = _lanes(case, delays, config)
    drawn = [{"ring": one.ring, "stages": [stage.name for stage in one.stages]} for one in lanes]
    journal.write("pipeline", overlapping=True, lanes=drawn)
    journal.write("planted", **case.planted.as_json())
    journal.write("warm", compilations=0)
    with Feeder(
        range(case.steps), lanes, on_depth=lambda change: journal.write("depth", **asdict(change))
    ) as feeder:
        feeder.start()
        feeder.wait_until_warm(0.5)
        loop.run(feeder)
    journal.end("finished", steps=case.steps)
    return session.load(folder)


def _lanes(case: Case, delays: Any, config: Config) -> list[Any]:
    """Load, then preprocess and transfer, each in its thread."""
    from myxtts.data.load_parts import LoadParts
    from myxtts.training.stages import Lane, Parcel, Stage

    parts = LoadParts(delays.read, lambda: delays.pause("decode"))
    facts = {"bucket": 0, "clips": ["clip"] * 8, "padded": PADDED,
             "useful": int(case.useful * PADDED)}  # fmt: skip

    def load(parcel: Parcel) -> None:
        parcel.batch = parts.loaded(parcel.step, lambda: 10**6, lambda: parcel.step)
        parcel.parts = parts.taken(parcel.step)
        parcel.facts = dict(facts)

    def nothing(_parcel: Parcel) -> None:
        """Only what is planted takes time."""

    data = config.data
    return list(
        delays.along(
            [
                Lane("host", data.host_batches_ahead, (Stage("load", load),)),
                Lane(
                    "ready",
                    data.pipeline_depth,
                    (Stage("preprocess", nothing), Stage("transfer", nothing)),
                    max(data.pipeline_depth, data.pipeline_depth_max),
                ),
            ]
        )
    )
