"""What travels through the pipeline, what works on it, and how its failures are told.

Parcels, stages and lanes are plain data; `feeder` runs them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from myxtts.errors import UserError

_CLIPS_NAMED = 8


@dataclass
class Parcel:
    """A batch on its way, with the record of its journey.

    Owned by one thread at a time: the stage that works on it, then the ring, then the next.
    """

    step: int
    batch: Any = None
    facts: dict[str, Any] = field(default_factory=dict)
    """What the loop wants to know of the batch after it has left the host: clips, frames."""
    finished: dict[str, float] = field(default_factory=dict)
    """When each stage was done with it, by the pipeline's clock."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each stage worked on it."""
    parts: dict[str, float] = field(default_factory=dict)
    """Seconds of loading it that were reading and decoding, where somebody asks."""
    nbytes: int = 0
    """Its weight after the last lane, when there is a byte budget."""

    @property
    def clips(self) -> tuple[str, ...]:
        """The ids of its clips; none before they are known."""
        return tuple(map(str, self.facts.get("clips", ())))


@dataclass(frozen=True)
class Stage:
    """One step of preparation: `work(parcel)` sets or replaces the parcel's batch."""

    name: str
    work: Callable[[Parcel], None]


@dataclass(frozen=True)
class Lane:
    """Stages that share a thread, and how many batches may wait behind them."""

    ring: str
    depth: int
    stages: tuple[Stage, ...]
    deepest: int | None = None
    """How deep the ring may become by itself; None: its depth never changes."""


class EndOfData(Exception):
    """Raised by a stage that has nothing more to give: the feeder ends there, in order."""


class StageError(UserError):
    """A stage failed: which one, at which step, with which clips, and why (`__cause__`)."""

    def __init__(self, stage: str, parcel: Parcel, cause: BaseException) -> None:
        super().__init__(
            f"stage {stage}, step {parcel.step}: {type(cause).__name__}: {cause}",
            received=_named(parcel),
            follows="training stops; the checkpoints so far are unharmed",
            remedy="remove the cause and go on with --resume (--debug shows where it happened)",
        )
        self.stage = stage
        self.step = parcel.step
        self.clips = parcel.clips


class StageHung(UserError):
    """A stage has been at one batch for longer than a stage may be."""

    def __init__(self, stage: str, parcel: Parcel, seconds: float) -> None:
        super().__init__(
            f"stage {stage}, step {parcel.step}: not done after {seconds:g} seconds",
            received=_named(parcel),
            follows="training stops; the checkpoints so far are unharmed",
            remedy="look at what the stage reads or computes (a disk or a network that does not "
            "answer?) and go on with --resume; data.stage_timeout if it only needs longer",
        )
        self.stage = stage
        self.step = parcel.step
        self.clips = parcel.clips


def locate(error: UserError, stage: str, parcel: Parcel) -> None:
    """Let an error that already says what to do also say where it happened."""
    place = f"stage {stage}, step {parcel.step}"
    named = _named(parcel)
    place = place if named is None else f"{place}, {named}"
    error.received = place if error.received is None else f"{error.received} ({place})"


def _named(parcel: Parcel) -> str | None:
    clips = parcel.clips
    if not clips:
        return None
    more = len(clips) - _CLIPS_NAMED
    return f"clips {', '.join(clips[:_CLIPS_NAMED])}" + (f" and {more} more" if more > 0 else "")


def blame(parcel: Parcel, wait_started: float, wait_ended: float) -> dict[str, float]:
    """Divide the consumer's wait over the stages that its batch was in meanwhile.

    From the moment the stage before was done with a batch until its own end, a stage is what the
    batch waited for: working on it, or still busy with the one before. After the last stage's end
    the batch is only handed over, for which no stage is to blame.
    """
    shares: dict[str, float] = {}
    begin = wait_started
    for stage, end in sorted(parcel.finished.items(), key=lambda entry: entry[1]):
        end = min(max(end, begin), wait_ended)
        if end > begin:
            shares[stage] = end - begin
        begin = end
    return shares
