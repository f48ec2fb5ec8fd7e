"""What a corpus 1, 4 and 16 times as large costs: time, memory, the first batch."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clips import data_config
from fresh import in_fresh_process
from machine import forget_peak, memory_mb

FACTORS = (1, 4, 16)


@dataclass(frozen=True)
class FirstRun:
    """A corpus that was never prepared."""

    prepare_seconds: float
    first_batch_seconds: float
    """From the start of preparing to the first batch."""
    memory_growth_mb: float
    """Most memory while preparing, above what the process used before."""


@dataclass(frozen=True)
class CachedRun:
    """The same in another process, when everything is prepared."""

    first_batch_seconds: float
    epoch_seconds: float


@dataclass(frozen=True)
class Size:
    """The cost at one size."""

    factor: int
    clips: int
    store_bytes: int
    first_run: FirstRun
    first_batch_cached: list[float]
    """Seconds, a process each."""
    epoch_seconds: float

    @property
    def first_batch_cached_seconds(self) -> float:
        return statistics.median(self.first_batch_cached)


def measure(
    factor: int, clips: int, corpus: Path, cache: Path, repeats: int, say: Callable[[str], None]
) -> Size:
    """Prepare the corpus, then start from the cache `repeats` times."""
    first = in_fresh_process(_first_run, corpus, cache)
    cached = [in_fresh_process(_cached_run, corpus, cache) for _ in range(repeats)]
    size = Size(
        factor,
        clips,
        sum(path.stat().st_size for path in cache.rglob("shard-*.f16")),
        first,
        [run.first_batch_seconds for run in cached],
        statistics.median(run.epoch_seconds for run in cached),
    )
    say(
        f"{factor:2d}x {clips:6d} clips  prepared in {first.prepare_seconds:6.1f} s, "
        f"memory + {first.memory_growth_mb:.0f} MB; "
        f"first batch from the cache {size.first_batch_cached_seconds:.2f} s"
    )
    return size


def _first_run(corpus: Path, cache: Path) -> FirstRun:
    from peers.ours import open_loader

    from myxtts.data.prepare import prepare

    forget_peak()
    before = memory_mb("VmRSS")
    begin = time.perf_counter()
    prepare(corpus, data_config(cache))
    prepared = time.perf_counter() - begin
    growth = memory_mb("VmHWM") - before
    # Opening what was just prepared is a small part of the first batch; `prepare` is most of it.
    begin_again = time.perf_counter()
    loader = open_loader(corpus, cache)
    next(loader.batches(0))
    first = prepared + time.perf_counter() - begin_again
    loader.close()
    return FirstRun(prepared, first, growth)


def _cached_run(corpus: Path, cache: Path) -> CachedRun:
    from peers.ours import open_loader

    begin = time.perf_counter()
    loader = open_loader(corpus, cache)
    batches = loader.batches(0, loader.batches_per_epoch)
    next(batches)
    first = time.perf_counter() - begin
    for _ in batches:
        pass
    epoch = time.perf_counter() - begin
    loader.close()
    return CachedRun(first, epoch)
