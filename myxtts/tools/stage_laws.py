"""What a stage costs on its own, as a law of the batch's frames: seconds = fixed + slope x frames.

The points come from a run's `rate` events: each stage timed alone, for several shapes and, where
it matters, at about half of the rows. A law is fitted with relative errors, so that a large batch
does not drown a small one; resampled batches give its uncertainty. What a law is used for is
`what_if`'s business.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from myxtts.telemetry.session import Session

TRAINING = "training"
"""How rate events call the training step; every other name is a stage of the pipeline."""
LEVEL_DOUBT = 0.02
"""Relative error (1 sigma) of each point: the machine's speed drifts between them."""
DOUBT_PER_DOUBLING = 0.05
"""Relative error (1 sigma) of a law for every doubling beyond the frames that were measured."""


@dataclass(frozen=True)
class Point:
    """One stage, alone, over several batches of one shape."""

    frames: int
    """Rows x padded frames."""
    seconds: tuple[float, ...]


Points = Mapping[str, tuple[Point, ...]]


@dataclass(frozen=True)
class Law:
    """seconds = fixed + slope x frames."""

    fixed: float
    slope: float
    least: int
    """The fewest frames that were measured."""
    most: int
    doubt: float = 0.0
    """How far off it is beyond those, in sigmas; 0: as fitted."""

    def __call__(self, frames: np.ndarray) -> np.ndarray:
        """Seconds for batches of so many frames."""
        beyond = np.log2(np.maximum(frames / self.most, self.least / np.maximum(frames, 1)))
        wrong = self.doubt * DOUBT_PER_DOUBLING * np.maximum(beyond, 0.0)
        return np.asarray((self.fixed + self.slope * frames) * np.exp(wrong))


def points(session: Session) -> Points:
    """The stages that the run timed alone; empty when it did not."""
    found: dict[str, list[Point]] = {}
    for event in session.of_kind("rate"):
        seconds = tuple(float(taken) for taken in event.get("seconds", ()) if taken > 0)
        frames = int(event.get("frames", 0))
        if seconds and frames > 0:
            found.setdefault(str(event["stage"]), []).append(Point(frames, seconds))
    return {stage: tuple(some) for stage, some in found.items()}


def fit(some: Sequence[Point], rng: np.random.Generator | None = None) -> Law:
    """The law of one stage's points; with `rng` that of resampled batches, with its doubt.

    Of points at a single number of frames only the level is known: the cost is then taken to grow
    with the frames (without `rng`), or to stay as it is, or anything between.
    """
    frames = np.array([point.frames for point in some], float)
    middle = np.array([_middle(point.seconds, rng) for point in some])
    least, most = int(frames.min()), int(frames.max())
    doubt = 0.0 if rng is None else float(rng.standard_normal())
    if most < 1.2 * least:
        grows = 1.0 if rng is None else float(rng.uniform())
        level, at = float(middle.mean()), float(frames.mean())
        return Law((1 - grows) * level, grows * level / at, least, most, doubt)
    fixed, slope = _line(frames, middle)
    return Law(fixed, slope, least, most, doubt)


def _middle(seconds: Sequence[float], rng: np.random.Generator | None) -> float:
    """The median, which one interrupted batch does not move."""
    if rng is None:
        return float(np.median(seconds))
    drift = math.exp(LEVEL_DOUBT * rng.standard_normal())
    return float(np.median(rng.choice(seconds, len(seconds)))) * drift


def _line(frames: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """Least squares of the relative errors; neither a negative cost nor one that falls."""
    design = np.stack([np.ones_like(frames), frames], axis=1) / seconds[:, None]
    (fixed, slope), *_ = np.linalg.lstsq(design, np.ones_like(seconds), rcond=None)
    if slope < 0:
        return float(math.exp(np.log(seconds).mean())), 0.0
    if fixed < 0:
        ratio = frames / seconds
        return 0.0, float(ratio.sum() / (ratio**2).sum())
    return float(fixed), float(slope)
