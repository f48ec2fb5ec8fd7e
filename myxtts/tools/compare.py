"""Two runs side by side: what changed, and whether it is more than noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from myxtts.tools.figures import RunFigures

Unit = Literal["ms", "per second", "share", "percent", "MB", "s"]
Verdict = Literal["better", "worse", "no clear change", "not measured"]


@dataclass(frozen=True)
class ComparedRow:
    """One figure of both runs."""

    name: str
    unit: Unit
    a: float | None
    b: float | None
    better: Literal["higher", "lower"]
    clear: bool = True
    """False: the difference is within the noise of the steps."""

    @property
    def change(self) -> float | None:
        """(B - A) / A."""
        if self.a is None or self.b is None or self.a == 0:
            return None
        return (self.b - self.a) / self.a

    @property
    def verdict(self) -> Verdict:
        if self.change is None:
            return "not measured"
        if not self.clear or not self._noticeable:
            return "no clear change"
        return "better" if (self.change > 0) == (self.better == "higher") else "worse"

    @property
    def _noticeable(self) -> bool:
        """A point of a share or percentage, or 2 % of anything else: less is nobody's gain."""
        assert self.a is not None and self.b is not None
        least = {"share": 0.01, "percent": 1.0}.get(self.unit, 0.02 * abs(self.a))
        return abs(self.b - self.a) >= least

    def shown(self, value: float | None) -> str:
        """One of the two figures in its unit."""
        if value is None:
            return "N/A"
        formats = {
            "ms": f"{value:.1f} ms",
            "per second": f"{value:.2f}/s" if value < 100 else f"{value:.0f}/s",
            "share": f"{value:.1%}",
            "percent": f"{value:.0f} %",
            "MB": f"{value:.0f} MB",
            "s": f"{value:.1f} s",
        }
        return formats[self.unit]

    @property
    def shown_change(self) -> str:
        """The change with its sign; empty when it is not known."""
        return "" if self.change is None else f"{self.change:+.1%}"

    def as_json(self) -> dict[str, Any]:
        """Plain data, for `--json`."""
        return {
            "name": self.name,
            "unit": self.unit,
            "a": self.a,
            "b": self.b,
            "change": self.change,
            "verdict": self.verdict,
        }


def compare(a: RunFigures, b: RunFigures) -> list[ComparedRow]:
    """Step time, rates, std/mean, utilisation, memory and total time of both."""
    clear = _differs(a, b)
    return [
        ComparedRow("step time", "ms", 1e3 * a.step_seconds, 1e3 * b.step_seconds, "lower", clear),
        ComparedRow("steps", "per second", a.steps_per_second, b.steps_per_second, "higher", clear),
        ComparedRow(
            "useful frames",
            "per second",
            a.useful_frames_per_second,
            b.useful_frames_per_second,
            "higher",
            _rates_differ(a, b),
        ),
        ComparedRow("std/mean of the step time", "share", a.variation, b.variation, "lower"),
        ComparedRow("waiting for data", "share", a.wait_share, b.wait_share, "lower"),
        ComparedRow(
            "data GPU utilisation", "percent", a.data_utilization, b.data_utilization, "higher"
        ),
        ComparedRow(
            "model GPU utilisation", "percent", a.model_utilization, b.model_utilization, "higher"
        ),
        ComparedRow("memory", "MB", a.memory_mb, b.memory_mb, "lower"),
        ComparedRow("total time", "s", a.wall, b.wall, "lower"),
    ]


def speedup(a: RunFigures, b: RunFigures) -> float | None:
    """How many times the useful frames of A the run B makes in a second."""
    if not a.useful_frames_per_second or b.useful_frames_per_second is None:
        return None
    return b.useful_frames_per_second / a.useful_frames_per_second


def _differs(a: RunFigures, b: RunFigures) -> bool:
    """The 95 % interval of the difference of mean step times leaves out zero."""
    error = math.sqrt(a.step_std**2 / a.steps + b.step_std**2 / b.steps)
    return abs(a.step_seconds - b.step_seconds) > 1.96 * error


def _rates_differ(a: RunFigures, b: RunFigures) -> bool:
    """The same for useful frames per second, whose noise is that of the step time."""
    ratio = speedup(a, b)
    error = math.sqrt(a.variation**2 / a.steps + b.variation**2 / b.steps)
    return ratio is not None and ratio > 0 and abs(math.log(ratio)) > 1.96 * error
