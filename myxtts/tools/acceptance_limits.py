"""How far two devices go: the batch where memory ends, and whether a longer run stays the same.

Pure judgements over recorded runs; running them is `acceptance`'s job.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from myxtts.telemetry.session import Session

FEWEST_STEPS = 8
DRIFT_LIMIT = 0.10
"""A last quarter that much slower than the first is no noise any more."""
GROWTH_LIMIT_MB = 256


@dataclass(frozen=True)
class MemoryEnd:
    """The largest batch that fitted, and the first that did not."""

    fits: int | None
    ends_at: int | None
    """None: the largest that was tried still fitted."""


@dataclass(frozen=True)
class Stability:
    """A longer run: whether its end is like its beginning."""

    steps: int
    variation: float
    """std / mean of the step time."""
    drift: float
    """(last quarter - first quarter) / first quarter of the step time."""
    memory_growth_mb: int | None
    """Between the first and the last report; None: not known."""

    @property
    def stable(self) -> bool:
        """It neither slows down nor swells."""
        swells = (self.memory_growth_mb or 0) > GROWTH_LIMIT_MB
        return self.drift <= DRIFT_LIMIT and not swells


def memory_end(measured: Callable[[int], Session | None], first: int, most: int) -> MemoryEnd:
    """Double the batch until it does not fit; `measured` gives a run, or None when it failed."""
    fits, batch = None, first
    while batch <= most:
        if not fitted(measured(batch)):
            return MemoryEnd(fits, batch)
        fits, batch = batch, 2 * batch
    return MemoryEnd(fits, None)


def fitted(session: Session | None) -> bool:
    """The run was made, and no batch had to be done in parts."""
    return session is not None and next(session.of_kind("out_of_memory"), None) is None


def stability(session: Session) -> Stability | None:
    """None: too few steps to say."""
    times = session.step_times
    if len(times) < FEWEST_STEPS or session.variation is None:
        return None
    quarter = len(times) // 4
    begun, ended = statistics.fmean(times[:quarter]), statistics.fmean(times[-quarter:])
    memory = [e["memory_mb"] for e in session.of_kind("report") if e.get("memory_mb") is not None]
    growth = int(memory[-1] - memory[0]) if len(memory) > 1 else None
    return Stability(len(times), session.variation, (ended - begun) / begun, growth)
