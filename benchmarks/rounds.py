"""Contenders side by side: a process for each, rounds in turn (A B C, A B C), medians with spread.

What is measured is the time from asking for the first batch to holding the last.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from clips import BATCH
from notes import Say
from peers import Contender, Job, create
from server import Server

_EDGE = 3
"""Frames at both ends of a clip that padding touches; they are not compared."""


@dataclass(frozen=True)
class Pass:
    """One measured pass over the clips."""

    seconds: float
    first_batch: float
    """Seconds until the first batch."""
    clips: int

    @property
    def rate(self) -> float:
        """Clips a second."""
        return self.clips / self.seconds


@dataclass(frozen=True)
class Outcome:
    """A contender's passes, or why there are none."""

    passes: tuple[Pass, ...]
    deviation: float | None
    """Largest difference of a log-mel from ours, over the first batch."""
    missing: str | None

    @property
    def rate(self) -> float | None:
        """Median clips a second."""
        return statistics.median(one.rate for one in self.passes) if self.passes else None

    def to_json(self) -> dict[str, Any]:
        if not self.passes:
            return {"missing": self.missing}
        rates = [one.rate for one in self.passes]
        return {
            "clips_per_second": round(statistics.median(rates), 1),
            "lowest": round(min(rates), 1),
            "highest": round(max(rates), 1),
            "clips_per_pass": self.passes[0].clips,
            "first_batch_s": round(statistics.median(p.first_batch for p in self.passes), 4),
            "largest_difference_from_ours": self.deviation,
            "passes": len(rates),
        }


def compare(jobs: dict[str, Job], rounds: int, say: Say) -> dict[str, Outcome]:
    """Measure every contender `rounds` times in turn, after a pass that is not counted."""
    servers = {}
    for name, job in jobs.items():
        servers[name] = Server(name, _passes, name, job)
        problem = servers[name].missing
        say(f"{name}: {'ready' if problem is None else 'missing: ' + problem}")
    present = {name: server for name, server in servers.items() if server.missing is None}
    passes: dict[str, list[Pass]] = {name: [] for name in servers}
    for number in range(rounds):
        for name, server in present.items():
            passes[name].append(server.ask())
            say(f"round {number + 1}/{rounds}  {name:8s} {passes[name][-1].rate:9.0f} clips/s")
    for server in servers.values():
        server.end()
    return {
        name: Outcome(tuple(passes[name]), server.ready, server.missing)
        for name, server in servers.items()
    }


def _passes(name: str, job: Job) -> Iterator[Any]:
    """Runs in the contender's process: how far its mels are from ours, then pass after pass."""
    contender = create(name, job)
    yield _deviation(contender, job)
    while True:
        yield measured(contender, len(job.workload))


def measured(contender: Contender, clips: int) -> Pass:
    """One pass; every clip must come out of it."""
    contender.ready()
    begin = time.perf_counter()
    first = 0.0
    rows = []
    for batch in contender.batches():
        first = first or time.perf_counter() - begin
        rows.append(batch["clips"])
    seconds = time.perf_counter() - begin
    seen = np.unique(np.concatenate([np.asarray(some) for some in rows]))
    if len(seen) != clips or len(rows) * BATCH != clips:
        raise RuntimeError(f"{len(seen)} of {clips} clips came out, in {len(rows)} batches")
    return Pass(seconds, first, clips)


def _deviation(contender: Contender, job: Job) -> float | None:
    """Warm up with a whole pass, and compare its first batch with what it should be."""
    contender.ready()
    batches = iter(contender.batches())
    first = next(batches)
    arrays = {name: np.array(array) for name, array in first.items()}
    for _ in batches:
        pass
    if not arrays["mel_lengths"].any():  # the bare copy has no clips
        return None
    return max(_differences(arrays, job))


def _differences(batch: dict[str, np.ndarray], job: Job) -> Iterable[float]:
    for place, row in enumerate(batch["clips"]):
        mel, length = job.workload.mel(int(row)), int(batch["mel_lengths"][place])
        tokens, text = batch["tokens"][place], job.workload.tokens[int(row)]
        if length != len(mel) or not np.array_equal(tokens, text):
            raise RuntimeError(f"clip {row} does not have our length or our tokens")
        inside = slice(_EDGE, length - _EDGE)
        computed = batch["mels"][place].astype(np.float32)
        if computed[length:].any():
            raise RuntimeError(f"clip {row} is not padded with zeros")
        yield float(np.abs(computed[inside] - mel[inside].astype(np.float32)).max())
