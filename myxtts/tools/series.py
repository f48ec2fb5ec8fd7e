"""What a recorded run looks like over its time: the points that charts are drawn from.

Pure functions over a Session: distribution of the step times, a window of steps as lanes, how full
the buffers were, what the GPUs did. Long runs are thinned, so that a page stays light: of a group
of steps the slowest is kept, of a group of buffer readings the mean and the emptiest. Drawing is
`charts`' job.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from myxtts.telemetry.session import STAGES, Session, Step

MOST_POINTS = 400
"""More would not be seen, and would make the page heavy."""
MOST_BARS = 40
WINDOW = 24
"""Steps that the timeline shows: enough to see a pattern, few enough to see each."""
NEIGHBOURS = 64
"""Steps before and after it whose batches may be worked on meanwhile: deeper no buffer is."""
SLOW = 0.95
_LOOP = ("waiting", "training", "compiling")
"""What the thread that trains does."""

Metric = Literal["utilization", "memory_used_mb", "power_w"]
METRICS: tuple[Metric, ...] = ("utilization", "memory_used_mb", "power_w")
Item = TypeVar("Item")


@dataclass(frozen=True)
class Distribution:
    """Step times of the steady steps, in seconds."""

    median: float
    slow: float
    """95 % of the steps are faster."""
    longest: float
    edges: tuple[float, ...]
    """Of the bars, one more than `counts`; the last bar holds all that is longer, too."""
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Span:
    """One piece of work on the batch of one step; seconds since the window began."""

    step: int
    begin: float
    end: float


@dataclass(frozen=True)
class Lane:
    """One kind of work: a stage of the pipeline, waiting, training or compiling."""

    name: str
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Timeline:
    """A window of neighbouring steps."""

    first_step: int
    last_step: int
    seconds: float
    lanes: tuple[Lane, ...]


@dataclass(frozen=True)
class RingPoint:
    """A group of steps: batches ready when one was taken."""

    step: int
    mean: float
    fewest: int


@dataclass(frozen=True)
class RingSeries:
    """How full one buffer was over the run."""

    name: str
    points: tuple[RingPoint, ...]


@dataclass(frozen=True)
class GpuSeries:
    """One metric of one card over the run; no points: the card does not say."""

    index: int
    metric: Metric
    points: tuple[tuple[float, float], ...]
    """(seconds since the run began, value)."""
    lost_at: float | None
    """When the card stopped answering."""


@dataclass(frozen=True)
class Series:
    """Everything that is drawn over time."""

    step_times: tuple[tuple[int, float], ...]
    """(step, seconds): of each group of a long run the slowest step."""
    distribution: Distribution | None
    timeline: Timeline | None
    rings: tuple[RingSeries, ...]
    gpus: tuple[GpuSeries, ...]
    sampled: tuple[float, float]
    """Seconds of the first and the last sample of any card."""


def series(session: Session) -> Series:
    """All points of a run."""
    return Series(
        step_times=_step_times(session),
        distribution=distribution(session.step_times),
        timeline=timeline(session),
        rings=_rings(session),
        gpus=_gpus(session),
        sampled=_sampled(session),
    )


def distribution(times: Sequence[float]) -> Distribution | None:
    """Bars of equal width from zero; None with fewer than two steps."""
    if len(times) < 2:
        return None
    ordered = sorted(times)
    slow = ordered[min(len(ordered) - 1, math.ceil(SLOW * len(ordered)) - 1)]
    # A single stall of minutes must not squeeze everything else into one bar.
    shown = min(ordered[-1], 2 * slow) or 1e-9
    bars = max(4, min(MOST_BARS, round(2 * math.sqrt(len(ordered)))))
    width = shown / bars
    counts = [0] * bars
    for seconds in ordered:
        counts[min(bars - 1, int(seconds / width))] += 1
    return Distribution(
        median=statistics.median(ordered),
        slow=slow,
        longest=ordered[-1],
        edges=tuple(width * number for number in range(bars + 1)),
        counts=tuple(counts),
    )


def timeline(session: Session) -> Timeline | None:
    """Neighbouring steps from the middle of the run, without one that compiled if possible.

    Work on later batches falls into the same window: that is what the picture is for.
    """
    steps = _last_part(session.steps)
    start = _start(steps)
    window = steps[start : start + WINDOW]
    if len(window) < 2:
        return None
    begin, end = window[0].t - window[0].seconds, window[-1].t
    near = steps[max(0, start - NEIGHBOURS) : start + WINDOW + NEIGHBOURS]
    lanes = (Lane(name, _spans(name, near, begin, end)) for name in (*STAGES, *_LOOP))
    used = tuple(lane for lane in lanes if lane.spans)
    return Timeline(window[0].step, window[-1].step, end - begin, used) if end > begin else None


def _spans(name: str, steps: Sequence[Step], begin: float, end: float) -> tuple[Span, ...]:
    """One kind of work on these batches, as far as it falls between two moments."""
    spans = []
    for step in steps:
        worked = _worked(name, step)
        if worked is not None and worked[1] > begin and worked[0] < end and worked[0] < worked[1]:
            first, last = max(worked[0], begin), min(worked[1], end)
            spans.append(Span(step.step, first - begin, last - begin))
    return tuple(spans)


def _worked(name: str, step: Step) -> tuple[float, float] | None:
    """From when to when, on the run's clock; None: it was not recorded."""
    trained = step.t - step.train
    if name == "waiting":
        return trained - step.wait, trained
    if name in _LOOP:
        return (trained, step.t) if (name == "compiling") == step.compiled else None
    if name not in step.finished or name not in step.stages:
        return None
    return step.finished[name] - step.stages[name], step.finished[name]


