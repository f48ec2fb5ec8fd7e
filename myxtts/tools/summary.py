"""One recorded run, judged: everything that a page, a table or `--json` shows of it.

The renderers read a `Summary` and compute nothing, so that they cannot disagree.
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import Any

from myxtts.errors import MUST_FIX, MeasurementError
from myxtts.telemetry.session import Session
from myxtts.tools.account import AccountRow, StageRow, account, stage_table
from myxtts.tools.catalogue import Language, reason, title
from myxtts.tools.figures import RunFigures, of_session
from myxtts.tools.findings import Finding, exit_code, findings
from myxtts.tools.gpu_figures import GpuFigures, Tier, gpu_figures, tier
from myxtts.tools.incidents import Incident, incidents
from myxtts.tools.series import Series, series
from myxtts.tools.verdict import Verdict, verdict


@dataclass(frozen=True)
class RingRow:
    """One buffer over a run; waits in seconds, summed."""

    name: str
    depth: int
    occupancy: float | None
    """Mean number of batches ready when one was taken, over the steady steps."""
    producer_wait: float
    consumer_wait: float


@dataclass(frozen=True)
class Summary:
    """A run and what the tools say about it."""

    session: Session
    figures: RunFigures | None
    """None: the run has no steady step, so its rates are not measured."""
    account: list[AccountRow]
    stages: list[StageRow]
    rings: list[RingRow]
    series: Series
    """What is drawn over time."""
    gpus: list[GpuFigures]
    tier: Tier
    findings: list[Finding]
    incidents: list[Incident]
    verdict: Verdict | None
    """The one thing that limits the run; None: too few steps to say."""

    @property
    def virtual(self) -> bool:
        """Measured on logical CPU devices: no figure of it is a GPU's."""
        return bool(self.session.header.get("plan", {}).get("virtual"))

    @property
    def exit_code(self) -> int:
        """1 when something must be fixed, by a finding or by the verdict, else 0."""
        held_up = self.verdict is not None and not self.verdict.healthy
        return MUST_FIX if held_up else exit_code(self.findings)

    @property
    def worst(self) -> Finding | None:
        """The first thing to fix; None: no bottleneck was found."""
        return next((one for one in self.findings if one.severity == "fix"), None)

    def as_json(self, language: Language = "en") -> dict[str, Any]:
        """Plain data; shares 0–1, times in seconds."""
        figures = self.figures
        return {
            "run": str(self.session.path),
            "verdict": None if self.verdict is None else self.verdict.as_json(language),
            "virtual_devices": self.virtual,
            "plan": self.session.header.get("plan"),
            "machine": self.session.header.get("machine"),
            "versions": self.session.header.get("versions"),
            "complete": self.session.complete,
            "figures": None
            if figures is None
            else asdict(figures)
            | {"variation": figures.variation, "steps_per_second": figures.steps_per_second},
            "account": [asdict(row) for row in self.account],
            "stages": [asdict(row) for row in self.stages],
            "rings": [asdict(row) for row in self.rings],
            "gpus": [asdict(row) for row in self.gpus],
            "tier": asdict(self.tier),
            "findings": [finding_json(one, language) for one in self.findings],
            "incidents": [one.as_json(language) for one in self.incidents],
            "series": asdict(self.series),
        }


def summarize(session: Session, speedup: float | None = None) -> Summary:
    """Judge a run; `speedup` is its rate against one GPU, when that was measured."""
    try:
        figures = of_session(session)
    except MeasurementError:
        figures = None
    return Summary(
        session=session,
        figures=figures,
        account=account(session),
        stages=stage_table(session),
        rings=ring_rows(session),
        series=series(session),
        gpus=gpu_figures(session),
        tier=tier(session, speedup),
        findings=findings(session),
        incidents=incidents(session),
        verdict=verdict(session),
    )


def ring_rows(session: Session) -> list[RingRow]:
    """Each buffer with its last recorded sums."""
    last = {event["name"]: event for event in session.of_kind("ring")}
    return [
        RingRow(
            name=name,
            depth=int(event["depth"]),
            occupancy=_mean_occupancy(session, name),
            producer_wait=float(event["producer_wait"]),
            consumer_wait=float(event["consumer_wait"]),
        )
        for name, event in last.items()
    ]


def finding_json(finding: Finding, language: Language) -> dict[str, Any]:
    """A finding with its sentences."""
    sentences = {"title": title(finding, language), "reason": reason(finding, language)}
    return finding.as_json() | sentences


def _mean_occupancy(session: Session, name: str) -> float | None:
    ready = [step.rings[name] for step in session.steady_steps if name in step.rings]
    return statistics.fmean(ready) if ready else None
