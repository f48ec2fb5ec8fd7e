"""How busy each thread of a recorded pipeline was, and what deeper buffers would have changed.

Figures, no judgement: `verdict` draws the conclusions. All times are seconds a batch. Batches that
were prepared before the first step say nothing of the threads beside training: shapes were being
compiled meanwhile.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from myxtts.telemetry.session import Session, Step

FEWEST_STEPS = 12
"""With fewer steps a mean says nothing about a stage that swings."""
LANES = (("host", ("load", "upload")), ("ready", ("preprocess", "transfer")))
"""Ring and stages of a recording that does not say which way its batches took."""


@dataclass(frozen=True)
class Lane:
    """One thread: its stages, and what it did with each batch of the window."""

    ring: str
    stages: tuple[str, ...]
    work: tuple[float, ...]
    """Seconds at each batch."""

    @property
    def mean(self) -> float:
        return statistics.fmean(self.work)

    @property
    def swing(self) -> float:
        """std / mean of the work."""
        return statistics.pstdev(self.work) / self.mean if self.mean > 0 else 0.0


@dataclass(frozen=True)
class Window:
    """The steps that count, and the pauses between them."""

    session: Session
    steps: tuple[Step, ...]
    """In order; none that compiled."""
    prepared: tuple[Step, ...]
    """Those whose batch was prepared while training went on."""
    pauses: dict[str, float]
    """Seconds of checkpoints, validation and samples between these steps."""

    @cached_property
    def wall(self) -> float:
        """Seconds of the steps and of the pauses between them."""
        return sum(step.seconds for step in self.steps) + sum(self.pauses.values())

    @property
    def period(self) -> float:
        """Wall time of a batch, pauses included."""
        return self.wall / len(self.steps)

    @property
    def wait(self) -> float:
        """Share of the wall time that training waited for batches."""
        return sum(step.wait for step in self.steps) / self.wall

    @property
    def training(self) -> float:
        """Share of the wall time that was training."""
        return sum(step.train for step in self.steps) / self.wall

    @property
    def consumer(self) -> float:
        """What the training thread needs for a batch when none is waited for."""
        return self.period * (1.0 - self.wait)

    def stage(self, name: str) -> float:
        """Mean work of a stage on a batch."""
        return statistics.fmean(step.stages.get(name, 0.0) for step in self.prepared)

    def blame(self, name: str) -> float:
        """Share of the wall time that training waited for a batch that was in this stage."""
        return sum(step.blame.get(name, 0.0) for step in self.steps) / self.wall

    def part(self, name: str) -> float | None:
        """Mean seconds of a part of loading; None: the run did not tell them apart."""
        told = [step.parts[name] for step in self.prepared if name in step.parts]
        return statistics.fmean(told) if told else None

    @cached_property
    def ran_dry(self) -> bool:
        """The last buffer was found empty towards the end: training lived on no stock by then."""
        late = self.steps[-max(1, len(self.steps) // 4) :]
        return any(list(step.rings.values())[-1] == 0 for step in late if step.rings)

    @property
    def steady_wait(self) -> float:
        """The share of waiting that the run was heading for, 0–1.

        A batch that was prepared ahead hides a slow stage until the stock is used up: what is lost
        then follows from the slowest thread's work beside the training thread's.
        """
        slowest = max((lane.mean for lane in self.lanes), default=0.0)
        if not (self.overlapping and self.ran_dry) or slowest <= self.consumer:
            return self.wait
        return max(self.wait, 1.0 - self.consumer / slowest)

    @cached_property
    def overlapping(self) -> bool:
        """The stages had threads of their own."""
        event = next(self.session.of_kind("pipeline"), {})
        return bool(event.get("overlapping", True))

    @cached_property
    def lanes(self) -> list[Lane]:
        """The threads in the order in which a batch passes them."""
        event = next(self.session.of_kind("pipeline"), {})
        drawn = [(one["ring"], tuple(one["stages"])) for one in event.get("lanes", [])]
        return [
            Lane(
                ring,
                stages,
                tuple(sum(step.stages.get(name, 0.0) for name in stages) for step in self.prepared),
            )
            for ring, stages in drawn or LANES
        ]


def window(session: Session) -> Window | None:
    """The steps to judge by; None: there are too few."""
    steady = session.steady_steps
    if len(steady) < FEWEST_STEPS:
        return None
    began = session.steps[0].t
    late = tuple(step for step in steady if max(step.finished.values(), default=began) >= began)
    prepared = late if len(late) >= FEWEST_STEPS else steady
    return Window(session, steady, prepared, pauses(session, steady[0].step, steady[-1].step))


def pauses(session: Session, first: int, last: int) -> dict[str, float]:
    """Seconds of checkpoints and of validation that lay between two steps."""
    accounts = {"checkpoint": "checkpointing", "validation": "validation", "samples": "validation"}
    found = dict.fromkeys(accounts.values(), 0.0)
    for kind, account in accounts.items():
        for event in session.of_kind(kind):
            # `step` counts the steps that are done, so the next one has this number.
            if first < int(event["step"]) <= last:
                found[account] += float(event["seconds"])
    return found


def replayed_wait(seen: Window, depth: int) -> float:
    """The share that training would have waited with every ring `depth` deep, 0–1.

    The same batches take the same times; only when each thread may begin changes. The rings are
    full at the start, as they are when a run begins to train.
    """
    works = [lane.work for lane in seen.lanes]
    trains = [step.seconds - step.wait for step in seen.prepared]
    wall = _replay(works, trains, depth)
    return max(0.0, 1.0 - sum(trains) / wall) if wall > 0 else 0.0


def _replay(works: Sequence[Sequence[float]], trains: Sequence[float], depth: int) -> float:
    """Seconds from the first batch's arrival to the end of the last step."""
    lanes = len(works)
    # taken[j][i]: when batch i left the ring behind lane j; free[j]: when lane j last put one in.
    taken: list[list[float]] = [[] for _ in range(lanes)]
    free, trained = [0.0] * lanes, 0.0
    for number, train in enumerate(trains):
        arrived = 0.0
        for lane in range(lanes):
            begin = max(arrived, free[lane])
            if lane > 0:
                taken[lane - 1].append(begin)
            stock = number < depth * (lanes - lane)  # prepared before the first step
            arrived = begin if stock else begin + works[lane][number]
            if number >= depth:
                arrived = max(arrived, taken[lane][number - depth])
            free[lane] = arrived
        start = max(arrived, trained)
        taken[-1].append(start)
        trained = start + train
    return trained - (taken[-1][0] if trains else 0.0)
