"""A ring of buffers between two threads, which remembers who waited for whom.

Bounded, first in first out, closes from either side without hanging, and carries the producer's
error to the consumer. Waits and occupancy are recorded where they happen: tools read them and
estimate nothing. How deep it should be is `depth`'s business, which thread does what is `feeder`'s.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from myxtts.telemetry.accounts import Clock
from myxtts.training.bell import Bell
from myxtts.training.depth import AdaptiveDepth, DepthChange

Item = TypeVar("Item")


class Closed(Exception):
    """The other side has closed the ring: nothing more will come, or be taken."""


@dataclass(frozen=True)
class RingState:
    """What a ring has seen so far; waits in seconds, summed."""

    name: str
    depth: int
    occupancy: int
    producer_wait: float
    consumer_wait: float
    items: int
    deepest: int
    """The depth at its largest."""
    most: int
    """The most batches that were in it at once."""
    found: int
    """Batches that the consumer found when it came, summed: / taken is the mean occupancy."""
    taken: int
    empty: int
    """How often the consumer found nothing."""
    full: int
    """How often the producer found no room."""
    depth_changes: int


def never() -> None:
    """A consumer that waits as long as it takes."""


class Ring(Generic[Item]):
    """A bounded queue of one producer thread and one consumer thread.

    `adaptive` may change the depth from one item to the next; `on_depth` hears of it, in the
    consumer's thread.
    """

    def __init__(
        self,
        name: str,
        depth: int,
        clock: Clock = time.perf_counter,
        *,
        adaptive: AdaptiveDepth | None = None,
        on_depth: Callable[[DepthChange], None] | None = None,
    ) -> None:
        if depth < 1:
            raise ValueError(f"A ring holds at least one buffer. Received: depth={depth}")
        self.name = name
        self.depth = depth
        self._clock = clock
        self._adaptive = adaptive
        self._on_depth = on_depth
        self._items: deque[Item] = deque()
        self._lock = threading.Lock()
        self._ready = Bell(self._lock)  # wakes the consumer
        self._room = Bell(self._lock)  # wakes the producer
        self._closed = False
        self._error: BaseException | None = None
        self._producer_wait = 0.0
        self._consumer_wait = 0.0
        self._count = 0
        self._deepest, self._most = depth, 0
        self._found = self._taken = self._empty = self._full = self._depth_changes = 0
        self._left = clock()  # when the consumer went away with its last item

    def put(self, item: Item) -> None:
        """Add an item, waiting for room; raises `Closed` when the ring was closed."""
        with self._lock:
            if len(self._items) >= self.depth and not self._closed:
                self._full += 1
                started = self._clock()
                while len(self._items) >= self.depth and not self._closed:
                    self._room.wait()
                self._producer_wait += self._clock() - started
            if self._closed:
                raise Closed(self.name)
            self._items.append(item)
            self._count += 1
            self._most = max(self._most, len(self._items))
            if self._adaptive is not None and len(self._items) >= self.depth:
                self._adaptive.filled()
            self._ready.ring()

    def get(self, watch: Callable[[], float | None] = never) -> Item:
        """Take the oldest item, waiting for one.

        While it waits, `watch()` is asked again and again; it may raise, and says after how many
        seconds it wants to be asked the next time (None: not any more). After the ring was closed,
        what is left in it is still handed out; then the producer's error is raised, or `Closed`
        when there was none.
        """
        with self._lock:
            came, found, waited = self._clock(), len(self._items), 0.0
            if not found and not self._closed:
                try:
                    while not self._items and not self._closed:
                        self._ready.wait(watch())
                finally:
                    waited = self._clock() - came
                    self._consumer_wait += waited
            if not self._items:
                raise self._error or Closed(self.name)
            item = self._items.popleft()
            self._found += found
            self._taken += 1
            self._empty += found == 0
            change = None
            if self._adaptive is not None:
                change = self._adapt(self._adaptive, found, waited, came - self._left)
            self._left = came + waited
            self._room.ring()
        if change is not None and self._on_depth is not None:
            self._on_depth(change)
        return item

    def close(self, error: BaseException | None = None) -> None:
        """Let nothing more in; `error` reaches the consumer after the items already there."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._error = error
            self._wake()

    def abandon(self) -> None:
        """Close from the consumer's side and drop what is left, so that its memory is freed."""
        with self._lock:
            self._closed = True
            self._items.clear()
            self._wake()

    def wait_until_full(self, timeout: float) -> bool:
        """Wait until the ring is full or closed; False when `timeout` seconds were not enough.

        For the consumer's thread, like `get`.
        """
        until = time.monotonic() + timeout
        with self._lock:
            while not self._closed and len(self._items) < self.depth:
                left = until - time.monotonic()
                if left <= 0.0:
                    return False
                self._ready.wait(left)
            return True

    def state(self) -> RingState:
        """A consistent snapshot."""
        with self._lock:
            return RingState(
                name=self.name,
                depth=self.depth,
                occupancy=len(self._items),
                producer_wait=self._producer_wait,
                consumer_wait=self._consumer_wait,
                items=self._count,
                deepest=self._deepest,
                most=self._most,
                found=self._found,
                taken=self._taken,
                empty=self._empty,
                full=self._full,
                depth_changes=self._depth_changes,
            )

    def _adapt(
        self, adaptive: AdaptiveDepth, found: int, waited: float, worked: float
    ) -> DepthChange | None:
        reason = None if self._closed else adaptive.taken(found, waited, worked)
        if reason is None:
            return None
        before, self.depth = self.depth, adaptive.depth
        self._deepest = max(self._deepest, self.depth)
        self._depth_changes += 1
        return DepthChange(self.name, self._count, before, self.depth, reason)

    def _wake(self) -> None:
        self._ready.ring()
        self._room.ring()
