"""The stages of a profile on their own, with no other thread at work: does that agree?

Reads the events of kind `rate` that a profile writes after its steps. In the pipeline a stage may
be slow because another thread takes the processor; alone it shows what it costs by itself.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from myxtts.telemetry.session import Session
from myxtts.tools.lane_figures import LANES, Lane

CLEARLY = 0.9
"""Alone, a stage that limits takes at least this part of training's time."""
_STAGE_OF = {"disk": "load", "decode": "load", "preprocess": "preprocess", "transfer": "transfer"}


@dataclass(frozen=True)
class Alone:
    """Mean seconds of a whole batch in each stage; empty: not measured."""

    means: Mapping[str, float]
    lanes: tuple[tuple[str, ...], ...]

    def agrees(self, cause: str, swings: Lane | None) -> bool | None:
        """Whether the rates point to the same; None: they were not measured, or cannot say."""
        training = self.means.get("training")
        if training is None or cause not in ("training", "balanced", "jitter", *_STAGE_OF):
            return None
        prepared = max((self._lane(stages) for stages in self.lanes), default=0.0)
        if cause == "training":
            return prepared <= training / CLEARLY
        if cause == "balanced":
            return CLEARLY**2 <= prepared / training <= 1 / CLEARLY**2
        if cause == "jitter":  # faster in the mean
            return swings is not None and self._lane(swings.stages) < training / CLEARLY
        stage = _STAGE_OF[cause]
        own = next((stages for stages in self.lanes if stage in stages), ())
        return self._lane(own) >= CLEARLY * max(prepared, training)

    def _lane(self, stages: tuple[str, ...]) -> float:
        return sum(self.means.get(stage, 0.0) for stage in stages)


def slowest_alone(session: Session) -> Alone:
    """The rates at the full number of rows."""
    full: dict[int, int] = {}
    events = list(session.of_kind("rate"))
    for event in events:
        full[event["bucket"]] = max(full.get(event["bucket"], 0), int(event["rows"]))
    seconds: dict[str, list[float]] = {}
    for event in events:
        if int(event["rows"]) == full[event["bucket"]]:
            seconds.setdefault(event["stage"], []).extend(map(float, event["seconds"]))
    pipeline = next(session.of_kind("pipeline"), {})
    lanes = tuple(tuple(one["stages"]) for one in pipeline.get("lanes", []))
    return Alone(
        {stage: statistics.fmean(of) for stage, of in seconds.items() if of},
        lanes or tuple(stages for _, stages in LANES),
    )
