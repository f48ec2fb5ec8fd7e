"""How many batches, and how many bytes of them, may be anywhere in the pipeline at once.

The first thread asks before it begins a batch, the consumer gives back what it takes. One batch is
always allowed, however heavy: a budget may slow a run down, never stop it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from myxtts.training.bell import Bell
from myxtts.training.depth import unlimited


class InFlight:
    """The account of all batches between the first stage and the consumer.

    One thread asks for admission; any thread may do the rest.
    """

    def __init__(self, most: int, most_bytes: int | None = None) -> None:
        """At most `most` batches of `most_bytes` together; None: bytes are not counted."""
        self._most = most
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._changed = Bell(self._lock)
        self._count = 0
        self._bytes = 0
        self._heaviest = 0
        self._closed = False

    @property
    def weighs(self) -> bool:
        """Whether anybody wants to know how heavy a batch is."""
        return self._most_bytes is not None

    def admit(self) -> bool:
        """Wait until one more batch may begin; False when none will, ever."""
        with self._lock:
            while not self._closed and self._count and not self._fits():
                self._changed.wait()
            self._count += 1
            return not self._closed

    def weighed(self, before: int, after: int) -> None:
        """A batch has become heavier or lighter on its way."""
        with self._lock:
            self._bytes += after - before
            self._heaviest = max(self._heaviest, after)

    def taken(self, nbytes: int) -> None:
        """The consumer has a batch; it is out of the pipeline."""
        with self._lock:
            self._count -= 1
            self._bytes -= nbytes
            self._changed.ring()

    def room(self) -> int:
        """How many batches as heavy as the heaviest still fit; negative: too many are here."""
        with self._lock:
            if self._most_bytes is None or not self._heaviest:
                return unlimited()
            return (self._most_bytes - self._bytes) // self._heaviest

    def close(self) -> None:
        """Let nobody wait any more."""
        with self._lock:
            self._closed = True
            self._changed.ring()

    def _fits(self) -> bool:
        if self._count >= self._most:
            return False
        return self._most_bytes is None or self._bytes + self._heaviest <= self._most_bytes


def weight(batch: Any) -> int:
    """Bytes of the arrays and tensors in a batch; what is neither weighs nothing."""
    parts = batch.values() if isinstance(batch, Mapping) else (batch,)
    return sum(map(_bytes, parts))


def _bytes(part: Any) -> int:
    if isinstance(part, np.ndarray):
        return part.nbytes
    size = getattr(getattr(part, "dtype", None), "size", None)  # of a tensor's element
    return math.prod(part.shape) * size if size else 0
