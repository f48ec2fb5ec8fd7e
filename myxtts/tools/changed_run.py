"""A recorded run with something changed, simulated: how long a step would take.

Every rule of what a change does to stages, rings and devices is here. What is known exactly is
computed; what is known only between two bounds is drawn between them, so that many draws give a
range: how much stages that share cores or a GPU slow each other, how loading scales with workers,
what cached features cost. Statistics over the draws are `plan`'s business.

Stages that share the host's cores. A step takes at least as long as the pipeline would with every
stage undisturbed, and at most all their work together, one after the other:

    step = (1 - c) x simulated + c x (sum of the work)          0 <= c <= 1

A run whose stages were also timed alone tells its own c; else it is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from myxtts.data import buckets as shapes
from myxtts.data import lengths
from myxtts.devices import PlanKind
from myxtts.tools.draws import Draw
from myxtts.tools.pipeline_model import Layout, Work, simulate
from myxtts.tools.recording import Recording
from myxtts.tools.stage_laws import TRAINING, Law
from myxtts.tools.what_if import NotPredictable, WhatIf

PROFILE = "myxtts profile --num-steps 100"
CACHED_PREPROCESS = (0.02, 0.08, 0.5)
"""Cost of preprocessing cached features / live ones: least, usual, most."""
CACHED_LOAD = (0.3, 0.8, 1.0)
"""Cost of loading float16 mels / 16-bit PCM, which is three times as large."""
WORKER_SCALING = (0.5, 1.0, 1.0)
"""Power with which loading follows its workers; 1: twice the workers, half the time."""
COPY = (0.25, 1.0, 2.0)
"""Cost of a copy between devices / of the upload that the run measured."""
REPLICA_OVERHEAD = (1.0, 1.05, 1.2)
ALL_BOUNDS = (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class Stepping:
    """How the changed run goes, on average."""

    seconds: float
    """Of a step."""
    useful: float
    """Frames of speech in a step."""
    padded: float
    wait_share: float
    data_busy: float
    """Share of the time in which the data device works."""
    model_busy: float

    @property
    def frames_per_second(self) -> float:
        return self.useful / self.seconds


@dataclass(frozen=True)
class _Run:
    """The run while changes are made to it; arrays in the order of the draw."""

    recording: Recording
    draw: Draw
    layout: Layout
    work: Work
    padded: np.ndarray
    useful: np.ndarray
    shared: tuple[str, ...]
    """Stages, or `training`, that compute on the same cores or the same GPU."""
    contention: float
    alone: bool = False
    """The times are those of undisturbed stages."""

    def with_stage(self, name: str, seconds: np.ndarray) -> _Run:
        work = replace(self.work, stages={**self.work.stages, name: seconds})
        return replace(self, work=work)

    def with_train(self, seconds: np.ndarray) -> _Run:
        return replace(self, work=replace(self.work, train=seconds))


def stepping(recording: Recording, what_if: WhatIf, draw: Draw) -> Stepping:
    """Simulate the recorded batches with the change made."""
    run = _as_recorded(recording, draw)
    if what_if.batch_size is not None:
        run = _with_batch(run, what_if.batch_size)
    if what_if.num_workers is not None:
        run = _with_workers(run, what_if.num_workers)
    if what_if.features is not None:
        run = _with_features(run, what_if.features)
    if what_if.device_plan is not None:
        run = _with_plan(run, what_if.device_plan)
    if what_if.model_faster is not None:
        run = run.with_train(run.work.train / what_if.model_faster)
    if what_if.pipeline_depth is not None:
        run = replace(run, layout=_with_depth(run.layout, what_if.pipeline_depth))
    if what_if.overlap is not None:
        run = _with_overlap(run, what_if.overlap)
    return _measured(run)


def _as_recorded(recording: Recording, draw: Draw) -> _Run:
    """The recorded batches in the order of the draw; undisturbed where they were timed alone."""
    order, recorded = draw.order, recording.work
    stages = {name: seconds[order] for name, seconds in recorded.stages.items()}
    work = Work(stages, recorded.train[order], recorded.between[order])
    padded, useful = recording.padded[order], recording.useful[order]
    shared: tuple[str, ...] = ()
    if recording.on_cpu:
        shared = (*recording.layout.stages, TRAINING)
    elif recording.plan.get("kind") == "one":
        shared = ("preprocess", TRAINING)
    run = _Run(recording, draw, recording.layout, work, padded, useful, shared, 0.0)
    if not recording.on_cpu or not recording.layout.overlapping or TRAINING not in draw.laws:
        return run
    return _undisturbed(run)


def _undisturbed(run: _Run) -> _Run:
    """The stages as fast as they are alone, and the contention that explains the recorded time."""
    work, laws = run.work, run.draw.laws
    stages = {
        name: _at_level(seconds, laws.get(name), run.padded)
        for name, seconds in work.stages.items()
    }
    train = _at_level(work.train, laws[TRAINING], run.padded)
    alone = replace(run, work=Work(stages, train, work.between), alone=True)
    free = _measured(alone).seconds
    summed = _measured(replace(alone, contention=1.0)).seconds
    recorded = float(run.recording.seconds[run.draw.order][run.recording.skipped :].mean())
    gap = summed - free
    contention = (recorded - free) / gap if gap > 1e-3 * free else 0.5
    return replace(alone, contention=min(1.0, max(0.0, contention)))


def _at_level(seconds: np.ndarray, law: Law | None, frames: np.ndarray) -> np.ndarray:
    """The same ups and downs around the level of the law, never above the recorded one."""
    if law is None or not seconds.mean():
        return seconds
    return seconds * min(1.0, float(law(frames).mean() / seconds.mean()))


def _measured(run: _Run) -> Stepping:
    work, kept = run.work, slice(run.recording.skipped, None)
    # Batches prepared before the first step would flatter a deeper ring: no run lives on them.
    course = simulate(run.layout, work, warm=False)
    seconds = course.seconds(run.recording.skipped) / len(work.train[kept])
    if run.layout.overlapping and run.contention and run.shared:
        together = sum(work.stages[name][kept].mean() for name in run.shared if name in work.stages)
        if TRAINING in run.shared:
            together += (work.train + work.between)[kept].mean()
        seconds = (1 - run.contention) * seconds + run.contention * max(seconds, float(together))
    on_device = [work.stages[n] for n in run.layout.stages if n in ("preprocess", "transfer")]
    device = sum(on_device, np.zeros(len(work)))[kept].mean()
    trained = work.train[kept].mean()
    return Stepping(
        seconds=seconds,
        useful=float(run.useful[kept].mean()),
        padded=float(run.padded[kept].mean()),
        wait_share=float(max(0.0, 1 - (trained + work.between[kept].mean()) / seconds)),
        data_busy=float(min(1.0, device / seconds)),
        model_busy=float(min(1.0, trained / seconds)),
    )


# -- what each change does -----------------------------------------------------------------------


def _with_batch(run: _Run, size: int) -> _Run:
    laws = run.draw.laws
    if TRAINING not in laws:
        raise NotPredictable(
            "batch size",
            "the run did not time its stages at two batch sizes",
            PROFILE,
        )
    padded, useful = _frames(run, size)
    changed = replace(run, padded=padded, useful=useful)
    for name, seconds in run.work.stages.items():
        law = laws.get(name)
        grown = (
            law(padded) / law(run.padded)
            if law is not None
            else (padded / run.padded) ** run.draw.between(name, ALL_BOUNDS)
        )
        changed = changed.with_stage(name, seconds * grown)
    law = laws[TRAINING]
    changed = changed.with_train(run.work.train * law(padded) / law(run.padded))
    ahead = run.recording.config.data.model_copy(update={"batch_size": size}).host_batches_ahead
    first, *others = run.layout.lanes
    lanes = (replace(first, depth=ahead), *others)
    return replace(changed, layout=replace(run.layout, lanes=lanes))


def _frames(run: _Run, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Padded and useful frames of each step with another batch size."""
    data, rows = run.recording.config.data, run.recording.session.header.get("lengths")
    if not rows:  # as if padding stayed the same
        factor = size / data.batch_size
        return run.padded * factor, run.useful * factor
    tokens, frames = lengths.clips(rows)
    chosen = shapes.choose(tokens, frames, data.model_copy(update={"batch_size": size}))
    member = shapes.assign(tokens, frames, chosen)
    padded, useful, count = [], [], []
    for number, bucket in enumerate(chosen):
        own = frames[member == number]
        batches = -(-len(own) // bucket.batch_size)
        padded.append(bucket.batch_size * bucket.mel_frames)
        useful.append(own.sum() / max(1, batches))
        count.append(batches)
    share = np.cumsum(count) / sum(count)  # every bucket as often as in an epoch, mixed
    order = np.searchsorted(share, (np.arange(len(run.padded)) + 0.5) / len(run.padded))
    run.draw.rng("buckets").shuffle(order)
    return np.array(padded, float)[order], np.array(useful)[order]


def _with_workers(run: _Run, workers: int) -> _Run:
    cores = run.recording.cores
    before, after = min(run.recording.workers, cores), min(workers or cores, cores)
    power = run.draw.between("workers", WORKER_SCALING)
    return run.with_stage("load", run.work.stages["load"] * (before / after) ** power)


def _with_features(run: _Run, features: str) -> _Run:
    data = run.recording.config.data
    if features == data.features:
        return run
    if features == "live":
        raise NotPredictable(
            "live features",
            "a run with cached features never computed a mel",
            f"{PROFILE} with data.features: live",
        )
    before = run.work.stages["preprocess"]
    after = before * run.draw.between("cached preprocess", CACHED_PREPROCESS)
    changed = run.with_stage("preprocess", after)
    load = run.work.stages["load"] * run.draw.between("cached load", CACHED_LOAD)
    return _relieved(changed.with_stage("load", load), before - after)


def _with_plan(run: _Run, kind: PlanKind) -> _Run:
    had = run.recording.plan.get("kind")
    if kind == had:
        return run
    if had == "replicas" or (kind == "replicas" and TRAINING not in run.draw.laws):
        raise NotPredictable(
            f"plan {kind}",
            "the run does not say how long one device trains on a batch"
            if had == "replicas"
            else "the run did not time training on half of a batch",
            f"{PROFILE} --one-device" if had == "replicas" else PROFILE,
        )
    changed = _with_copies(run, crossing=kind != "one")
    if kind == "replicas":
        return _with_replicas(changed)
    if run.recording.on_cpu:
        return changed  # two names for the same cores
    if kind == "one":
        contention = run.draw.between("one device", ALL_BOUNDS)
        return replace(changed, shared=("preprocess", TRAINING), contention=contention)
    relieved = _relieved(changed, run.work.stages["preprocess"])
    return replace(relieved, shared=(), contention=0.0)


def _with_copies(run: _Run, *, crossing: bool) -> _Run:
    """Batches cross from the data device to another one, or do not have to."""
    *before, last = run.layout.lanes
    kept = tuple(stage for stage in last.stages if stage != "transfer")
    if crossing and "transfer" not in run.work.stages:
        upload = run.work.stages.get("upload", 0.1 * run.work.stages["preprocess"])
        run = run.with_stage("transfer", upload * run.draw.between("copy", COPY))
    stages = (*kept, "transfer") if crossing else kept
    lanes = (*before, replace(last, stages=stages))
    return replace(run, layout=replace(run.layout, lanes=lanes))


def _with_replicas(run: _Run) -> _Run:
    """Each of two devices trains on half of the rows; on shared cores one half after the other."""
    law = run.draw.laws[TRAINING]
    half = law(run.padded / 2) / law(run.padded) * run.draw.between("replicas", REPLICA_OVERHEAD)
    if run.recording.on_cpu:
        half = 2 * half
    return run.with_train(run.work.train * half)


def _with_depth(layout: Layout, depth: int) -> Layout:
    *before, last = layout.lanes
    deepest = None if last.deepest is None else max(depth, last.deepest)
    return replace(layout, lanes=(*before, replace(last, depth=depth, deepest=deepest)))


def _with_overlap(run: _Run, overlap: bool) -> _Run:
    changed = replace(run, layout=replace(run.layout, overlapping=overlap))
    if overlap == run.layout.overlapping:
        return run
    if overlap:
        return replace(changed, contention=run.draw.between("contention", ALL_BOUNDS))
    if run.alone or not run.shared:
        return changed
    # The recorded times hold what the stages cost each other; without it they are shorter, but
    # a step cannot be shorter than it was beside the others.
    apart, together = _measured(changed).seconds, _measured(run).seconds
    least = min(1.0, together / apart)
    factor = run.draw.between("apart", (least, (1 + least) / 2, 1.0))
    stages = {name: seconds * factor for name, seconds in run.work.stages.items()}
    work = Work(stages, run.work.train * factor, run.work.between)
    return replace(changed, work=work)


def _relieved(run: _Run, freed: np.ndarray) -> _Run:
    """Training beside less work of others; how much of it was in its way is drawn."""
    if run.alone or not run.layout.overlapping or TRAINING not in run.shared:
        return run
    most = np.minimum(freed, 0.5 * run.work.train)
    return run.with_train(run.work.train - run.draw.between("relief", ALL_BOUNDS) * most)