def _last_part(steps: Sequence[Step]) -> Sequence[Step]:
    """The steps since the last start: a resumed run begins its clock again."""
    for number in range(len(steps) - 1, 0, -1):
        if steps[number].t < steps[number - 1].t:
            return steps[number:]
    return steps


def _start(steps: Sequence[Step]) -> int:
    """The number of the window's first step."""
    middle = max(0, len(steps) // 2 - WINDOW // 2)
    for start in (middle, *range(1, max(1, len(steps) - WINDOW), WINDOW)):
        if not any(step.compiled for step in steps[start : start + WINDOW]):
            return start
    return middle


def _step_times(session: Session) -> tuple[tuple[int, float], ...]:
    points = [(step.step, step.seconds) for step in session.steady_steps]
    return tuple(max(group, key=lambda point: point[1]) for group in _groups(points))


def _rings(session: Session) -> tuple[RingSeries, ...]:
    names = dict.fromkeys(name for step in session.steps for name in step.rings)
    found = []
    for name in names:
        ready = [(step.step, int(step.rings[name])) for step in session.steps if name in step.rings]
        points = [
            RingPoint(group[0][0], statistics.fmean(n for _, n in group), min(n for _, n in group))
            for group in _groups(ready)
        ]
        found.append(RingSeries(name, tuple(points)))
    return tuple(found)


def _gpus(session: Session) -> tuple[GpuSeries, ...]:
    lost = {event["index"]: float(event["t"]) for event in session.of_kind("gpu_lost")}
    samples: dict[int, list[dict[str, Any]]] = {index: [] for index in lost}
    for event in session.of_kind("gpu"):
        samples.setdefault(event["index"], []).append(event)
    return tuple(
        GpuSeries(index, metric, _points(samples[index], metric), lost.get(index))
        for index in sorted(samples)
        for metric in METRICS
    )


def _sampled(session: Session) -> tuple[float, float]:
    times = [float(e["t"]) for kind in ("gpu", "gpu_lost") for e in session.of_kind(kind)]
    return (min(times), max(times)) if times else (0.0, 0.0)


def _points(samples: Sequence[dict[str, Any]], metric: Metric) -> tuple[tuple[float, float], ...]:
    known = [(float(s["t"]), float(s[metric])) for s in samples if s.get(metric) is not None]
    return tuple((group[0][0], statistics.fmean(v for _, v in group)) for group in _groups(known))


def _groups(items: Sequence[Item]) -> list[Sequence[Item]]:
    size = -(-len(items) // MOST_POINTS) or 1
    return [items[start : start + size] for start in range(0, len(items), size)]
