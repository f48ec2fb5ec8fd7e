"""Training steps of one network on both sides: a process for each way, some steps at each turn.

All ways train the same size on the same batch with the same number of threads, in turn and never
at the same time. A side has several ways; its fastest one counts.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import isfinite
from typing import Any

import numpy as np
import speech_batch
from notes import Say
from server import Server

from myxtts.models.sizes import ModelSize

RESAMPLES = 10_000


@dataclass(frozen=True)
class Way:
    """A way to train, by name."""

    title: str
    side: str
    """ours or torch."""
    module: str
    factory: str
    options: dict[str, bool] = field(default_factory=dict)


WAYS = {
    "xla": Way("MyXTTS with XLA", "ours", "our_step", "OurStep", {"xla": True}),
    "graph": Way("MyXTTS without XLA", "ours", "our_step", "OurStep", {"xla": False}),
    "eager": Way("PyTorch, alignment by numba", "torch", "torch_step", "TheirStep"),
    "compiled": Way(
        "torch.compile, alignment by numba", "torch", "torch_step", "TheirStep", {"fused": True}
    ),
    "plain": Way("PyTorch alone", "torch", "torch_step", "TheirStep", {"plain": True}),
}


@dataclass(frozen=True)
class Job:
    """What is trained."""

    size: ModelSize
    shape: speech_batch.Shape
    threads: int


@dataclass(frozen=True)
class Turns:
    """One way's steps, or why there are none."""

    seconds: tuple[tuple[float, ...], ...]
    """Of each step, turn by turn."""
    first_step: float = 0.0
    """Seconds with everything that is compiled for it."""
    parameters: int = 0
    missing: str | None = None

    @property
    def median(self) -> float | None:
        """Seconds of a step."""
        steps = [step for turn in self.seconds for step in turn]
        return statistics.median(steps) if steps else None

    def to_json(self) -> dict[str, Any]:
        if self.missing is not None:
            return {"missing": self.missing}
        steps = [step for turn in self.seconds for step in turn]
        return {
            "ms_per_step": round(1e3 * statistics.median(steps), 2),
            "lowest": round(1e3 * min(steps), 2),
            "highest": round(1e3 * max(steps), 2),
            "steps": len(steps),
            "first_step_s": round(self.first_step, 1),
            "parameters": self.parameters,
        }


def compare(job: Job, ways: Sequence[str], turns: int, steps: int, say: Say) -> dict[str, Turns]:
    """`turns` turns of each way, each of `steps` steps after one that is not counted."""
    servers: dict[str, Server] = {}
    for name in ways:
        servers[name] = Server(name, _steps, name, job, steps)
        missing = servers[name].missing
        say(f"{name}: {'ready' if missing is None else 'missing: ' + missing}")
    taken: dict[str, list[tuple[float, ...]]] = {name: [] for name in ways}
    for number in range(turns):
        for name, server in servers.items():
            if server.missing is None:
                taken[name].append(server.ask())
        medians = [f"{n} {1e3 * statistics.median(t[-1]):.0f} ms" for n, t in taken.items() if t]
        say(f"turn {number + 1}/{turns}  {', '.join(medians)}")
    for server in servers.values():
        server.end()
    return {
        name: Turns((), missing=server.missing)
        if server.missing is not None
        else Turns(tuple(taken[name]), *server.ready)
        for name, server in servers.items()
    }


def _steps(name: str, job: Job, steps: int) -> Iterator[Any]:
    """Runs in the way's process: seconds of the first step and parameters, then turn after turn."""
    way = WAYS[name]
    factory = getattr(import_module(f"peers.{way.module}"), way.factory)
    step = factory(job.size, speech_batch.make(job.shape), job.threads, **way.options)
    first = _timed(step)
    _timed(step)
    yield first, step.parameters
    while True:
        _timed(step)  # memory and threads that slept
        yield tuple(_timed(step) for _ in range(steps))


def _timed(step: Callable[[], list[float]]) -> float:
    begin = time.perf_counter()
    losses = step()
    seconds = time.perf_counter() - begin
    if not all(map(isfinite, losses)):
        raise RuntimeError(f"the losses are {losses}")
    return seconds


def fastest(outcome: dict[str, Turns], side: str) -> str | None:
    """The way of a side with the smallest median; None when all are missing."""
    medians = {
        name: turns.median
        for name, turns in outcome.items()
        if WAYS[name].side == side and turns.median is not None
    }
    return min(medians, key=medians.__getitem__, default=None)


@dataclass(frozen=True)
class Ratio:
    """How many of our steps fit into one of theirs; between `low` and `high` in 95 of 100 runs."""

    value: float
    low: float
    high: float


def ratio(outcome: dict[str, Turns]) -> Ratio | None:
    """The median over turns, each side in its fastest way; None when a side is missing.

    A turn's two sides are measured within seconds, so what slows the machine down slows both.
    """
    ours, theirs = fastest(outcome, "ours"), fastest(outcome, "torch")
    if ours is None or theirs is None:
        return None
    turns = zip(outcome[ours].seconds, outcome[theirs].seconds, strict=True)
    ratios = np.array([np.median(their) / np.median(our) for our, their in turns])
    chosen = np.random.default_rng(1).integers(0, len(ratios), (RESAMPLES, len(ratios)))
    low, high = np.percentile(np.median(ratios[chosen], axis=1), (2.5, 97.5))
    return Ratio(float(np.median(ratios)), float(low), float(high))
