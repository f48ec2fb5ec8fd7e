"""How long preparing and training take, step by step: drawn from a seed, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

SPREAD = 0.5
"""Sigma of the log-normal times."""
STEADY = tuple(
    (mean, kind, ratio)
    for mean, ratios in (
        (5, (0.3, 0.7, 1.0, 1.5)),
        (10, (0.3, 0.7, 1.0, 1.5)),
        (30, (0.3, 1.0, 1.5)),
    )
    for kind in ("fixed", "log-normal")
    for ratio in ratios
)
"""Milliseconds of a training step, how times are drawn, and preparing / training."""


@dataclass(frozen=True)
class Load:
    """Seconds of each step."""

    name: str
    prepare: tuple[float, ...]
    train: tuple[float, ...]


def steady(steps: int, seed: int) -> Iterator[tuple[tuple[int, str, float], Load]]:
    """Loads whose means do not change."""
    for number, (mean, kind, ratio) in enumerate(STEADY):
        rng = np.random.default_rng((seed, number))
        train = mean / 1e3
        times = (_drawn(rng, ratio * train, steps, kind), _drawn(rng, train, steps, kind))
        yield (mean, kind, ratio), Load(f"{mean} ms, {kind}, {ratio}", *times)


TRAIN = 0.005
"""Seconds of a training step in the loads that change."""


def changing(steps: int, seed: int) -> list[Load]:
    """Loads that change in mid-run, so that no depth is right all the time."""
    return [
        Load(name, tuple(map(float, make(np.random.default_rng(seed), steps))), (TRAIN,) * steps)
        for name, make in CHANGING.items()
    ]


def _bursty(_rng: np.random.Generator, steps: int) -> np.ndarray:
    """Every 60 steps 12 that take longer than training; in the second half 20, not as long."""
    place = np.arange(steps) % 60
    early = np.where(place < 12, 0.008, 0.0025)
    late = np.where(place < 20, 0.007, 0.0025)
    return np.where(np.arange(steps) < steps // 2, early, late)


def _phases(rng: np.random.Generator, steps: int) -> np.ndarray:
    """A third too slow, a third much faster than training, a third just about as fast."""
    thirds = np.array_split(np.arange(steps), 3)
    means = (0.007, 0.003, 0.0045)
    return np.concatenate(
        [_log_normal(rng, mean, len(third), 0.8) for mean, third in zip(means, thirds, strict=True)]
    )


def _stalls(rng: np.random.Generator, steps: int) -> np.ndarray:
    """Half as long as training, but at one step in 150 it stops for 60 ms."""
    times = np.full(steps, TRAIN / 2)
    times[np.flatnonzero(rng.random(steps) < 1 / 150)] = 0.060
    return times


CHANGING: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "bursts": _bursty,
    "slow, fast, even": _phases,
    "rare long stalls": _stalls,
}


def _drawn(rng: np.random.Generator, mean: float, steps: int, kind: str) -> tuple[float, ...]:
    if kind == "fixed":
        return (mean,) * steps
    return tuple(map(float, _log_normal(rng, mean, steps, SPREAD)))


def _log_normal(rng: np.random.Generator, mean: float, steps: int, sigma: float) -> np.ndarray:
    return rng.lognormal(np.log(mean) - sigma**2 / 2, sigma, steps)
