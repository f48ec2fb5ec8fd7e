"""What loading a batch consists of: reading its bytes, then decoding and assembling them.

Only a profile watches a `Loader` with this. Reading ahead of assembling takes a little longer than
both at once, so a training run does without.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Loaded = TypeVar("Loaded")


def _nothing() -> None:
    """No delay behind decoding."""


def _no_bytes(_nbytes: int) -> None:
    """No delay behind reading."""


class LoadParts:
    """Seconds of each batch, kept until whoever took the batch asks. Used by any thread.

    `after_read(bytes)` and `after_decode()` are called inside the part that they belong to.
    """

    def __init__(
        self,
        after_read: Callable[[int], None] = _no_bytes,
        after_decode: Callable[[], None] = _nothing,
    ) -> None:
        self._after_read = after_read
        self._after_decode = after_decode
        self._seconds: dict[int, dict[str, float]] = {}

    def loaded(self, step: int, read: Callable[[], int], decode: Callable[[], Loaded]) -> Loaded:
        """Do both, one after the other; `read` returns the bytes that had to be read."""
        started = time.perf_counter()
        self._after_read(read())
        between = time.perf_counter()
        batch = decode()
        self._after_decode()
        ended = time.perf_counter()
        self._seconds[step] = {"disk": between - started, "decode": ended - between}
        return batch

    def taken(self, step: int) -> dict[str, float]:
        """The parts of this step's batch, once; empty: not known."""
        return self._seconds.pop(step, {})
