"""The pipeline: lanes of stages, each lane a thread, with a ring behind each.

    step numbers ─► [load] ─ring─► [preprocess, transfer] ─ring─► consumer

A `Feeder` is what the training loop iterates over. Lanes see batches in order, one at a time; a
stage's error reaches the consumer after the batches before it, with the stage's name, step and
clips. With `synchronous=True` the same stages run one after the other in the consumer's thread, so
that batches, and the numbers computed from them, cannot depend on the threads. What a stage
computes, and on which device, is its maker's business.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Self

from myxtts.errors import UserError
from myxtts.telemetry.accounts import Clock
from myxtts.training.buffers import Closed, Ring, RingState
from myxtts.training.depth import AdaptiveDepth, DepthChange
from myxtts.training.in_flight import InFlight, weight
from myxtts.training.stages import EndOfData, Lane, Parcel, StageError, StageHung, locate

log = logging.getLogger(__name__)

JOIN_SECONDS = 10.0
"""How long `close` waits for all threads together."""
LOOKS = 4
"""How often a waiting consumer finds a stage at the same batch before it calls it hung. Looks, and
not only the clock, because a process that was stopped (Ctrl-Z) has lost time without any fault."""


class _Work(NamedTuple):
    """What a thread is at."""

    stage: str
    parcel: Parcel


class Feeder:
    """Iterate over it to get prepared parcels; close it (or use `with`) in every case."""

    def __init__(
        self,
        steps: Iterable[int],
        lanes: list[Lane],
        *,
        synchronous: bool = False,
        in_flight: int = 50,
        in_flight_bytes: int | None = None,
        stage_timeout: float = 0.0,
        on_depth: Callable[[DepthChange], None] | None = None,
        clock: Clock = time.perf_counter,
    ) -> None:
        """A stage that the consumer waits for hangs after `stage_timeout` seconds; 0: never.

        `on_depth` hears of every change of a ring's depth, in the thread that takes from it.
        """
        self._steps = steps
        self._lanes = lanes
        self._synchronous = synchronous
        self._stage_timeout = stage_timeout
        self._clock = clock
        self._in_flight = InFlight(in_flight, in_flight_bytes)
        threaded = [] if synchronous else lanes
        self.rings: list[Ring[Parcel]] = [self._ring(lane, on_depth) for lane in threaded]
        # Each entry is written by its lane's thread alone; the consumer only reads.
        self._at: list[_Work | None] = [None] * len(lanes)
        self._watched: _Work | None = None
        self._looks = 0
        self._threads = [
            threading.Thread(target=self._run, args=(i,), name=f"myxtts-{lane.ring}", daemon=True)
            for i, lane in enumerate(threaded)
        ]
        self._started = False

    def start(self) -> None:
        """Start the threads; the first batch that is asked for does it too."""
        if not self._started:
            self._started = True
            for thread in self._threads:
                thread.start()

    def wait_until_warm(self, timeout: float) -> None:
        """Wait until the last ring is full, at most `timeout` seconds."""
        if self.rings:
            self.rings[-1].wait_until_full(timeout)

    def __iter__(self) -> Iterator[Parcel]:
        return self._one_after_the_other() if self._synchronous else self._from_the_last_ring()

    def states(self) -> list[RingState]:
        """What each ring has seen."""
        return [ring.state() for ring in self.rings]

    def close(self, patience: float = JOIN_SECONDS) -> list[str]:
        """Stop every thread and wait for all, `patience` seconds at most; safe to call twice.

        A thread that does not come back from its stage is left behind (it dies with the process,
        and works on nothing more): what it was at is returned.
        """
        self._in_flight.close()
        for ring in self.rings:
            ring.abandon()
        until = time.monotonic() + patience
        for thread, work in zip(self._threads, self._at, strict=False):
            known = self._looks == LOOKS and work is self._watched
            if thread.is_alive() and not known:
                thread.join(max(0.0, until - time.monotonic()))
        return [
            f"stage {work.stage}, step {work.parcel.step}"
            for thread, work in zip(self._threads, list(self._at), strict=False)
            if work is not None and thread.is_alive()
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for work in self.close():
            log.warning("%s did not end and is left behind", work)

    # -- the consumer's thread -------------------------------------------------------------------

    def _from_the_last_ring(self) -> Iterator[Parcel]:
        self.start()
        while True:
            try:
                parcel = self.rings[-1].get(self._watch)
            except Closed:
                return
            self._in_flight.taken(parcel.nbytes)
            yield parcel

    def _one_after_the_other(self) -> Iterator[Parcel]:
        for step in self._steps:
            parcel = Parcel(step)
            try:
                for position in range(len(self._lanes)):
                    self._work(position, parcel)
            except EndOfData:
                return
            yield parcel

    def _watch(self) -> float | None:
        """Called while the consumer waits: raise when a stage hangs, or say when to look again."""
        if not self._stage_timeout:
            return None
        # Of all that are at work, the one nearest to the consumer holds it up.
        work = next((work for work in reversed(self._at) if work is not None), None)
        if work is None or work is not self._watched:
            self._watched, self._looks = work, 0
        else:
            self._looks += 1
            if self._looks == LOOKS:
                raise StageHung(work.stage, work.parcel, self._stage_timeout)
        return self._stage_timeout / LOOKS

    # -- the lanes' threads ----------------------------------------------------------------------

    def _run(self, position: int) -> None:
        """The body of the thread of lane `position`."""
        ring = self.rings[position]
        try:
            for parcel in self._incoming(position):
                self._work(position, parcel)
                if self._in_flight.weighs:
                    self._weigh(parcel)
                ring.put(parcel)
        except (Closed, EndOfData):
            ring.close()
        except BaseException as error:  # carried to the consumer, in order
            ring.close(error)
        else:
            ring.close()
        finally:
            if position > 0:  # nobody takes from there any more
                self.rings[position - 1].abandon()

    def _incoming(self, position: int) -> Iterator[Parcel]:
        while position > 0:
            try:
                yield self.rings[position - 1].get()
            except Closed:
                return
        for step in self._steps:
            if not self._in_flight.admit():
                return
            yield Parcel(step)

    def _work(self, position: int, parcel: Parcel) -> None:
        for stage in self._lanes[position].stages:
            started = self._clock()
            self._at[position] = _Work(stage.name, parcel)
            try:
                stage.work(parcel)
            except EndOfData:
                raise
            except UserError as error:  # it already says what to do
                locate(error, stage.name, parcel)
                raise
            except Exception as error:
                raise StageError(stage.name, parcel, error) from error
            finally:
                self._at[position] = None
            now = self._clock()
            parcel.seconds[stage.name] = now - started
            parcel.finished[stage.name] = now

    def _weigh(self, parcel: Parcel) -> None:
        before, parcel.nbytes = parcel.nbytes, weight(parcel.batch)
        self._in_flight.weighed(before, parcel.nbytes)

    def _ring(self, lane: Lane, on_depth: Callable[[DepthChange], None] | None) -> Ring[Parcel]:
        adaptive = None
        if lane.deepest is not None:
            adaptive = AdaptiveDepth(lane.depth, lane.deepest, self._in_flight.room)
        return Ring(lane.ring, lane.depth, self._clock, adaptive=adaptive, on_depth=on_depth)
