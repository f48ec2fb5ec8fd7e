"""The ways in which what is not known could be: steps drawn again, laws and bounds drawn.

The first draw is the most likely one; the spread over the others is the range of a prediction.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from myxtts.tools.recording import Recording
from myxtts.tools.stage_laws import Law, fit

BLOCK = 8
"""Steps that stay together when steps are drawn again: what slows one often slows the next."""


@dataclass(frozen=True)
class Draw:
    """One way in which the unknown could be; `number` 0 is the most likely one."""

    number: int
    order: np.ndarray
    """Which recorded steps follow each other, int [n]."""
    laws: Mapping[str, Law]

    def between(self, name: str, bounds: tuple[float, float, float]) -> float:
        """A value of something known only as (least, usual, most)."""
        least, usual, most = bounds
        if self.number == 0:
            return usual
        return least + (most - least) * float(self.rng(name).uniform())

    def rng(self, name: str) -> np.random.Generator:
        """Random numbers that depend on the name and this draw only."""
        return np.random.default_rng([self.number, zlib.crc32(name.encode())])


def drawn(run: Recording, count: int) -> list[Draw]:
    """The most likely one first: all steps in their order, every law as fitted."""
    steps = len(run.work)
    fitted = {stage: fit(points) for stage, points in run.points.items()}
    draws = [Draw(0, np.arange(steps), fitted)]
    for number in range(1, count):
        rng = np.random.default_rng(number)
        laws = {stage: fit(points, rng) for stage, points in run.points.items()}
        draws.append(Draw(number, _resampled(steps, rng), laws))
    return draws


def _resampled(steps: int, rng: np.random.Generator) -> np.ndarray:
    """Blocks of neighbouring steps, drawn with replacement, as many as there were."""
    starts = rng.integers(0, steps, -(-steps // BLOCK))
    blocks = (starts[:, None] + np.arange(BLOCK)) % steps
    return blocks.ravel()[:steps]
