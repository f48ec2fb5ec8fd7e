"""How deep a ring should be, learned from what its consumer meets.

A deeper ring bridges longer stalls of its producer, and holds more memory. So it grows when it ran
dry although it had been full (its producer is fast enough, its depth was not), by as many buffers
as would have bridged the wait; and it gives one buffer back after every calm window. Giving back a
buffer can cost one step's time, once, and a window is a hundred steps and more: being wrong costs
less than 1 %, and half as much after every mistake. Pure arithmetic: threads and locks are
`buffers`' business.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

WINDOW = 128
"""Takes without a wait before a buffer is given back. A drought longer than this is a producer that
is too slow, which no depth can help."""
LEAST = 2
_SMOOTHING = 0.1
_LONGEST_STEP = 4.0
"""A pause of the consumer (validation, a checkpoint) counts as at most so many of its steps."""

EMPTY_AFTER_FULL = "empty after full"
NEVER_EMPTY = "never empty"
OVER_BUDGET = "over the byte budget"


@dataclass(frozen=True)
class DepthChange:
    """One decision, for the record."""

    ring: str
    items: int
    """Batches that had gone through the ring by then."""
    before: int
    after: int
    reason: str


def unlimited() -> int:
    """The room that a budget leaves when there is none."""
    return 1 << 30


class AdaptiveDepth:
    """The depth of one ring, between `LEAST` (or its first depth) and `most`.

    `room()` says how many more batches the byte budget has place for; negative when it is exceeded.
    """

    def __init__(self, depth: int, most: int, room: Callable[[], int] = unlimited) -> None:
        self.depth = depth
        self._least = min(LEAST, depth)
        self._most = max(most, depth)
        self._room = room
        self._step = 0.0  # seconds that the consumer keeps a batch, smoothed
        self._since_full = WINDOW  # takes; it has never been full
        self._full_depth = depth
        self._dry = 0.0  # seconds waited since it was full
        self._patience = WINDOW
        self._calm = 0
        self._spare = depth  # the fewest buffers left after a take, in this window
        self._gave_back = False

    def filled(self) -> None:
        """The producer has filled the last buffer."""
        self._since_full = 0
        self._full_depth = self.depth
        self._dry = 0.0

    def taken(self, found: int, waited: float, worked: float) -> str | None:
        """The consumer found so many batches, and took one; the reason if the depth changes.

        `waited` seconds it waited for it, after it had `worked` on the one before.
        """
        self._since_full += 1
        self._step += _SMOOTHING * (min(worked, _LONGEST_STEP * self._step) - self._step)
        self._step = self._step or worked
        if self._room() < 0 and self.depth > 1:
            return self._change(self.depth - 1, OVER_BUDGET)
        if found == 0:
            return self._ran_dry(waited)
        self._calm += 1
        self._spare = min(self._spare, found - 1)
        if self._calm < self._patience:
            return None
        needless = self._spare > 0 and self.depth > self._least
        self._begin_window()
        if not needless:
            return None
        self._gave_back = True
        return self._change(self.depth - 1, NEVER_EMPTY)

    def _ran_dry(self, waited: float) -> str | None:
        self._begin_window()
        if self._since_full > WINDOW:
            return None
        self._dry += waited
        missed = math.ceil(self._dry / self._step) if self._step else 1
        wanted = min(self._full_depth + missed, self._most, self._room())
        if wanted <= self.depth:
            return None
        if self._gave_back:
            self._patience *= 2
            self._gave_back = False
        return self._change(wanted, EMPTY_AFTER_FULL)

    def _change(self, depth: int, reason: str) -> str:
        self.depth = depth
        self._full_depth = min(self._full_depth, depth)
        return reason

    def _begin_window(self) -> None:
        self._calm = 0
        self._spare = self.depth
