"""The pipeline as arithmetic: lanes, rings and the consumer, without threads and without waiting.

`simulate` answers when each batch would be put, taken and trained on, given how long every stage
works on it: exactly what `training.feeder` does when handing over is free. A ring that adapts is
the real `AdaptiveDepth`, told the simulated times. The byte budget is left out. Where the times
come from, and what follows, is `plan`'s business.

    done(i)  = begun(i) + work(i)                put(i)   = max(done(i), taken(i - depth))
    begun(i) = max(put before it(i), put(i - 1)) taken(i) = max(put(i), trained(i - 1))
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from myxtts.training.depth import AdaptiveDepth


@dataclass(frozen=True)
class ModelLane:
    """Stages that share a thread, and the ring behind them."""

    ring: str
    stages: tuple[str, ...]
    depth: int
    deepest: int | None = None
    """How deep the ring may become by itself; only the last lane's may."""


@dataclass(frozen=True)
class Layout:
    """The way of a batch, first lane first."""

    lanes: tuple[ModelLane, ...]
    overlapping: bool = True
    """False: all stages one after the other in the consumer's thread."""
    in_flight: int = 50

    @property
    def stages(self) -> tuple[str, ...]:
        """Every stage, in the order in which a batch meets them."""
        return tuple(stage for lane in self.lanes for stage in lane.stages)


@dataclass(frozen=True)
class Work:
    """Seconds that each of n batches costs; float64 [n] each."""

    stages: Mapping[str, np.ndarray]
    train: np.ndarray
    between: np.ndarray
    """From the end of a step until the consumer comes for the next batch."""

    def __len__(self) -> int:
        return len(self.train)


@dataclass(frozen=True)
class Course:
    """What became of n batches; float64 [n] each, seconds on one clock."""

    taken: np.ndarray
    waited: np.ndarray
    """How long the consumer waited for each."""
    ended: np.ndarray
    """When each step was over."""

    def seconds(self, skipped: int = 0) -> float:
        """From the end of the last skipped step to the end of the last one.

        Without skipped steps: from the moment the consumer holds the first batch.
        """
        begin = self.taken[0] if skipped == 0 else self.ended[skipped - 1]
        return float(self.ended[-1] - begin)


def simulate(layout: Layout, work: Work, *, warm: bool = True) -> Course:
    """Send every batch through; `warm`: the consumer starts when the last ring is full."""
    if not layout.overlapping:
        return _one_after_the_other(layout, work)
    lanes, last = layout.lanes, len(layout.lanes) - 1
    costs = [_of_lane(lane, work).tolist() for lane in lanes]
    consumer = _Consumer(lanes[-1], work, warm=warm)
    begun: list[list[float]] = [[] for _ in lanes]  # also when it was taken from the ring before
    free = [0.0] * len(lanes)
    for number in range(len(work)):
        ready = 0.0
        if number >= layout.in_flight:
            ready = consumer.take_until(number - layout.in_flight)
        for place, lane in enumerate(lanes):
            begin = max(ready, free[place])
            begun[place].append(begin)
            ready = begin + costs[place][number]
            if place == last:
                ready = consumer.put(ready)
            elif number >= lane.depth:
                ready = max(ready, begun[place + 1][number - lane.depth])
            free[place] = ready
    return consumer.finished()


class _Consumer:
    """The last ring and the loop behind it; takes happen as late as something depends on them."""

    def __init__(self, lane: ModelLane, work: Work, *, warm: bool) -> None:
        self._train, self._between = work.train.tolist(), work.between.tolist()
        self._adaptive = None if lane.deepest is None else AdaptiveDepth(lane.depth, lane.deepest)
        self._depth = lane.depth
        self._starts_with = min(lane.depth, len(self._train)) if warm else 1
        self._put: list[float] = []
        self._taken: list[float] = []
        self._waited: list[float] = []
        self._ended: list[float] = []
        self._free = self._left = 0.0  # when it comes for the next batch; when it had the last

    def put(self, done: float) -> float:
        """The next batch is done at this time; when there was room for it."""
        number = len(self._put)
        if number >= self._starts_with:
            while len(self._taken) < number and self._next_take() <= done:
                self._take()
            while number - len(self._taken) >= self._depth:
                self._take()
                done = max(done, self._taken[-1])
        self._put.append(done)
        if number + 1 == self._starts_with:
            self._free = done
        if self._adaptive is not None and len(self._put) - len(self._taken) >= self._depth:
            self._adaptive.filled()
        return done

    def take_until(self, number: int) -> float:
        """When the consumer takes this batch."""
        while len(self._taken) <= number:
            self._take()
        return self._taken[number]

    def finished(self) -> Course:
        while len(self._taken) < len(self._put):
            self._take()
        return Course(np.array(self._taken), np.array(self._waited), np.array(self._ended))

    def _next_take(self) -> float:
        return max(self._put[len(self._taken)], self._free)

    def _take(self) -> None:
        number, came = len(self._taken), self._free
        taken = self._next_take()
        if self._adaptive is not None:
            found = max(0, bisect_right(self._put, came) - number)
            self._adaptive.taken(found, taken - came, came - self._left)
            self._depth = self._adaptive.depth
        self._taken.append(taken)
        self._waited.append(taken - came)
        self._ended.append(taken + self._train[number])
        self._free = self._ended[-1] + self._between[number]
        self._left = taken


def _one_after_the_other(layout: Layout, work: Work) -> Course:
    prepare = sum((work.stages[stage] for stage in layout.stages), np.zeros(len(work)))
    ended = np.cumsum(prepare + work.train + work.between) - work.between
    return Course(ended - work.train, prepare, ended)


def _of_lane(lane: ModelLane, work: Work) -> np.ndarray:
    return sum((work.stages[stage] for stage in lane.stages), np.zeros(len(work)))
