"""A recorded run in equal pieces, each with its useful frames a second: what `fix` compares."""

from __future__ import annotations

from itertools import pairwise

from myxtts.errors import MeasurementError
from myxtts.telemetry.session import Session

PIECES = 6


def rates(session: Session, pieces: int = PIECES) -> list[float]:
    """Of neighbouring steps, compilations in training included: they are paid for as well."""
    steps = session.steps[1:]
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
