"""Several batch sizes: throughput and memory of each, the best, and where more stops paying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from myxtts.errors import MeasurementError, UsageError
from myxtts.tools.figures import RunFigures

WORTH_IT = 0.95
"""A batch size that reaches this part of the best throughput is good enough."""


@dataclass(frozen=True)
class ScalingRow:
    """One batch size."""

    batch_size: int
    frames_per_second: float
    step_seconds: float
    memory_mb: int | None
    efficiency: float
    """Throughput per clip of the batch against the smallest batch; 1: each clip still pays."""
    run: str


@dataclass(frozen=True)
class Scaling:
    """All batch sizes, and what follows."""

    rows: tuple[ScalingRow, ...]
    best: int
    """The batch size with the highest throughput."""
    enough: int
    """The smallest batch size within 5 % of it: beyond this, more stops paying."""
    virtual: bool

    @property
    def still_pays(self) -> bool:
        """The largest size measured is also the smallest that is good enough."""
        return self.enough == self.rows[-1].batch_size

    def as_json(self) -> dict[str, Any]:
        """Plain data, for `--json`."""
        return {
            "rows": [vars(row) for row in self.rows],
            "best": self.best,
            "enough": self.enough,
            "virtual_devices": self.virtual,
        }


def scaling(runs: Sequence[RunFigures]) -> Scaling:
    """Order runs by batch size; of two with the same one, the faster counts."""
    fastest: dict[int, RunFigures] = {}
    for run in runs:
        if run.batch_size is None:
            raise UsageError(
                f"{run.name} does not say its batch size",
                remedy="name the run's folder or run.jsonl, or put it in the name: batch16.txt",
            )
        known = fastest.get(run.batch_size)
        if known is None or _throughput(run) > _throughput(known):
            fastest[run.batch_size] = run
    if len(fastest) < 2:
        raise MeasurementError(
            "Scaling needs at least two batch sizes",
            received=f"batch size {', '.join(map(str, fastest)) or 'none'}",
            remedy="myxtts profile --batch-size 8, then again with 16 and 32",
        )
    sizes = sorted(fastest)
    per_clip = _throughput(fastest[sizes[0]]) / sizes[0]
    rows = tuple(
        ScalingRow(
            batch_size=size,
            frames_per_second=_throughput(fastest[size]),
            step_seconds=fastest[size].step_seconds,
            memory_mb=fastest[size].memory_mb,
            efficiency=_throughput(fastest[size]) / size / per_clip,
            run=fastest[size].name,
        )
        for size in sizes
    )
    best = max(rows, key=lambda row: row.frames_per_second)
    floor = WORTH_IT * best.frames_per_second
    enough = next(row.batch_size for row in rows if row.frames_per_second >= floor)
    return Scaling(rows, best.batch_size, enough, any(run.virtual for run in runs))


def _throughput(run: RunFigures) -> float:
    if not run.useful_frames_per_second:
        raise MeasurementError(f"{run.name} does not say its useful frames per second")
    return run.useful_frames_per_second
