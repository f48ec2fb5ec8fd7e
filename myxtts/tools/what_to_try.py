"""Which changes a plan looks at when nobody names one, and the best set-up that follows.

The best is found step by step: the change that gains the most, then the one that gains the most on
top of it, as long as the range of what is gained leaves out nothing at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from myxtts.devices import HEADROOM_MB, PlanKind
from myxtts.tools.audit import LARGEST_BATCH
from myxtts.tools.gpu_figures import gpu_figures
from myxtts.tools.plan import Planner, Prediction, Recorded
from myxtts.tools.recording import Recording
from myxtts.tools.what_if import NotPredictable, WhatIf

WORTH_MORE = 1.01
"""A further change must gain this much on top of the others."""
MOST_CHANGES = 4


@dataclass(frozen=True)
class Plan:
    """Predictions from one run."""

    run: str
    recorded: Recorded
    predictions: tuple[Prediction, ...]
    not_predicted: tuple[NotPredictable, ...]
    best: Prediction | None = None
    """None: one change was asked about, or no change can be advised."""

    def as_json(self) -> dict[str, Any]:
        """Plain data, for `--json`."""
        return {
            "run": self.run,
            "recorded": vars(self.recorded),
            "predictions": [one.as_json() for one in self.predictions],
            "not_predicted": [one.as_json() for one in self.not_predicted],
            "best": self.best and self.best.as_json(),
        }


def answer(planner: Planner, what_if: WhatIf) -> Plan:
    """The one change that was asked about."""
    return _plan(planner, [what_if], best=False)


def survey(planner: Planner) -> Plan:
    """All changes worth looking at, the best gain first, and the best of them together."""
    return _plan(planner, list(options(planner.run)), best=True)


def options(run: Recording) -> Iterator[WhatIf]:
    """Changes that the machine of the run allows."""
    data = run.config.data
    yield WhatIf(overlap=not run.layout.overlapping)
    for depth in (1, 2, 4, 8, 16) if run.layout.overlapping else ():
        if depth != data.pipeline_depth:
            yield WhatIf(pipeline_depth=depth)
    for workers in sorted({1, run.cores // 2, run.cores} - {0, run.workers}):
        yield WhatIf(num_workers=workers)
    for size in sorted({data.batch_size // 2, 2 * data.batch_size, 4 * data.batch_size} - {0}):
        if size <= max(LARGEST_BATCH, data.batch_size):
            yield WhatIf(batch_size=size)
    yield WhatIf(features="cached" if data.features == "live" else "live")
    if len(gpu_figures(run.session)) > 1 or data.virtual_gpus > 1:
        kinds: tuple[PlanKind, ...] = ("one", "dual", "replicas")
        for kind in kinds:
            if kind != run.plan.get("kind"):
                yield WhatIf(device_plan=kind)
    yield WhatIf(model_faster=2.0)


def _plan(planner: Planner, asked: list[WhatIf], *, best: bool) -> Plan:
    predictions: list[Prediction] = []
    missing: list[NotPredictable] = []
    for what_if in asked:
        try:
            predictions.append(planner.predict(what_if))
        except NotPredictable as why:
            if str(why) not in map(str, missing):
                missing.append(why)
    predictions.sort(key=lambda one: -one.ratio.point)
    return Plan(
        run=str(planner.run.session.path),
        recorded=planner.recorded,
        predictions=tuple(predictions),
        not_predicted=tuple(missing),
        best=_best(planner, predictions) if best else None,
    )


def _best(planner: Planner, predictions: list[Prediction]) -> Prediction | None:
    chosen: Prediction | None = None
    room = _room_mb(planner.run)
    useful = [
        one
        for one in predictions
        if one.settings and one.direction == "faster" and (one.memory_mb or 0) <= room
    ]
    for _ in range(MOST_CHANGES):
        tried = [one if chosen is None else _joined(planner, chosen, one) for one in useful]
        more = max((one for one in tried if one), key=lambda one: one.ratio.point, default=None)
        if more is None or (chosen and more.ratio.point < WORTH_MORE * chosen.ratio.point):
            break
        chosen = more
    return chosen


def _room_mb(run: Recording) -> float:
    """Memory of the smallest GPU that the run used, less what must stay free."""
    sizes = [one.memory_total_mb for one in gpu_figures(run.session) if one.role != "not used"]
    known = [size for size in sizes if size is not None]
    return min(known) - HEADROOM_MB if known else math.inf


def _joined(planner: Planner, chosen: Prediction, other: Prediction) -> Prediction | None:
    """Both together; None when the other says nothing new or cannot be predicted beside it."""
    if set(other.what_if.asked) & set(chosen.what_if.asked):
        return None
    try:
        return planner.predict(chosen.what_if.merged(other.what_if))
    except NotPredictable:
        return None
