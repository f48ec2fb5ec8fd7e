"""Our pipeline with a stage that sleeps, and the loop without any pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sleeping import Prepared, nap

from myxtts.training.buffers import RingState
from myxtts.training.feeder import Feeder
from myxtts.training.stages import Lane, Parcel, Stage


class Ours:
    """One lane and one ring; with `deepest` the ring's depth changes by itself."""

    def __init__(self, deepest: int | None = None) -> None:
        self._deepest = deepest
        self.ring: RingState | None = None
        """What the ring of the last pass has seen."""

    def batches(self, naps: Sequence[float], depth: int) -> Iterator[Prepared]:
        def prepare(parcel: Parcel) -> None:
            parcel.batch = nap(naps[parcel.step])

        lane = Lane("ready", depth, (Stage("prepare", prepare),), self._deepest)
        with Feeder(range(len(naps)), [lane]) as feeder:
            for parcel in feeder:
                yield parcel.step, parcel.batch
            self.ring = feeder.states()[0]


class Synchronous:
    """Prepare, train, prepare, train."""

    def batches(self, naps: Sequence[float], depth: int) -> Iterator[Prepared]:
        del depth
        for step, seconds in enumerate(naps):
            yield step, nap(seconds)
