"""Pipelines whose stages sleep: how long the steps take beside each other and beside the ideal.

Sleeping costs no processor, so what is left is the pipeline itself. A sleep lasts longer than it is
told to (some 100 µs), so every stage notes how long it really took, and the ideal is made of that.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import ideal
from loads import Load
from notes import Say
from server import Server

DEPTH = 3

Prepared = tuple[int, float]
"""The step, and how long preparing it really took."""


class Source(Protocol):
    """A way to prepare ahead."""

    def batches(self, naps: Sequence[float], depth: int) -> Iterator[Prepared]:
        """All steps in order, each prepared by sleeping so long, at most `depth` waiting."""
        ...


@dataclass(frozen=True)
class Entry:
    title: str
    module: str
    factory: str


ENTRIES = {
    "ours": Entry("MyXTTS", "sleeping_ours", "Ours"),
    "synchronous": Entry("no pipeline", "sleeping_ours", "Synchronous"),
    "tf_data": Entry("tf.data prefetch", "sleeping_tfdata", "TfData"),
    "torch": Entry("PyTorch DataLoader", "sleeping_torch", "Torch"),
}


@dataclass(frozen=True)
class Timing:
    """One pass; seconds."""

    wall: float
    """From holding the first batch to the end of the last step."""
    ideal: float
    """The same in the ideal pipeline, with the times that its stages really took."""
    ideal_drawn: float
    """And with the times they were told to take."""
    unlimited: float
    """The ideal of a ring without a limit, with the times that the stages really took."""
    steps: int


def nap(seconds: float) -> float:
    """Sleep, and say how long it was."""
    begin = time.perf_counter()
    time.sleep(seconds)
    return time.perf_counter() - begin


def measure(source: Source, load: Load, depth: int, *, overlapping: bool = True) -> Timing:
    """One pass over a load."""
    prepared, trained, begin, end = [], [], 0.0, 0.0
    for expected, (step, seconds) in enumerate(source.batches(load.prepare, depth)):
        if step != expected:
            raise RuntimeError(f"step {step} came in the place of {expected}")
        begin = begin or time.perf_counter()
        prepared.append(seconds)
        trained.append(nap(load.train[step]))
        # Not after the loop: a contender ends its threads and processes there.
        end = time.perf_counter()
    wall = end - begin
    if len(trained) != len(load.train):
        raise RuntimeError(f"{len(trained)} of {len(load.train)} steps came")
    best = partial(ideal.seconds, depth=depth) if overlapping else ideal.one_after_the_other
    return Timing(
        wall=wall,
        ideal=best(prepared, trained),
        ideal_drawn=best(load.prepare, load.train),
        unlimited=ideal.seconds(prepared, trained, len(trained)),
        steps=len(trained),
    )


@dataclass(frozen=True)
class Race:
    """All contenders on one load, round by round."""

    case: tuple[int, str, float]
    """Milliseconds of a training step, how times are drawn, preparing / training."""
    timings: dict[str, tuple[Timing, ...]]

    def vs_ideal(self, name: str) -> float:
        """Wall time / ideal, the median over rounds."""
        return statistics.median(t.wall / t.ideal for t in self.timings[name])

    def vs(self, peer: str) -> float | None:
        """Our time / a peer's, of rounds that follow each other; None: it is missing."""
        if not self.timings.get(peer):
            return None
        pairs = zip(self.timings["ours"], self.timings[peer], strict=True)
        return statistics.median(ours.wall / theirs.wall for ours, theirs in pairs)

    def to_json(self) -> dict[str, Any]:
        mean, kind, ratio = self.case
        passes = {name: timings for name, timings in self.timings.items() if timings}
        return {
            "train_ms": mean,
            "times": kind,
            "prepare_vs_train": ratio,
            "steps": sum(timing.steps for timing in self.timings["ours"]),
            "ms_per_step": {
                name: round(1e3 * sum(t.wall for t in timings) / sum(t.steps for t in timings), 4)
                for name, timings in passes.items()
            },
            "vs_ideal": {name: round(self.vs_ideal(name), 4) for name in passes},
            "vs_ideal_drawn": {
                name: round(statistics.median(t.wall / t.ideal_drawn for t in timings), 4)
                for name, timings in passes.items()
            },
            "ours_vs": {name: _rounded(self.vs(name)) for name in ENTRIES if name != "ours"},
        }


def race(
    rounds: Sequence[Sequence[tuple[tuple[int, str, float], Load]]], say: Say
) -> tuple[list[Race], dict[str, str]]:
    """Every contender over every load of every round, taking turns; and who is missing, and why."""
    loads = [load for cases in zip(*rounds, strict=True) for _, load in cases]
    servers = {name: Server(name, _timings, name, loads) for name in ENTRIES}
    missing = {name: s.missing for name, s in servers.items() if s.missing is not None}
    for name, why in missing.items():
        say(f"{name} is missing: {why}")
    present = [name for name in ENTRIES if name not in missing]
    races = []
    for cases in zip(*rounds, strict=True):
        timings: dict[str, list[Timing]] = {name: [] for name in ENTRIES}
        for number in range(len(cases)):
            turn = number % len(present)  # nobody is always the first
            for name in present[turn:] + present[:turn]:
                timings[name].append(servers[name].ask())
        races.append(Race(cases[0][0], {name: tuple(taken) for name, taken in timings.items()}))
        told = races[-1].to_json()
        say(f"{cases[0][1].name}: {told['vs_ideal']} x ideal, ours vs {told['ours_vs']}")
    for server in servers.values():
        server.end()
    return races, missing


def _timings(name: str, loads: Sequence[Load]) -> Iterator[Any]:
    """Runs in the contender's process: ready when everything is loaded and once tried."""
    entry = ENTRIES[name]
    source: Source = getattr(import_module(f"peers.{entry.module}"), entry.factory)()
    overlapping = name != "synchronous"
    measure(source, Load("warm-up", (0.001,) * 20, (0.001,) * 20), DEPTH)
    yield "ready"
    for load in loads:
        yield measure(source, load, DEPTH, overlapping=overlapping)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
