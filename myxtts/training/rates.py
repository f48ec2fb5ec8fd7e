"""Each stage on its own: how long it takes for a batch when no other thread works.

Done in a profile after its steps, in the thread that trained, over the run's own first batches and
over batches of half the rows. What a stage costs in the pipeline beside the others is in the steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf

from myxtts.config import Config
from myxtts.data.loader import Loader
from myxtts.training.batch_path import BatchPath
from myxtts.training.corpus import TrainingData, loader_of
from myxtts.training.stages import Lane, Parcel, Stage

BATCHES = 12
"""In each stage, at most."""
SECONDS = 2.0
"""A stage that has taken so long, and done `FEWEST` batches, has been measured."""
FEWEST = 3
HALVED = ("load", "preprocess", "training")
"""Stages whose cost depends on the rows: two sizes give its fixed and its growing part."""


@dataclass(frozen=True)
class Rate:
    """A stage alone, on batches of one shape."""

    stage: str
    bucket: int
    rows: int
    frames: int
    """Rows × padded frames of a row."""
    seconds: tuple[float, ...]
    """Of each batch."""


@dataclass(frozen=True)
class Bench:
    """What is measured."""

    config: Config
    data: TrainingData
    path: BatchPath
    lanes: Callable[[Stage], Sequence[Lane]]
    """The run's stages behind one that loads."""
    compute: Callable[[Any], Any]
    """The training step."""


def measure(bench: Bench) -> Iterator[Rate]:
    """Every stage at the run's shapes, then those of `HALVED` at half the rows of one shape."""
    whole = _loaded(bench, bench.data.loader)
    yield from _stages(bench, *whole)
    common = _most_common([parcel.facts["bucket"] for parcel, _ in whole[1]])
    size = bench.data.buckets[common].batch_size
    if size < 2 or not bench.config.data.pad_to_fixed_length:
        return
    halves = [
        replace(bucket, batch_size=max(1, bucket.batch_size // 2)) for bucket in bench.data.buckets
    ]
    loader = loader_of(bench.config, bench.data.prepared, tuple(halves), shuffle=True)
    loader.parts = bench.data.loader.parts
    try:
        stages, parcels = _loaded(bench, loader, only=common)
        if len(parcels) < 2:
            return
        _once(bench, stages, parcels[0][0])  # a shape that was not met before is compiled
        for rate in _stages(bench, stages, parcels[1:]):
            if rate.stage in HALVED:
                yield rate
    finally:
        loader.close()


Timed = list[tuple[Parcel, float]]


def _loaded(bench: Bench, loader: Loader, only: int | None = None) -> tuple[list[Stage], Timed]:
    """The stages after loading, and parcels with the seconds that loading each took.

    The first batch fills the loader's own threads and is not timed.
    """
    steps = range(min(4 * BATCHES, max(BATCHES, loader.batches_per_epoch)))
    load = bench.path.load_stage(loader.batches(0, steps.stop), loader)
    lanes = bench.lanes(load)
    stages = [stage for lane in lanes for stage in lane.stages]
    loading, rest = stages[0], stages[1:]
    parcels: Timed = []
    spent = 0.0
    for step in steps:
        parcel = Parcel(step)
        seconds = _timed(loading.work, parcel)
        spent += seconds
        if step and (only is None or parcel.facts["bucket"] == only):
            parcels.append((parcel, seconds))
        if len(parcels) == BATCHES or (len(parcels) > FEWEST and spent > SECONDS):
            break
    return rest, parcels


def _stages(bench: Bench, stages: Sequence[Stage], parcels: Timed) -> Iterator[Rate]:
    """Load as it was timed, then one stage after the other over all batches."""
    yield from _rates("load", parcels)
    left = [parcel for parcel, _ in parcels]
    for stage in stages:
        timed = _over(stage.work, left)
        yield from _rates(stage.name, timed)
        left = [parcel for parcel, _ in timed]
    yield from _rates("training", _over(lambda parcel: bench.compute(parcel.batch), left))


def _over(work: Callable[[Parcel], Any], parcels: Sequence[Parcel]) -> Timed:
    done: Timed = []
    for parcel in parcels:
        done.append((parcel, _timed(work, parcel)))
        if len(done) >= FEWEST and sum(seconds for _, seconds in done) > SECONDS:
            break
    return done


def _once(bench: Bench, stages: Sequence[Stage], parcel: Parcel) -> None:
    for stage in stages:
        stage.work(parcel)
    bench.compute(parcel.batch)


def _timed(work: Callable[[Parcel], Any], parcel: Parcel) -> float:
    """Until the devices have done it."""
    started = time.perf_counter()
    work(parcel)
    tf.test.experimental.sync_devices()
    return time.perf_counter() - started


def _rates(stage: str, timed: Timed) -> Iterator[Rate]:
    shapes: dict[tuple[int, int, int], list[float]] = {}
    for parcel, seconds in timed:
        rows, frames = len(parcel.facts["clips"]), int(parcel.facts["padded"])
        shapes.setdefault((parcel.facts["bucket"], rows, frames), []).append(seconds)
    for (bucket, rows, frames), taken in shapes.items():
        yield Rate(stage, bucket, rows, frames, tuple(taken))


def _most_common(values: Sequence[int]) -> int:
    return max(set(values), key=values.count)
