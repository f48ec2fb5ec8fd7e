"""What the GPUs did last, for those who want to know now: reports and the live table.

The sampler's thread tells, the thread that trains asks. A card that was lost stays known and says
nothing more: its place is N/A from then on, not empty and not its last figure.
"""

from __future__ import annotations

from dataclasses import dataclass

from myxtts.telemetry.gpu import GpuSample


@dataclass(frozen=True)
class GpuReading:
    """One card now; None: it does not say, or is lost."""

    index: int
    utilization: float | None
    """Percent, 0–100."""
    power_w: float | None


class GpuWatch:
    """The newest sample of each card. Each method is one operation on a dictionary."""

    def __init__(self) -> None:
        self._newest: dict[int, GpuReading] = {}

    def saw(self, sample: GpuSample) -> None:
        """A sample was taken."""
        self._newest[sample.index] = GpuReading(sample.index, sample.utilization, sample.power_w)

    def lost(self, index: int) -> None:
        """A card does not answer any more."""
        self._newest[index] = GpuReading(index, None, None)

    def readings(self) -> tuple[GpuReading, ...]:
        """Every card that was ever seen, in index order."""
        return tuple(sorted(self._newest.copy().values(), key=lambda reading: reading.index))


def total_power(readings: tuple[GpuReading, ...]) -> float | None:
    """Watts of all cards together; None when one of them does not say."""
    watts = [reading.power_w for reading in readings]
    known = [power for power in watts if power is not None]
    return sum(known) if known and len(known) == len(watts) else None
