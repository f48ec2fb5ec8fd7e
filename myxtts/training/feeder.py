"""The pipeline: lanes of stages, each lane a thread, with a ring behind each.

    step numbers ─► [load] ─ring─► [preprocess, transfer] ─ring─► consumer

A `Feeder` is what the training loop iterates over. Lanes see batches in order, one at a time; a
stage's error reaches the consumer with the stage's name and step. With `synchronous=True` the same
stages run one after the other in the consumer's thread, so that batches, and the numbers computed
from them, cannot depend on the threads. What a stage computes, and on which device, is its maker's
business.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from myxtts.errors import UserError
from myxtts.telemetry.accounts import Clock
from myxtts.training.buffers import Closed, Ring, RingState

JOIN_SECONDS = 10.0


@dataclass
class Parcel:
    """A batch on its way, with the record of its journey.

    Owned by one thread at a time: the stage that works on it, then the ring, then the next.
    """

    step: int
    batch: Any = None
    facts: dict[str, Any] = field(default_factory=dict)
    """What the loop wants to know of the batch after it has left the host: clips, frames."""
    finished: dict[str, float] = field(default_factory=dict)
    """When each stage was done with it, by the pipeline's clock."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each stage worked on it."""


@dataclass(frozen=True)
class Stage:
    """One step of preparation: `work(parcel)` sets or replaces the parcel's batch."""

    name: str
    work: Callable[[Parcel], None]


@dataclass(frozen=True)
class Lane:
    """Stages that share a thread, and how many batches may wait behind them."""

    ring: str
    depth: int
    stages: tuple[Stage, ...]


class EndOfData(Exception):
    """Raised by a stage that has nothing more to give: the feeder ends there, in order."""


class StageError(UserError):
    """A stage failed: which one, at which step, and why (`__cause__`)."""

    def __init__(self, stage: str, step: int, cause: BaseException) -> None:
        super().__init__(
            f"stage {stage}, step {step}: {type(cause).__name__}: {cause}",
            follows="training stops; the checkpoints so far are unharmed",
            remedy="remove the cause and go on with --resume (--debug shows where it happened)",
        )
        self.stage = stage
        self.step = step


class Feeder:
    """Iterate over it to get prepared parcels; close it (or use `with`) in every case."""

    def __init__(
        self,
        steps: Iterable[int],
        lanes: list[Lane],
        *,
        synchronous: bool = False,
        in_flight: int = 50,
        clock: Clock = time.perf_counter,
    ) -> None:
        self._steps = steps
        self._lanes = lanes
        self._clock = clock
        self._synchronous = synchronous
        # One ticket per batch anywhere between the first stage and the consumer.
        self._tickets = threading.Semaphore(in_flight)
        self._stopping = threading.Event()
        self.rings: list[Ring[Parcel]] = [
            Ring(lane.ring, lane.depth, clock) for lane in lanes if not synchronous
        ]
        self._threads = [
            threading.Thread(target=self._run, args=(i,), name=f"myxtts-{lane.ring}", daemon=True)
            for i, lane in enumerate(lanes)
            if not synchronous
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def wait_until_warm(self, timeout: float) -> None:
        """Wait until the last ring is full, at most `timeout` seconds."""
        if self.rings:
            self.rings[-1].wait_until_full(timeout)

    def __iter__(self) -> Iterator[Parcel]:
        if self._synchronous:
            yield from self._one_after_the_other()
            return
        while True:
            try:
                parcel = self.rings[-1].get()
            except Closed:
                return
            self._tickets.release()
            yield parcel

    def states(self) -> list[RingState]:
        """What each ring has seen."""
        return [ring.state() for ring in self.rings]

    def close(self) -> None:
        """Stop every thread and wait for it; safe to call twice."""
        self._stopping.set()
        self._tickets.release()
        for ring in self.rings:
            ring.abandon()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(JOIN_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _one_after_the_other(self) -> Iterator[Parcel]:
        for step in self._steps:
            parcel = Parcel(step)
            try:
                for lane in self._lanes:
                    self._work(lane, parcel)
            except EndOfData:
                return
            yield parcel

    def _work(self, lane: Lane, parcel: Parcel) -> None:
        for stage in lane.stages:
            started = self._clock()
            try:
                stage.work(parcel)
            except (EndOfData, UserError):
                raise  # the first ends the data, the second already says what to do
            except Exception as error:
                raise StageError(stage.name, parcel.step, error) from error
            now = self._clock()
            parcel.seconds[stage.name] = now - started
            parcel.finished[stage.name] = now

    def _run(self, position: int) -> None:
        """The body of the thread of lane `position`."""
        lane, ring = self._lanes[position], self.rings[position]
        try:
            for parcel in self._incoming(position):
                self._work(lane, parcel)
                ring.put(parcel)
        except (Closed, EndOfData):
            ring.close()
        except BaseException as error:  # carried to the consumer, in order
            ring.close(error)
        else:
            ring.close()

    def _incoming(self, position: int) -> Iterator[Parcel]:
        while position > 0:
            try:
                yield self.rings[position - 1].get()
            except Closed:
                return
        for step in self._steps:
            self._tickets.acquire()
            if self._stopping.is_set():
                return
            yield Parcel(step)


def blame(parcel: Parcel, wait_started: float, wait_ended: float) -> dict[str, float]:
    """Divide the consumer's wait over the stages that its batch was in meanwhile.

    From the moment the stage before was done with a batch until its own end, a stage is what the
    batch waited for: working on it, or still busy with the one before. After the last stage's end
    the batch is only handed over, for which no stage is to blame.
    """
    shares: dict[str, float] = {}
    begin = wait_started
    for stage, end in sorted(parcel.finished.items(), key=lambda entry: entry[1]):
        end = min(max(end, begin), wait_ended)
        if end > begin:
            shares[stage] = end - begin
        begin = end
    return shares
