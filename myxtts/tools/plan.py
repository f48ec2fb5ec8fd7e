"""What would another set-up do? Predictions from one recorded run, each with its range.

The recorded batches are simulated as they were and with the change, many times: blocks of steps
are drawn again (the run's own noise) and everything that is known only between two bounds is drawn
between them. The ratio of the two is what is predicted; the recorded rate times that ratio is the
prediction. A direction is advised only when the whole range of the ratio lies on one side of 1.
What a change does to a run is `changed_run`'s business, measuring is `fix`'s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from myxtts.telemetry.session import Session
from myxtts.tools.changed_run import Stepping, stepping
from myxtts.tools.draws import drawn
from myxtts.tools.figures import RunFigures, of_session
from myxtts.tools.planned_memory import planned_memory_mb
from myxtts.tools.recording import Recording, recording
from myxtts.tools.what_if import WhatIf

DRAWS = 60
LEAST_DOUBT = 0.02
"""No prediction is surer than this: two runs of the same set-up differ by as much."""

Direction = Literal["faster", "slower", "unclear"]


@dataclass(frozen=True)
class Range:
    """A figure and the interval that holds it 95 times in 100."""

    low: float
    point: float
    high: float

    def times(self, factor: float) -> Range:
        return Range(self.low * factor, self.point * factor, self.high * factor)


@dataclass(frozen=True)
class Prediction:
    """What a change would do."""

    what_if: WhatIf
    settings: Mapping[str, Any]
    """The keys that make it so; empty when no key does."""
    steps_per_second: Range
    frames_per_second: Range
    """Useful frames."""
    ratio: Range
    """Useful frames a second / as recorded."""
    wait_share: float
    data_utilization: float
    """Percent, as the other figures of a run."""
    model_utilization: float
    memory_mb: int | None

    @property
    def direction(self) -> Direction:
        """Whether it pays, as far as the range can tell."""
        if self.ratio.low > 1:
            return "faster"
        return "slower" if self.ratio.high < 1 else "unclear"

    def as_json(self) -> dict[str, Any]:
        """Plain data, for `--json`."""
        return {
            "change": str(self.what_if),
            "settings": dict(self.settings),
            "steps_per_second": asdict(self.steps_per_second),
            "useful_frames_per_second": asdict(self.frames_per_second),
            "ratio": asdict(self.ratio),
            "direction": self.direction,
            "wait_share": self.wait_share,
            "data_utilization": self.data_utilization,
            "model_utilization": self.model_utilization,
            "memory_mb": self.memory_mb,
        }


@dataclass(frozen=True)
class Recorded:
    """The run that everything is predicted from; utilisation in percent."""

    steps_per_second: float
    frames_per_second: float
    wait_share: float
    data_utilization: float
    model_utilization: float
    sampled: bool
    """Utilisation comes from the GPUs themselves, not from how long the stages worked."""
    memory_mb: int | None
    virtual: bool


class Planner:
    """Predictions from one run; simulates the run as recorded once for all of them."""

    def __init__(self, session: Session, draws: int = DRAWS) -> None:
        self.run: Recording = recording(session)
        self._figures: RunFigures = of_session(session)
        self._draws = drawn(self.run, draws)
        self._base = [stepping(self.run, WhatIf(), draw) for draw in self._draws]
        told = self._base[0].useful / self._base[0].seconds
        self._bias = abs(math.log(told / self.run.frames_per_second))

    @property
    def recorded(self) -> Recorded:
        """The run as it was."""
        figures, base = self._figures, self._base[0]
        sampled = figures.model_utilization is not None
        return Recorded(
            steps_per_second=self.run.steps_per_second,
            frames_per_second=self.run.frames_per_second,
            wait_share=figures.wait_share or 0.0,
            data_utilization=_first(figures.data_utilization, 100 * base.data_busy),
            model_utilization=_first(figures.model_utilization, 100 * base.model_busy),
            sampled=sampled,
            memory_mb=figures.memory_mb,
            virtual=figures.virtual,
        )

    def predict(self, what_if: WhatIf) -> Prediction:
        """What the change would do; `NotPredictable` where the run does not hold enough."""
        changed = [stepping(self.run, what_if, draw) for draw in self._draws]
        pairs = list(zip(changed, self._compared_with(what_if), strict=True))
        steps = self._range([base.seconds / new.seconds for new, base in pairs])
        frames = self._range(
            [new.frames_per_second / base.frames_per_second for new, base in pairs]
        )
        recorded, new, base = self.recorded, changed[0], self._base[0]
        return Prediction(
            what_if=what_if,
            settings=what_if.settings(self.run.config),
            steps_per_second=steps.times(recorded.steps_per_second),
            frames_per_second=frames.times(recorded.frames_per_second),
            ratio=frames,
            wait_share=_moved(recorded.wait_share, base.wait_share, new.wait_share),
            data_utilization=_scaled(recorded.data_utilization, base.data_busy, new.data_busy),
            model_utilization=_scaled(recorded.model_utilization, base.model_busy, new.model_busy),
            memory_mb=planned_memory_mb(self.run, what_if, _growth(new, base), recorded.memory_mb),
        )

    def _compared_with(self, what_if: WhatIf) -> list[Stepping]:
        """The run as recorded; beside another batch size, its own one over a whole epoch too."""
        if what_if.batch_size is None:
            return self._base
        same = WhatIf(batch_size=self.run.config.data.batch_size)
        return [stepping(self.run, same, draw) for draw in self._draws]

    def _range(self, ratios: list[float]) -> Range:
        """The most likely ratio first; its range widened by how well the run itself is explained.

        A simulation that misses the recorded rate by 3 % may miss the change by as much.
        """
        point = ratios[0]
        low, high = np.percentile(ratios, (2.5, 97.5))
        doubt = max(LEAST_DOUBT, self._bias * min(1.0, abs(math.log(point)) / 0.1))
        return Range(
            min(float(low), point) * math.exp(-doubt),
            point,
            max(float(high), point) * math.exp(doubt),
        )


def _growth(new: Stepping, base: Stepping) -> float:
    return new.padded / base.padded


def _first(measured: float | None, otherwise: float) -> float:
    return otherwise if measured is None else measured


def _moved(recorded: float, base: float, new: float) -> float:
    """The recorded share, moved by as much as the simulation moves."""
    return min(1.0, max(0.0, recorded + new - base))


def _scaled(recorded: float, base: float, new: float) -> float:
    return min(100.0, recorded * new / base) if base > 0 else 100 * new
