"""A ring of buffers between two threads, which remembers who waited for whom.

Bounded, first in first out, closes from either side without hanging, and carries the producer's
error to the consumer. Waits and occupancy are recorded where they happen: tools read them and
estimate nothing. Which thread does what is `feeder`'s business.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

from myxtts.telemetry.accounts import Clock

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


class Ring(Generic[Item]):
    """A bounded queue of one producer thread and one consumer thread."""

    def __init__(self, name: str, depth: int, clock: Clock = time.perf_counter) -> None:
        if depth < 1:
            raise ValueError(f"A ring holds at least one buffer. Received: depth={depth}")
        self.name = name
        self.depth = depth
        self._clock = clock
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._error: BaseException | None = None
        self._producer_wait = 0.0
        self._consumer_wait = 0.0
        self._count = 0

    def put(self, item: Item) -> None:
        """Add an item, waiting for room; raises `Closed` when the ring was closed."""
        with self._changed:
            started = self._clock()
            while len(self._items) >= self.depth and not self._closed:
                self._changed.wait()
            self._producer_wait += self._clock() - started
            if self._closed:
                raise Closed(self.name)
            self._items.append(item)
            self._count += 1
            self._changed.notify_all()

    def get(self) -> Item:
        """Take the oldest item, waiting for one.

        After the ring was closed, what is left in it is still handed out; then the producer's
        error is raised, or `Closed` when there was none.
        """
        with self._changed:
            started = self._clock()
            while not self._items and not self._closed:
                self._changed.wait()
            self._consumer_wait += self._clock() - started
            if self._items:
                item = self._items.popleft()
                self._changed.notify_all()
                return item
            if self._error is not None:
                raise self._error
            raise Closed(self.name)

    def close(self, error: BaseException | None = None) -> None:
        """Let nothing more in; `error` reaches the consumer after the items already there."""
        with self._changed:
            if not self._closed:
                self._closed = True
                self._error = error
            self._changed.notify_all()

    def abandon(self) -> None:
        """Close from the consumer's side and drop what is left, so that its memory is freed."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()

    def wait_until_full(self, timeout: float) -> bool:
        """Wait until the ring is full or closed; False when `timeout` seconds were not enough."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._closed or len(self._items) >= self.depth, timeout
            )

    def state(self) -> RingState:
        """A consistent snapshot."""
        with self._changed:
            return RingState(
                self.name,
                self.depth,
                len(self._items),
                self._producer_wait,
                self._consumer_wait,
                self._count,
            )
