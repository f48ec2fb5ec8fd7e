"""Where the time of a recorded run went, as rows that sum to 100 %.

Two views of one Session. The account divides every wall second of the run; the stage table looks
at the steady steps only (no compilation) and says for each stage how long it works on a batch and
how much of a step's wall time training lost to it. Both only add up what the run recorded; what
the shares mean is `findings`' job.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from myxtts.telemetry.accounts import ACCOUNTS
from myxtts.telemetry.session import STAGES, Session, Step


@dataclass(frozen=True)
class AccountRow:
    """Seconds of one account; the percentages of all rows sum to exactly 100."""

    name: str
    seconds: float
    percent: float


@dataclass(frozen=True)
class StageRow:
    """One stage of a step; times in seconds."""

    name: str
    mean: float
    """Work on one batch, in whatever thread: overlapped work costs nothing."""
    spread: float
    """Standard deviation of that work."""
    share: float
    """Part of the steps' wall time that training spent in it or lost to it; they sum to 1."""


def account(session: Session) -> list[AccountRow]:
    """Every wall second in one row; empty when the run was cut before its first report."""
    seconds = [session.accounts[name] for name in ACCOUNTS]
    if sum(seconds) <= 0:
        return []
    percents = _percentages(seconds)
    return [
        AccountRow(name, spent, percent)
        for name, spent, percent in zip(ACCOUNTS, seconds, percents, strict=True)
    ]


def stage_table(session: Session) -> list[StageRow]:
    """Load, upload, preprocess, transfer, training and gaps; empty without steady steps."""
    steps = session.steady_steps
    wall = sum(step.seconds for step in steps)
    if not steps or wall <= 0:
        return []
    rows = [
        _stage_row(
            name,
            [step.stages.get(name, 0.0) for step in steps],
            sum(step.blame.get(name, 0.0) for step in steps) / wall,
        )
        for name in STAGES
    ]
    trained = [step.train for step in steps]
    gaps = [_gap(step) for step in steps]
    return [
        *rows,
        _stage_row("training", trained, sum(trained) / wall),
        _stage_row("gaps", gaps, sum(gaps) / wall),
    ]


def share_of(rows: Sequence[StageRow], *names: str) -> float:
    """Summed share of some rows of a stage table."""
    return sum(row.share for row in rows if row.name in names)


def _gap(step: Step) -> float:
    """What is left of a step: neither training nor a wait that a stage can be blamed for."""
    return step.seconds - step.train - sum(step.blame.get(name, 0.0) for name in STAGES)


def _stage_row(name: str, times: list[float], share: float) -> StageRow:
    spread = statistics.stdev(times) if len(times) > 1 else 0.0
    return StageRow(name, statistics.fmean(times), spread, share)


def _percentages(values: Sequence[float]) -> list[float]:
    """Tenths of a percent by largest remainder, so that what is printed sums to 100.0."""
    total = sum(values)
    exact = [1000 * value / total for value in values]
    tenths = [int(value) for value in exact]
    by_remainder = sorted(range(len(values)), key=lambda i: exact[i] - tenths[i], reverse=True)
    for position in by_remainder[: 1000 - sum(tenths)]:
        tenths[position] += 1
    return [tenth / 10 for tenth in tenths]
