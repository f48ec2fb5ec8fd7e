"""Predicted throughput against the one quantity that is varied, as bars with their ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from myxtts.tools.drawing import Box, Drawing, Label
from myxtts.tools.plan import Planner, Prediction
from myxtts.tools.what_if import WhatIf

_WIDTH, _LEFT, _RIGHT, _TOP, _PANEL = 720, 104, 24, 48, 220
VARIED: dict[str, tuple[float, ...]] = {
    "batch_size": (0.25, 0.5, 1, 2, 4),
    "pipeline_depth": (1, 2, 3, 4, 6, 8, 12, 16),
    "num_workers": (1, 2, 4, 8, 16),
    "model_faster": (1, 1.5, 2, 3, 4),
}
"""What can be varied, and how: batch sizes are factors of the run's own."""


def varied(planner: Planner, name: str) -> list[Prediction]:
    """Predictions over a range of one quantity."""
    own, cores = planner.run.config.data.batch_size, planner.run.cores
    values: list[float] = list(VARIED[name])
    if name == "batch_size":
        values = sorted({max(1, round(own * factor)) for factor in values})
    if name == "num_workers":
        values = sorted({min(value, cores) for value in values})
    return [planner.predict(_what_if(name, value)) for value in values]


def _what_if(name: str, value: float) -> WhatIf:
    changed: dict[str, Any] = {name: value if name == "model_faster" else int(value)}
    return WhatIf(**changed)


def picture(name: str, predictions: Sequence[Prediction]) -> Drawing:
    """A bar for each value up to the prediction, a thin line over its range."""
    highest = max(one.frames_per_second.high for one in predictions)
    step = (_WIDTH - _LEFT - _RIGHT) / len(predictions)
    base = _TOP + _PANEL

    def tall(value: float) -> float:
        return value / highest * _PANEL

    boxes = [Box(_LEFT, base, _WIDTH - _LEFT - _RIGHT, 1, "axis")]
    labels = [Label(16, 24, f"useful frames/s - {name.replace('_', ' ')}")]
    for number, one in enumerate(predictions):
        left, rate = _LEFT + number * step, one.frames_per_second
        value = one.what_if.asked[name]
        words = f"{value}: {rate.point:,.0f} ({rate.low:,.0f} – {rate.high:,.0f})"
        top = base - tall(rate.point)
        boxes.append(Box(left + step * 0.2, top, step * 0.6, tall(rate.point), "bar", words))
        spread = tall(rate.high - rate.low)
        boxes.append(Box(left + step * 0.5 - 1, base - tall(rate.high), 3, spread, "axis", words))
        labels.append(Label(left + step / 2, base + 20, f"{value:g}", "middle"))
    for share in (0.5, 1.0):
        labels.append(Label(_LEFT - 8, base - share * _PANEL + 5, f"{share * highest:,.0f}", "end"))
    return Drawing(_WIDTH, base + 36, f"{labels[0].text}", boxes, labels)
