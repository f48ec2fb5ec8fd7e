"""The few figures that make two runs comparable, from a recording or from redirected output.

`read` takes a run's folder, its run.jsonl, or the text that train_main.py printed into a file.
What a source does not hold is None and is shown as "not measured". Comparing is `compare`'s and
`scaling`'s job.
"""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import dataclass
from pathlib import Path

from myxtts.errors import MeasurementError, UsageError
from myxtts.telemetry import session as sessions
from myxtts.telemetry.session import Session
from myxtts.tools.gpu_figures import gpu_figures


@dataclass(frozen=True)
class RunFigures:
    """One run in numbers; times in seconds, shares 0–1, utilisation in percent."""

    name: str
    steps: int
    """Steps that the means are taken over."""
    step_seconds: float
    step_std: float
    useful_frames_per_second: float | None = None
    wait_share: float | None = None
    data_utilization: float | None = None
    model_utilization: float | None = None
    memory_mb: int | None = None
    """The most that the model's device, or the process without a GPU, had in use."""
    wall: float | None = None
    batch_size: int | None = None
    virtual: bool = False
    """Measured on logical CPU devices: no figure of it is a GPU's."""

    @property
    def variation(self) -> float:
        """std / mean of the step time."""
        return self.step_std / self.step_seconds if self.step_seconds else 0.0

    @property
    def steps_per_second(self) -> float:
        return 1 / self.step_seconds if self.step_seconds else 0.0


def read(path: Path) -> RunFigures:
    """The figures of a recorded run or of redirected output."""
    if path.is_dir() or path.suffix == ".jsonl":
        return of_session(sessions.load(path))
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"Cannot read {path}: {error.strerror}",
            remedy="name a run's folder, its run.jsonl, or a file with train_main.py's output",
        ) from None
    if text.startswith('{"kind"'):
        return of_session(sessions.load(path))
    return of_text(text, path.name)


def of_session(session: Session) -> RunFigures:
    """From a recording: the steady steps, without the first and those that compiled."""
    steps = session.steady_steps
    if not steps:
        raise MeasurementError(
            f"{session.path} holds no steady step",
            received=f"{len(session.steps)} steps, all first ones or compiling",
            remedy="record a longer run: myxtts profile --num-steps 100",
        )
    times = [step.seconds for step in steps]
    use = {figures.role: figures.utilization for figures in gpu_figures(session)}
    memory = [event["memory_mb"] for event in session.of_kind("report") if event.get("memory_mb")]
    return RunFigures(
        name=_run_name(session.path),
        steps=len(times),
        step_seconds=statistics.fmean(times),
        step_std=statistics.stdev(times) if len(times) > 1 else 0.0,
        useful_frames_per_second=sum(step.useful_frames for step in steps) / sum(times),
        wait_share=sum(step.wait for step in steps) / sum(times),
        data_utilization=use.get("data"),
        model_utilization=use.get("model", use.get("data and model")),
        memory_mb=max(memory) if memory else None,
        wall=float(session.end["wall"]) if session.end and "wall" in session.end else None,
        batch_size=session.header.get("config", {}).get("data", {}).get("batch_size"),
        virtual=bool(session.header.get("plan", {}).get("virtual")),
    )


# The line of `training.progress.Report.line`.
_REPORT = re.compile(
    r"step (?P<step>\d+)/\d+\s+loss \S+\s+(?P<rate>[\d.]+) steps/s\s+"
    r"step (?P<mean>[\d.]+) ms ± (?P<std>[\d.]+) .*?wait (?P<wait>[\d.]+) ?%\s+"
    r"useful (?P<useful>[\d.]+) frames/s\s+memory (?P<memory>\d+|N/A) MB"
)
# Lines of `report_text.show`, which training prints when it ends.
_BATCH = re.compile(r"batch[ _-]?(?:size)?[ _-]?(\d+)", re.IGNORECASE)
_TOTAL = re.compile(r"^\s*total\s+(\d+\.\d+)\s+100\.0\s*$", re.MULTILINE)
_UTILIZATION = re.compile(r"^\s*GPU \d+ .*?\b(data and model|data|model)\s+(\d+) %", re.MULTILINE)


def of_text(text: str, name: str) -> RunFigures:
    """From printed report lines: the means weighted by the steps that each line covers."""
    text = text.replace("\N{NO-BREAK SPACE}", " ")
    lines = [match for match in map(_REPORT.search, text.splitlines()) if match]
    if not lines:
        raise MeasurementError(
            f"{name} holds no report line of a training run",
            remedy="redirect the whole output: python train_main.py … > run.txt 2>&1",
        )
    steps = [int(line["step"]) for line in lines]
    weights = [now - before for before, now in zip([0, *steps], steps, strict=False)]
    if min(weights) <= 0:
        raise MeasurementError(
            f"{name} holds the lines of more than one run",
            received=f"steps {', '.join(map(str, steps[:8]))} …",
            remedy="redirect each run into a file of its own",
        )
    total = sum(weights)

    def mean(values: list[float]) -> float:
        return sum(w * v for w, v in zip(weights, values, strict=True)) / total

    means = [float(line["mean"]) / 1e3 for line in lines]
    squares = [m**2 + (float(line["std"]) / 1e3) ** 2 for m, line in zip(means, lines, strict=True)]
    memory = [int(line["memory"]) for line in lines if line["memory"] != "N/A"]
    batch = _BATCH.search(text) or _BATCH.search(name)
    wall = _TOTAL.findall(text)
    use = {role: float(percent) for role, percent in _UTILIZATION.findall(text)}
    return RunFigures(
        name=name,
        steps=total,
        step_seconds=mean(means),
        step_std=math.sqrt(max(0.0, mean(squares) - mean(means) ** 2)),
        useful_frames_per_second=mean([float(line["useful"]) for line in lines]),
        wait_share=mean([float(line["wait"]) / 100 for line in lines]),
        data_utilization=use.get("data"),
        model_utilization=use.get("model", use.get("data and model")),
        memory_mb=max(memory) if memory else None,
        wall=float(wall[-1]) if wall else None,
        batch_size=int(batch[1]) if batch else None,
        virtual="virtual GPU" in text,
    )


def _run_name(path: Path) -> str:
    return path.parent.name if path.name == "run.jsonl" and path.parent.name else path.name
