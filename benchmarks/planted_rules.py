"""Three judges of one recorded run: ours, TensorBoard's input rule, and fixed thresholds.

Each is given the same Session, without the line that tells what was planted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from myxtts.telemetry.session import Session
from myxtts.tools import account
from myxtts.tools.findings import DATA_LOAD_LIMIT, TRAINING_FLOOR, TRANSFER_LIMIT, VARIATION_LIMIT
from myxtts.tools.verdict import verdict

DATA_SIDE = ("disk", "decode", "preprocess", "transfer", "jitter", "buffer")
MODERATE, HIGH = 0.05, 0.20
"""TensorBoard: an input share below 5 % is fine, to 20 % moderately, above highly input-bound."""


@dataclass(frozen=True)
class Judged:
    """What the three say of a case."""

    ours: str | None
    confidence: float
    lost: float
    tensorboard: str
    thresholds: str | None


def judged(session: Session) -> Judged:
    """All three."""
    blind = replace(session, events=tuple(e for e in session.events if e["kind"] != "planted"))
    said = verdict(blind)
    return Judged(
        ours=said.cause if said else None,
        confidence=said.confidence if said else 0.0,
        lost=round(said.lost, 4) if said else 0.0,
        tensorboard=tensorboard(blind),
        thresholds=thresholds(blind),
    )


def tensorboard(session: Session) -> str:
    """Fine, moderate or high: the share of the step time that waits for input."""
    steps = session.steady_steps
    share = sum(step.wait for step in steps) / max(1e-9, sum(step.seconds for step in steps))
    return "high" if share > HIGH else "moderate" if share >= MODERATE else "fine"


def tensorboard_right(said: str, cause: str) -> bool:
    """It can only say input or not: input is right for every cause on the data's side."""
    return (said != "fine") == (cause in DATA_SIDE)


def thresholds(session: Session) -> str | None:
    """The limit that is exceeded by most; training below its floor blames the largest of the rest.

    None: no limit is exceeded.
    """
    rows = account.stage_table(session)
    load = account.share_of(rows, "load", "upload")
    transfer, training = account.share_of(rows, "transfer"), account.share_of(rows, "training")
    excess = {
        "load": load / DATA_LOAD_LIMIT,
        "transfer": transfer / TRANSFER_LIMIT,
        "variation": (session.variation or 0.0) / VARIATION_LIMIT,
    }
    if rows and training < TRAINING_FLOOR:
        largest = max((row for row in rows if row.name != "training"), key=lambda row: row.share)
        excess.setdefault(largest.name, TRAINING_FLOOR / max(training, 1e-9))
    most = max(excess, key=lambda name: excess[name])
    return most if excess[most] > 1.0 else None


def thresholds_right(said: str | None, cause: str) -> bool:
    """A limit's name counts for every cause that it may stand for."""
    meant = {
        None: ("training", "balanced"), "load": ("disk", "decode"), "transfer": ("transfer",),
        "preprocess": ("preprocess",), "variation": ("jitter", "buffer"),
    }  # fmt: skip
    return cause in meant.get(said, ())
