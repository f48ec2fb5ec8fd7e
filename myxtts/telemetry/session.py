"""A recorded run, read back: the one thing that every tool analyses.

`load` turns a run.jsonl into an immutable `Session` and says when the file was cut short or
damaged. Sessions hold what was recorded and plain sums over it; judging them is `tools`' job.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any

from myxtts.errors import MeasurementError, UsageError
from myxtts.telemetry.accounts import ACCOUNTS
from myxtts.telemetry.run_log import SCHEMA

STAGES = ("load", "upload", "preprocess", "transfer")

_Kinds = type | tuple[type, ...]
_NUMBER = (int, float)
# What a line of each kind must hold to be understood; a line without it counts as damaged, so that
# no reader of a Session has to ask again.
_NEEDED: dict[str, dict[str, _Kinds]] = {
    "step": {
        "step": int, "seconds": _NUMBER, "wait": _NUMBER, "train": _NUMBER, "loss": _NUMBER,
        "bucket": int, "useful_frames": _NUMBER, "padded_frames": _NUMBER, "compiled": bool,
    },
    "gpu": {"index": int},
    "gpu_lost": {"index": int, "reason": str},
    "ring": {"name": str, "depth": int, "producer_wait": _NUMBER, "consumer_wait": _NUMBER},
    "warm": {"compilations": int},
    "compile": {"seconds": _NUMBER},
    "checkpoint": {"step": int, "seconds": _NUMBER},
    "samples": {"step": int, "seconds": _NUMBER},
    "validation": {"step": int, "loss": _NUMBER, "seconds": _NUMBER},
    "early_stop": {"step": int, "best_step": int},
    "out_of_memory": {
        "step": int, "work": str, "device": str, "rows": int, "length": int, "parts": int,
    },
    "bad_step": {"step": int, "clips": list},
    "went_back": {"step": int, "to": int},
    "not_saved": {"step": int},
    "report": {"step": int},
}  # fmt: skip
_TABLES = ("config", "plan", "machine", "versions", "losses")
_TABLES_OF_NUMBERS = ("accounts", "blame", "stages", "rings", "finished")
_FIGURES = (
    "wall", "total_steps", "loss", "mean", "std", "wait_share", "useful_frames_per_second",
    "memory_mb", "utilization", "memory_used_mb", "memory_total_mb", "power_w",
)  # fmt: skip
"""Numbers that may be missing, or null where a device does not say."""


@dataclass(frozen=True)
class Step:
    """One training step as its loop saw it; times in seconds."""

    step: int
    t: float
    seconds: float
    """Wall time from the end of the step before to the end of this one."""
    wait: float
    """Waiting for the batch to be ready."""
    train: float
    """Forward, gradients and update."""
    loss: float
    bucket: int
    useful_frames: int
    padded_frames: int
    compiled: bool
    """A shape was compiled inside this step, so its time says nothing about training."""
    blame: dict[str, float] = field(default_factory=dict)
    """How the wait divides over the stages that the batch was in meanwhile."""
    stages: dict[str, float] = field(default_factory=dict)
    """How long each stage worked on this batch, in whatever thread."""
    rings: dict[str, int] = field(default_factory=dict)
    """Batches ready in each ring when this one was taken."""
    finished: dict[str, float] = field(default_factory=dict)
    """When each stage was done with this batch, on the scale of `t`."""
    parts: dict[str, float] = field(default_factory=dict)
    """Seconds of loading this batch that were `disk` and `decode`; only a profile tells them."""


@dataclass(frozen=True)
class Session:
    """Everything a run.jsonl says."""

    path: Path
    header: dict[str, Any]
    steps: tuple[Step, ...]
    events: tuple[dict[str, Any], ...]
    """All other lines, in order: gpu, ring, compile, checkpoint, validation, finding, …"""
    end: dict[str, Any] | None
    damaged_lines: int

    @property
    def complete(self) -> bool:
        """The run wrote its closing line and no line is damaged."""
        return self.end is not None and self.damaged_lines == 0

    @property
    def accounts(self) -> dict[str, float]:
        """Seconds per account, from the closing line or, in a cut run, from the last report."""
        for event in (self.end, *reversed(list(self.of_kind("report")))):
            if event and event.get("accounts"):
                return {name: float(event["accounts"].get(name, 0.0)) for name in ACCOUNTS}
        return dict.fromkeys(ACCOUNTS, 0.0)

    def of_kind(self, kind: str) -> Iterator[dict[str, Any]]:
        """The events of one kind, in order."""
        return (event for event in self.events if event["kind"] == kind)

    @property
    def steady_steps(self) -> tuple[Step, ...]:
        """Steps whose time says something about training: not the first, none that compiled."""
        return tuple(step for step in self.steps[1:] if not step.compiled)

    @property
    def step_times(self) -> list[float]:
        """Seconds of the steady steps."""
        return [step.seconds for step in self.steady_steps]

    @property
    def variation(self) -> float | None:
        """std / mean of the step time; none with fewer than two steady steps."""
        times = self.step_times
        if len(times) < 2:
            return None
        return statistics.stdev(times) / statistics.fmean(times)


def load(path: Path) -> Session:
    """Read a run.jsonl, or the one in a run's folder."""
    path = path / "run.jsonl" if path.is_dir() else path
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(
            f"Cannot read the recorded run {path}: {error.strerror}",
            remedy="name a run's folder or its run.jsonl; train_main.py writes one",
        ) from None
    events, damaged = _parse(lines)
    if not events or events[0]["kind"] != "header":
        raise MeasurementError(
            f"{path} is not a recorded run: it has no header line",
            remedy="name the run.jsonl that train_main.py or myxtts profile wrote",
        )
    if events[0].get("schema") != SCHEMA:
        raise MeasurementError(
            f"{path} was written by another version of MyXTTS",
            received=f"schema {events[0].get('schema')}, this version reads {SCHEMA}",
            remedy="record it again with this version",
        )
    return _session(path, events, damaged)


def _parse(lines: list[bytes]) -> tuple[list[dict[str, Any]], int]:
    events, damaged = [], 0
    for line in lines:
        if not line.strip():
            continue
        event = parsed(line)
        if event is None:
            damaged += 1
        else:
            events.append(event)
    return events, damaged


def parsed(line: bytes) -> dict[str, Any] | None:
    """One line of a run.jsonl; None when it was cut, or does not hold what its kind needs."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
        return None
    return event if _whole(event) else None


def _whole(event: dict[str, Any]) -> bool:
    needed = {"t": _NUMBER} | _NEEDED.get(event["kind"], {}) if event["kind"] != "header" else {}
    return (
        all(isinstance(event.get(name), kinds) for name, kinds in needed.items())
        and all(isinstance(event.get(name, {}), dict) for name in _TABLES)
        and all(_numbers(event.get(name, {})) for name in _TABLES_OF_NUMBERS)
        and all(isinstance(event.get(name, 0), (*_NUMBER, NoneType)) for name in _FIGURES)
    )


def _numbers(table: Any) -> bool:
    return isinstance(table, dict) and all(isinstance(of, _NUMBER) for of in table.values())


def _session(path: Path, events: list[dict[str, Any]], damaged: int) -> Session:
    names = Step.__dataclass_fields__.keys()
    steps, others, end = [], [], None
    for event in events[1:]:
        if event["kind"] == "step":
            steps.append(Step(**{name: event[name] for name in names if name in event}))
        elif event["kind"] == "end":
            end = event
        else:
            others.append(event)
    return Session(path, events[0], tuple(steps), tuple(others), end, damaged)
