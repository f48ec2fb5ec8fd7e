"""What the GPUs did in a recorded run, and the tier that follows from it.

Samples are averaged over the steady part of the run only. A card that was lost on the way has no
figures: half a run's mean would pass for a whole one's. Logical CPU devices are not GPUs: a
rehearsal on them has no tier, and this module says why instead of giving one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from myxtts.telemetry.session import Session

Role = Literal["data", "model", "data and model", "not used"]


@dataclass(frozen=True)
class GpuFigures:
    """One card over a run; None: the card did not say."""

    index: int
    name: str | None
    role: Role
    samples: int
    utilization: float | None
    """Mean percent, 0–100."""
    memory_used_mb: int | None
    """The most that was in use."""
    memory_total_mb: int | None
    power_w: float | None
    """Mean."""
    lost: bool = False
    """It stopped answering in mid-run, so nothing is known of the whole run."""


@dataclass(frozen=True)
class Level:
    """A tier's conditions: percent of use of both GPUs, std/mean of the step, times one GPU."""

    name: str
    data_gpu: float
    model_gpu: float
    variation: float
    speedup: float = 0.0


LEVELS = (
    Level("excellent", 60, 90, 0.20, speedup=2.0),
    Level("good", 50, 80, 0.30),
    Level("minimum", 40, 70, 0.40),
)
BELOW = "below minimum"


@dataclass(frozen=True)
class Tier:
    """The tier reached, or why there is none."""

    reached: str | None
    not_measured: str | None
    """A word of `catalogue` for the reason: virtual, one_device, no_samples, too_short, speedup."""


def gpu_figures(session: Session) -> list[GpuFigures]:
    """Each sampled card, in index order."""
    lost = {event["index"] for event in session.of_kind("gpu_lost")}
    by_card: dict[int, list[dict[str, Any]]] = {index: [] for index in lost}
    for sample in _steady_samples(session):
        by_card.setdefault(sample["index"], []).append(sample)
    return [
        _lost(session, index) if index in lost else _figures(session, index, by_card[index])
        for index in sorted(by_card)
    ]


def tier(session: Session, speedup: float | None = None) -> Tier:
    """The tier of a dual-GPU run; `speedup` is its rate against one GPU, when that was measured."""
    plan = session.header.get("plan", {})
    if plan.get("virtual"):
        return Tier(None, "virtual")
    if plan.get("kind") != "dual":
        return Tier(None, "one_device")
    use = {figures.role: figures.utilization for figures in gpu_figures(session)}
    data, model, variation = use.get("data"), use.get("model"), session.variation
    if data is None or model is None:
        return Tier(None, "no_samples")
    if variation is None:
        return Tier(None, "too_short")
    for level in LEVELS:
        busy = data > level.data_gpu and model > level.model_gpu and variation < level.variation
        if busy and level.speedup and speedup is None:
            return Tier("good", "speedup")  # all that excellent asks for, but for this one figure
        if busy and (speedup or 0.0) >= level.speedup:
            return Tier(level.name, None)
    return Tier(BELOW, None)


def _steady_samples(session: Session) -> Iterable[dict[str, Any]]:
    steps = session.steady_steps
    if not steps:
        return []
    begin, end = steps[0].t - steps[0].seconds, steps[-1].t
    return (event for event in session.of_kind("gpu") if begin <= event["t"] <= end)


def _figures(session: Session, index: int, samples: list[dict[str, Any]]) -> GpuFigures:
    def said(metric: str) -> list[float]:
        return [sample[metric] for sample in samples if sample.get(metric) is not None]

    used, total = said("memory_used_mb"), said("memory_total_mb")
    return GpuFigures(
        index=index,
        name=samples[-1].get("name"),
        role=_role(session, index),
        samples=len(samples),
        utilization=statistics.fmean(said("utilization")) if said("utilization") else None,
        memory_used_mb=int(max(used)) if used else None,
        memory_total_mb=int(max(total)) if total else None,
        power_w=statistics.fmean(said("power_w")) if said("power_w") else None,
    )


def _lost(session: Session, index: int) -> GpuFigures:
    samples = [event for event in session.of_kind("gpu") if event["index"] == index]
    return GpuFigures(
        index=index,
        name=samples[-1].get("name") if samples else None,
        role=_role(session, index),
        samples=len(samples),
        utilization=None,
        memory_used_mb=None,
        memory_total_mb=None,
        power_w=None,
        lost=True,
    )


def _role(session: Session, index: int) -> Role:
    """What the run used a physical GPU for."""
    data = session.header.get("config", {}).get("data", {})
    if session.header.get("plan", {}).get("kind") == "dual":
        roles: dict[int | None, Role] = {
            data.get("data_gpu"): "data",
            data.get("model_gpu"): "model",
        }
        return roles.get(index, "not used")
    return "data and model" if index == 0 else "not used"
