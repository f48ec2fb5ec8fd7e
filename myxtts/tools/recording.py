"""What a simulation needs to know of a recorded run: its layout, its batches and its devices.

Reads a Session and refuses with a clear word where it does not hold enough. Changing anything is
`what_if`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from myxtts.config import Config, parse
from myxtts.errors import MeasurementError
from myxtts.telemetry.session import Session, Step
from myxtts.tools.pipeline_model import Layout, ModelLane, Work
from myxtts.tools.stage_laws import Points, points

FEWEST_STEPS = 12
MOST_STEPS = 400
"""Of a longer run the last ones are enough, and every prediction simulates them many times."""


@dataclass(frozen=True)
class Recording:
    """One run, ready to be changed and simulated; arrays have one entry for each step used."""

    session: Session
    config: Config
    layout: Layout
    work: Work
    padded: np.ndarray
    """Frames computed, float64 [n]."""
    useful: np.ndarray
    """Frames of speech, float64 [n]."""
    seconds: np.ndarray
    """Wall time of each step, float64 [n]."""
    points: Points
    """Stages timed alone; empty when the run did not."""
    skipped: int
    """Steps at the beginning that live on what was prepared before the first one."""

    @property
    def plan(self) -> Mapping[str, Any]:
        """The device plan as the header has it."""
        found: Mapping[str, Any] = self.session.header.get("plan") or {}
        return found

    @property
    def on_cpu(self) -> bool:
        """Everything computes on the host's cores, whatever the devices are called."""
        return "GPU" not in str(self.plan.get("model_device", "GPU"))

    @property
    def cores(self) -> int:
        return int(self.session.header.get("machine", {}).get("cores") or 1)

    @property
    def workers(self) -> int:
        """Workers of loading that the run had."""
        return self.config.data.num_workers or self.cores

    @property
    def steps_per_second(self) -> float:
        """As recorded, without the skipped steps."""
        return float(1 / self.seconds[self.skipped :].mean())

    @property
    def frames_per_second(self) -> float:
        """Useful frames a second, as recorded, without the skipped steps."""
        kept = slice(self.skipped, None)
        return float(self.useful[kept].sum() / self.seconds[kept].sum())


def recording(session: Session) -> Recording:
    """The run as a simulation needs it; a `MeasurementError` says what is missing."""
    steps = session.steady_steps[-MOST_STEPS:]
    if len(steps) < FEWEST_STEPS:
        raise MeasurementError(
            f"{session.path} is too short to predict from",
            received=f"{len(steps)} steady steps, at least {FEWEST_STEPS} are needed",
            remedy="record a longer run: myxtts profile --num-steps 100",
        )
    config = parse(session.header.get("config", {}), f"the header of {session.path}")
    layout = _layout(session, config)
    missing = [name for name in layout.stages if not any(name in step.stages for step in steps)]
    if missing:
        raise MeasurementError(
            f"{session.path} does not say how long its stages worked",
            received=f"nothing of {', '.join(missing)}",
            remedy="record it again: myxtts profile --num-steps 100",
        )
    capacity = sum(lane.depth + 1 for lane in layout.lanes) if layout.overlapping else 0
    return Recording(
        session=session,
        config=config,
        layout=layout,
        work=_work(steps, layout),
        padded=np.array([step.padded_frames for step in steps], float),
        useful=np.array([step.useful_frames for step in steps], float),
        seconds=np.array([step.seconds for step in steps]),
        points=points(session),
        skipped=min(len(steps) // 4, 2 * capacity),
    )


def _layout(session: Session, config: Config) -> Layout:
    event = next(session.of_kind("pipeline"), None)
    if event is None or not event.get("lanes"):
        raise MeasurementError(
            f"{session.path} does not say how its pipeline was laid out",
            remedy="record it again with this version: myxtts profile --num-steps 100",
        )
    drawn = event["lanes"]
    lanes = [
        ModelLane(str(lane["ring"]), tuple(lane["stages"]), int(lane["depth"])) for lane in drawn
    ]
    data, last = config.data, lanes[-1]
    if data.adaptive_depth:
        deepest = max(last.depth, data.pipeline_depth_max)
        lanes[-1] = ModelLane(last.ring, last.stages, last.depth, deepest)
    return Layout(tuple(lanes), bool(event.get("overlapping", True)), int(event["in_flight"]))


def _work(steps: tuple[Step, ...], layout: Layout) -> Work:
    stages = {
        name: np.array([step.stages.get(name, 0.0) for step in steps]) for name in layout.stages
    }
    train = np.array([step.train for step in steps])
    between = np.array([max(0.0, step.seconds - step.wait - step.train) for step in steps])
    return Work(stages, train, between)
