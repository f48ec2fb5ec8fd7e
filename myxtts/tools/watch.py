"""A run in progress, from the lines that it has written so far: one `Frame` to show.

`Watch` takes events as they come and keeps only the newest: what it holds does not grow with the
run. Reading the file is `telemetry.tail`'s job, showing a frame the command's.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from myxtts.telemetry.gpu import GpuLost, open_nvml
from myxtts.telemetry.session import Session
from myxtts.tools.account import AccountRow, account
from myxtts.tools.catalogue import Language
from myxtts.tools.incidents import Incident, incidents

RECENT = 50
"""Steps that the speed is taken over."""
NEWEST = 3
"""Incidents that a frame shows."""
_MISHAPS = ("out_of_memory", "bad_step", "went_back", "not_saved", "gpu_lost")
MOST_MISHAPS = 200

State = Literal["starting", "preparing", "training", "ended"]


@dataclass(frozen=True)
class GpuNow:
    """A card's newest sample; None: it does not say, or is lost."""

    index: int
    utilization: float | None
    memory_used_mb: int | None
    memory_total_mb: int | None
    power_w: float | None


@dataclass(frozen=True)
class RingNow:
    """Batches ready in a buffer when the newest step took one."""

    name: str
    ready: int


@dataclass(frozen=True)
class Frame:
    """A run at one moment; None: not known yet."""

    run: str
    state: State
    reason: str | None
    """Why it ended."""
    virtual: bool
    step: int | None
    """Steps done."""
    total_steps: int | None
    loss: float | None
    steps_per_second: float | None
    useful_frames_per_second: float | None
    seconds_left: float | None
    account: tuple[AccountRow, ...]
    rings: tuple[RingNow, ...]
    gpus: tuple[GpuNow, ...]
    incidents: tuple[Incident, ...]
    """The newest, the last one first."""

    def as_json(self, language: Language = "en") -> dict[str, Any]:
        """Plain data, for `--json`."""
        return asdict(replace(self, incidents=())) | {
            "incidents": [one.as_json(language) for one in self.incidents]
        }


class Watch:
    """Keeps the newest of a run's events."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._clear()

    def _clear(self) -> None:
        self._header: dict[str, Any] | None = None
        self._steps: deque[dict[str, Any]] = deque(maxlen=RECENT)
        self._report: dict[str, Any] = {}
        self._end: dict[str, Any] | None = None
        self._gpus: dict[int, GpuNow] = {}
        self._mishaps: deque[dict[str, Any]] = deque(maxlen=MOST_MISHAPS)

    def saw(self, events: Iterable[dict[str, Any]]) -> None:
        """More lines were written."""
        for event in events:
            kind = event["kind"]
            if kind == "header":  # a run begins, or is resumed: nothing of before holds any more
                self._clear()
                self._header = event
            elif kind == "step":
                self._steps.append(event)
            elif kind == "report":
                self._report = event
            elif kind == "end":
                self._end = event
            elif kind == "gpu":
                self._gpus[event["index"]] = _gpu(event)
            if kind in _MISHAPS:
                self._mishaps.append(event)
            if kind == "gpu_lost":
                self._gpus[event["index"]] = GpuNow(event["index"], None, None, None, None)

    @property
    def ended(self) -> bool:
        """The run wrote its closing line."""
        return self._end is not None

    def frame(self) -> Frame:
        """The run now."""
        last = self._steps[-1] if self._steps else None
        steady = [step for step in self._steps if not step["compiled"]]
        mean = statistics.fmean(step["seconds"] for step in steady) if steady else None
        total = self._report.get("total_steps")
        done = None if last is None else last["step"] + 1
        known = done is not None and total is not None and mean is not None
        return Frame(
            run=str(self._path),
            state=self._state(),
            reason=None if self._end is None else str(self._end.get("reason")),
            virtual=bool((self._header or {}).get("plan", {}).get("virtual")),
            step=done,
            total_steps=total,
            loss=None if last is None else last["loss"],
            steps_per_second=1 / mean if mean else None,
            useful_frames_per_second=_useful(steady),
            seconds_left=max(0.0, (total - done) * mean) if known else None,  # type: ignore[operator]
            account=tuple(account(self._session(()))),
            rings=_rings(last),
            gpus=tuple(self._gpus[index] for index in sorted(self._gpus)) or live_gpus(),
            incidents=tuple(self._incidents()),
        )

    def _state(self) -> State:
        if self._header is None:
            return "starting"
        if self._end is not None:
            return "ended"
        return "training" if self._steps else "preparing"

    def _incidents(self) -> list[Incident]:
        return [
            incident
            for event in list(reversed(self._mishaps))[:NEWEST]
            for incident in incidents(self._session((event,)))
        ]

    def _session(self, events: tuple[dict[str, Any], ...]) -> Session:
        """A Session of a few events: what judges whole runs judges these, too."""
        reports = (self._report,) if self._report else ()
        return Session(self._path, self._header or {}, (), (*events, *reports), self._end, 0)


def live_gpus() -> tuple[GpuNow, ...]:
    """What this machine's GPUs do now, for a run that has not sampled them."""
    nvml = open_nvml()
    if nvml is None:
        return ()
    found = []
    with nvml:
        for card in nvml.gpus():
            try:
                found.append(_gpu(vars(nvml.sample(card.index))))
            except GpuLost:
                found.append(GpuNow(card.index, None, None, None, None))
    return tuple(found)


def _gpu(sample: dict[str, Any]) -> GpuNow:
    return GpuNow(**{name: sample.get(name) for name in GpuNow.__dataclass_fields__})  # type: ignore[arg-type]


def _rings(step: dict[str, Any] | None) -> tuple[RingNow, ...]:
    return tuple(RingNow(name, int(n)) for name, n in (step or {}).get("rings", {}).items())


def _useful(steps: list[dict[str, Any]]) -> float | None:
    seconds = sum(step["seconds"] for step in steps)
    return sum(step["useful_frames"] for step in steps) / seconds if seconds > 0 else None
