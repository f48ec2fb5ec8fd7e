"""A change of the set-up, in words that the model of the pipeline and `fix` both understand.

`WhatIf` is plain data: what would be different, and which keys of the configuration do it. What a
change is worth is `plan`'s business.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from myxtts.config import Config
from myxtts.devices import PlanKind

Features = Literal["cached", "live"]


@dataclass(frozen=True)
class WhatIf:
    """None: as it was in the recorded run."""

    batch_size: int | None = None
    num_workers: int | None = None
    pipeline_depth: int | None = None
    features: Features | None = None
    device_plan: PlanKind | None = None
    model_faster: float | None = None
    """A device that trains so many times as fast; no key does that."""
    overlap: bool | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """Only what would be different."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def merged(self, other: WhatIf) -> WhatIf:
        """Both changes; where both speak, the other wins."""
        return replace(self, **other.asked)

    def settings(self, config: Config) -> dict[str, Any]:
        """The keys to set in the run's configuration; those that have the value already are out."""
        plain = {
            "data.batch_size": self.batch_size,
            "data.num_workers": self.num_workers,
            "data.pipeline_depth": self.pipeline_depth,
            "data.features": self.features,
            "data.optimize_cpu_gpu_overlap": self.overlap,
        }
        wanted = {key: value for key, value in plain.items() if value is not None}
        if self.device_plan is not None:
            wanted |= _plan_settings(self.device_plan, config)
        had = config.data.model_dump()
        return {key: value for key, value in wanted.items() if had[key.split(".")[1]] != value}

    def __str__(self) -> str:
        return ", ".join(f"{_TITLES[name]} {_said(value)}" for name, value in self.asked.items())


_TITLES = {
    "batch_size": "batch size",
    "num_workers": "workers",
    "pipeline_depth": "depth",
    "features": "features",
    "device_plan": "plan",
    "model_faster": "training faster",
    "overlap": "overlap",
}


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g} x" if isinstance(value, float) else str(value)


def _plan_settings(kind: PlanKind, config: Config) -> dict[str, Any]:
    data = config.data
    wanted: dict[str, Any] = {"data.device_plan": kind}
    if kind == "one":
        wanted |= {"data.data_gpu": None, "data.model_gpu": None}
    elif data.data_gpu is None:
        wanted |= {"data.data_gpu": 0, "data.model_gpu": 1}
    if kind != "dual":
        wanted |= {"data.enable_memory_isolation": False}
        wanted |= {"data.data_gpu_memory": None, "data.model_gpu_memory": None}
    return wanted


class NotPredictable(Exception):
    """The recorded run does not hold what this prediction needs."""

    def __init__(self, what: str, why: str, record: str) -> None:
        super().__init__(f"{what}: {why}")
        self.what = what
        self.why = why
        self.record = record
        """What to record to be able to predict it."""

    def as_json(self) -> dict[str, str]:
        return {"what": self.what, "why": self.why, "record": self.record}
