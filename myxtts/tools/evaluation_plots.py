"""How a metric's values spread over the clips: the model's above the source's, on one scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from myxtts.tools.drawing import Anchor, Box, Drawing, Label

_BINS = 16
_WIDTH, _LEFT, _RIGHT = 800, 96, 16
_PANEL, _TOP, _GAP = 72, 40, 16


def histograms(
    title: str, rows: list[tuple[str, list[float]]], shown: Callable[[float], str]
) -> Drawing:
    """One panel for each (name, values), with common edges and heights.

    `shown` writes a value in its unit.
    """
    everything = np.concatenate([values for _, values in rows])
    edges = np.histogram_bin_edges(everything, _BINS)
    counts = [np.histogram(values, edges)[0] for _, values in rows]
    highest = max(int(count.max()) for count in counts)
    step = (_WIDTH - _LEFT - _RIGHT) / _BINS
    boxes: list[Box] = []
    labels = [Label(16, 24, title)]
    base = _TOP
    for (name, values), count in zip(rows, counts, strict=True):
        base += _PANEL
        labels.append(Label(_LEFT - 8, base, name, "end"))
        boxes.append(Box(_LEFT, base, _WIDTH - _LEFT - _RIGHT, 1, "axis"))
        for number, clips in enumerate(count):
            tall = clips / highest * (_PANEL - 8)
            words = f"{shown(edges[number])}–{shown(edges[number + 1])}: {clips}"
            left = _LEFT + number * step + 1
            boxes.append(Box(left, base - tall, step - 2, tall, "bar", words))
        mean = _at(float(np.mean(values)), edges, step)
        boxes.append(Box(mean - 0.5, base - _PANEL + 8, 1, _PANEL - 8, "axis", "mean"))
        base += _GAP
    for number in range(0, _BINS + 1, 4):
        anchor: Anchor = "end" if number == _BINS else "middle"
        labels.append(Label(_LEFT + number * step, base + 8, shown(edges[number]), anchor))
    means = ", ".join(f"{name} {shown(float(np.mean(values)))}" for name, values in rows)
    return Drawing(_WIDTH, base + 20, f"{title}: {means}", boxes, labels)


def _at(value: float, edges: np.ndarray, step: float) -> float:
    """Where a value lies across, in pixels."""
    share = (value - edges[0]) / (edges[-1] - edges[0])
    return float(_LEFT + share * step * _BINS)
