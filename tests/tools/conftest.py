"""Recorded runs to judge: small, written by the real `RunLog` with a clock that tests move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from myxtts.config import Config
from myxtts.telemetry.accounts import ACCOUNTS
from myxtts.telemetry.run_log import SCHEMA, RunLog
from myxtts.telemetry.session import Session, load

Record = Callable[..., Session]


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("espeakng_loader", reason="the demo corpus is spoken by espeak-ng")
    from myxtts.data import demo_corpus

    folder = tmp_path_factory.mktemp("corpus")
    demo_corpus.make(folder, clips=12, seed=0)
    return folder


@pytest.fixture
def record(tmp_path: Path, clock: FakeClock) -> Record:
    """Writes a run and reads it back.

    By default: 20 steps of 100 ms, 90 of them training, 4 waiting for loading and 2 for transfer,
    on two GPUs that are 65 and 92 % busy.
    """

    def write(
        name: str = "run",
        *,
        times: Sequence[float] = (0.1,) * 20,
        train: float = 0.9,
        blame: Mapping[str, float] | None = None,
        data: Mapping[str, Any] | None = None,
        plan: Mapping[str, Any] | None = None,
        gpus: Mapping[int, Mapping[str, Any]] | None = None,
        useful: int = 950,
        compiled: Sequence[int] = (),
        skipped: Sequence[str] = (),
        cores: int = 8,
        accounts: Mapping[str, float] | None = None,
        ended: bool = True,
    ) -> Session:
        """`train` and `blame` are shares of each step's time."""
        config = Config().replaced({f"data.{key}": value for key, value in (data or {}).items()})
        tree = config.model_dump()
        tree["data"] |= {"data_gpu": 0, "model_gpu": 1}
        lost = {"load": 0.04, "transfer": 0.02} if blame is None else blame
        folder = tmp_path / name
        with RunLog(folder / "run.jsonl", clock) as log:
            log.write(
                "header",
                schema=SCHEMA,
                machine={"cpu": "test", "cores": cores, "memory_gb": 16},
                versions={"tensorflow": "2.21"},
                config=tree,
                plan={"kind": "dual", "virtual": False, **(plan or {})},
                buckets=[[64, 400, 16]],
            )
            for clip in skipped:
                log.write("skipped", clip=clip, reason="zero bytes")
            for number, seconds in enumerate(times):
                clock.now += seconds
                log.write(
                    "step",
                    step=number,
                    seconds=seconds,
                    wait=seconds * sum(lost.values()),
                    train=seconds * train,
                    loss=1.0,
                    bucket=0,
                    useful_frames=useful,
                    padded_frames=1000,
                    compiled=number in compiled,
                    blame={stage: share * seconds for stage, share in lost.items()},
                    stages={"load": 0.02, "preprocess": 0.03, "transfer": 0.01},
                    rings={"host": 4, "ready": 2},
                )
                for index, metrics in (_TWO_GPUS if gpus is None else gpus).items():
                    log.write("gpu", index=index, name="Test Card", **{**_SAMPLE, **metrics})
            log.write("ring", name="ready", depth=3, occupancy=2, producer_wait=1.5,
                      consumer_wait=0.2)  # fmt: skip
            log.write("report", step=len(times), memory_mb=812, accounts={})
            wall = sum(times)
            spent = {"training": wall * 0.9, "data_wait": wall * 0.1, **(accounts or {})}
            if ended:
                log.write(
                    "end",
                    reason="finished",
                    wall=wall,
                    steps=len(times),
                    accounts={account: spent.get(account, 0.0) for account in ACCOUNTS},
                )
        return load(folder)

    return write


_SAMPLE = {"memory_used_mb": 3000, "memory_total_mb": 24576, "power_w": 200.0}
_TWO_GPUS = {0: {"utilization": 65.0}, 1: {"utilization": 92.0}}
