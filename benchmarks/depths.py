"""A depth that adapts against depths that do not, under loads that change in mid-run.

Each run is divided by the ideal of a ring without a limit, made of the times that its own stages
really took: two runs' sleeps differ by more than the depths do.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sleeping
from loads import Load
from notes import Say
from server import Server

FIXED = (1, 2, 3, 4, 6, 8, 12, 16)
FIRST = 3
"""Where the adaptive depth begins; it may become as deep as the deepest of the others."""


@dataclass(frozen=True)
class Pass:
    """One run of a load at one depth."""

    seconds: float
    over_ideal: float
    """Seconds / those of an ideal ring without a limit."""
    buffered: float
    """Batches that were ready when the consumer came, on average."""
    deepest: int


@dataclass(frozen=True)
class Contest:
    """All depths on one load, round by round."""

    load: str
    fixed: dict[int, tuple[Pass, ...]]
    adaptive: tuple[Pass, ...]

    @property
    def best(self) -> int:
        """The fixed depth that lost the least time."""
        return min(self.fixed, key=lambda depth: _over_ideal(self.fixed[depth]))

    @property
    def adaptive_vs_best(self) -> float:
        """Time with the adaptive depth / with the best fixed one."""
        return _over_ideal(self.adaptive) / _over_ideal(self.fixed[self.best])

    def to_json(self) -> dict[str, Any]:
        def described(passes: Sequence[Pass]) -> dict[str, float]:
            return {
                "seconds": round(statistics.median(one.seconds for one in passes), 4),
                "over_ideal": round(_over_ideal(passes), 4),
                "buffered": round(statistics.fmean(one.buffered for one in passes), 2),
                "deepest": max(one.deepest for one in passes),
            }

        return {
            "load": self.load,
            "best_fixed": self.best,
            "adaptive_vs_best_fixed": round(self.adaptive_vs_best, 4),
            "buffered_vs_deepest": round(
                statistics.fmean(one.buffered for one in self.adaptive)
                / max(1e-9, statistics.fmean(one.buffered for one in self.fixed[max(self.fixed)])),
                3,
            ),
            "adaptive": described(self.adaptive),
            "fixed": {str(depth): described(passes) for depth, passes in self.fixed.items()},
        }


def _over_ideal(passes: Sequence[Pass]) -> float:
    return statistics.median(one.over_ideal for one in passes)


def compare(loads: Sequence[Load], rounds: int, say: Say) -> list[Contest]:
    """Every depth on every load, in turn, `rounds` times."""
    server = Server("depths", _passes, loads, rounds)
    contests = []
    for load in loads:
        taken: dict[int | None, list[Pass]] = {depth: [] for depth in (*FIXED, None)}
        for _ in range(rounds):
            for depth in taken:
                taken[depth].append(server.ask())
        fixed = {depth: tuple(taken[depth]) for depth in FIXED}
        contests.append(Contest(load.name, fixed, tuple(taken[None])))
        told = contests[-1].to_json()
        lost = {depth: one["over_ideal"] for depth, one in told["fixed"].items()}
        say(f"{load.name}: fixed {lost} x ideal, adaptive {told['adaptive']}")
    server.end()
    return contests


def _passes(loads: Sequence[Load], rounds: int) -> Iterator[Any]:
    """In a process of its own, in the order in which `compare` asks."""
    from peers.sleeping_ours import Ours

    yield "ready"
    for load in loads:
        for _ in range(rounds):
            for depth in (*FIXED, None):
                source = Ours() if depth else Ours(deepest=max(FIXED))
                timing = sleeping.measure(source, load, depth or FIRST)
                assert source.ring is not None
                buffered = source.ring.found / source.ring.taken
                over_ideal = timing.wall / timing.unlimited
                yield Pass(timing.wall, over_ideal, buffered, source.ring.deepest)
