"""A recorded run in equal pieces, each with its useful frames a second: what `fix` compares.

A short run begins with full buffers, and may end before they are empty: what is too slow behind
them would not be seen. So the steps that live on them are left out.
"""

from __future__ import annotations

from itertools import pairwise

from myxtts.errors import MeasurementError
from myxtts.telemetry.session import Session, Step

PIECES = 6
TIMES_OVER = 3
"""How often what the buffers hold is left out: a stage a third too slow needs as many steps to
empty them."""


def rates(session: Session, pieces: int = PIECES) -> list[float]:
    """Of neighbouring steps, compilations in training included: they are paid for as well."""
    steps = settled(session)
    if len(steps) < pieces:
        raise MeasurementError(
            f"{session.path} is too short to compare",
            received=f"{len(session.steps)} steps",
            remedy="measure more: --num-steps 30",
        )
    bounds = [round(i * len(steps) / pieces) for i in range(pieces + 1)]
    found = []
    for begin, end in pairwise(bounds):
        piece = steps[begin:end]
        found.append(sum(s.useful_frames for s in piece) / sum(s.seconds for s in piece))
    return found


def settled(session: Session) -> tuple[Step, ...]:
    """The steps after those that batches prepared before the first one are enough for.

    At least half of the run stays.
    """
    steps = session.steps[1:]
    return steps[min(len(steps) // 2, TIMES_OVER * capacity(session)) :]


def capacity(session: Session) -> int:
    """Batches that can be ready or in work before the first step; 0 without overlap."""
    pipeline = next(session.of_kind("pipeline"), None)
    if pipeline is None or not pipeline.get("overlapping", True):
        return 0
    return sum(int(lane["depth"]) + 1 for lane in pipeline["lanes"])
