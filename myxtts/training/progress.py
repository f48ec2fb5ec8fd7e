"""What a run tells while it runs: each step to run.jsonl, and every N steps the figures.

`StepLog` owns the step records and the running statistics of one run; a `Display` shows them
(the command line has a live table and a plain one). The loop that produces them is `trainer`'s.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Protocol

from myxtts.telemetry.accounts import Ledger
from myxtts.telemetry.gpu_watch import GpuReading, total_power
from myxtts.telemetry.run_log import RunLog
from myxtts.telemetry.session import Step

VARIATION_WARNING = 0.30
DATA_DEVICE_STAGES = ("upload", "preprocess", "transfer")
"""What keeps the data device busy."""


@dataclass(frozen=True)
class Gauges:
    """What is read off the run at the moment of a report."""

    memory_mb: int | None
    learning_rate: float
    loss_scale: float | None
    """Of float16; None: this precision needs none."""
    depth: int | None = None
    """Batches that the last ring may hold now; None: there are no rings."""
    gpus: tuple[GpuReading, ...] = ()
    """Every card that NVML shows; none without a driver."""


@dataclass(frozen=True)
class Report:
    """The figures of the last steps; seconds unless said otherwise."""

    step: int
    total_steps: int
    loss: float
    mean: float
    std: float
    wait_share: float
    useful_frames_per_second: float
    ready: int
    """Batches ready in the last ring when the last step took its own."""
    memory_mb: int | None
    learning_rate: float = 0.0
    loss_scale: float | None = None
    depth: int | None = None
    gpus: tuple[GpuReading, ...] = ()
    losses: dict[str, float] = field(default_factory=dict)
    """The mean of each loss, `total` among them."""
    model_busy: float = 0.0
    """Share of the steps' time in which the model's device trained."""
    data_busy: float = 0.0
    """Share of it in which batches were being prepared and copied."""
    memory_growth_mb: int | None = None
    """More than at the report before; None: there was none, or the memory is not known."""

    @property
    def steps_per_second(self) -> float:
        return 1.0 / self.mean if self.mean else 0.0

    @property
    def variation(self) -> float:
        return self.std / self.mean if self.mean else 0.0

    @property
    def power_w(self) -> float | None:
        """Of all GPUs together, at the moment of the report."""
        return total_power(self.gpus)

    @property
    def remaining(self) -> float:
        """Seconds to go at this rate."""
        return (self.total_steps - self.step) * self.mean

    def line(self) -> str:
        """One line of text; `tools.compare` reads it back from redirected output."""
        return (
            f"step {self.step}/{self.total_steps}  loss {self.loss:.4f}  "
            f"{self.steps_per_second:.2f} steps/s  "
            f"step {self.mean * 1e3:.1f} ms ± {self.std * 1e3:.1f} ({self.variation:.1%})  "
            f"wait {self.wait_share:.1%}  useful {self.useful_frames_per_second:.0f} frames/s  "
            f"memory {told(self.memory_mb)} MB ({told(self.memory_growth_mb, '+d')})  "
            f"busy data {self.data_busy:.0%} model {self.model_busy:.0%}  "
            f"ready {self.ready}/{told(self.depth)}  "
            f"GPU use {self.gpu_use()}  power {told(self.power_w, '.0f')} W  "
            f"left {self.time_left()}"
        ).replace("%", " %")

    def gpu_use(self) -> str:
        """Percent of each GPU as NVML says it, in index order."""
        each = [told(gpu.utilization, ".0f") for gpu in self.gpus] or ["N/A"]
        return " / ".join(f"{use}%" if use != "N/A" else use for use in each)

    def time_left(self) -> str:
        """Hours, minutes and seconds to go at this rate."""
        minutes, seconds = divmod(int(self.remaining), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"

    def curves(self) -> dict[str, float]:
        """The figures by the names that TensorBoard shows them under."""
        return {
            **{f"loss/{name}": loss for name, loss in self.losses.items()},
            "training/learning rate": self.learning_rate,
            "training/steps per second": self.steps_per_second,
            "training/useful frames per second": self.useful_frames_per_second,
            "training/data wait, percent": 100.0 * self.wait_share,
            "training/variation of the step, percent": 100.0 * self.variation,
            "training/model device busy, percent": 100.0 * self.model_busy,
            "training/data device busy, percent": 100.0 * self.data_busy,
            "training/batches ready": float(self.ready),
            **{name: float(of) for name, of in self._if_known().items() if of is not None},
        }

    def _if_known(self) -> dict[str, float | None]:
        """What a machine or a precision may not have."""
        return {
            "training/loss scale": self.loss_scale,
            "training/buffer depth": self.depth,
            "training/memory, MB": self.memory_mb,
            "training/power, W": self.power_w,
            **{f"training/use of GPU {gpu.index}, percent": gpu.utilization for gpu in self.gpus},
        }


def told(value: float | None, form: str = "") -> str:
    """A number, or N/A."""
    return "N/A" if value is None else f"{value:{form}}"


class Display(Protocol):
    """Shows a run to a person. Called from the thread that trains."""

    def say(self, text: str) -> None:
        """A sentence for the log."""

    def preparing(self, phase: str, done: int, total: int) -> None:
        """Progress of something that comes before training."""

    def stepped(self, step: Step, total_steps: int) -> None:
        """A step is done."""

    def reported(self, report: Report) -> None:
        """The figures of the last steps."""


class Silent:
    """A display that shows nothing; for tests and tools."""

    def say(self, text: str) -> None: ...

    def preparing(self, phase: str, done: int, total: int) -> None: ...

    def stepped(self, step: Step, total_steps: int) -> None: ...

    def reported(self, report: Report) -> None: ...


class StepLog:
    """Records steps and reports every `interval` of them."""

    def __init__(
        self,
        log: RunLog,
        ledger: Ledger,
        display: Display,
        total_steps: int,
        interval: int,
        gauges: Callable[[], Gauges],
    ) -> None:
        self._log = log
        self._ledger = ledger
        self._display = display
        self._total = total_steps
        self._interval = interval
        self._gauges = gauges
        self._recent: list[Step] = []
        self._losses: list[dict[str, float]] = []
        self._memory_mb: int | None = None
        self.step_times: list[float] = []

    def add(self, step: Step, losses: dict[str, float]) -> Report | None:
        """Record one step; report when the interval is full."""
        self._log.write("step", **vars(step))
        self.step_times.append(step.seconds)
        self._recent.append(step)
        self._losses.append(losses)
        self._display.stepped(step, self._total)
        return self.report() if (step.step + 1) % self._interval == 0 else None

    def report(self) -> Report | None:
        """Say mean, spread and rate of the steps since the last report; None: there are none."""
        steady = [step for step in self._recent if not step.compiled]
        if not steady:
            return None
        report = self._figures(steady, self._gauges())
        self._recent.clear()
        self._losses.clear()
        self._log.write(
            "report",
            **asdict(report),
            steps_per_second=report.steps_per_second,
            variation=report.variation,
            power_w=report.power_w,
            accounts=self._ledger.totals(),
        )
        self._display.reported(report)
        if report.variation > VARIATION_WARNING:
            self._display.say(
                f"warning: the step time varies by {report.variation:.0%} (std/mean); "
                f"above {VARIATION_WARNING:.0%} something stalls now and then: "
                "myxtts profile names it"
            )
        return report

    def _figures(self, steady: list[Step], gauges: Gauges) -> Report:
        times = [step.seconds for step in steady]
        wall = max(sum(times), 1e-9)
        prepared = sum(step.stages.get(name, 0.0) for step in steady for name in DATA_DEVICE_STAGES)
        before, self._memory_mb = self._memory_mb, gauges.memory_mb
        return Report(
            step=steady[-1].step + 1,
            total_steps=self._total,
            loss=statistics.fmean(step.loss for step in steady),
            losses={
                name: statistics.fmean(of[name] for of in self._losses) for name in self._losses[-1]
            },
            mean=statistics.fmean(times),
            std=statistics.stdev(times) if len(times) > 1 else 0.0,
            wait_share=sum(step.wait for step in steady) / wall,
            useful_frames_per_second=sum(s.useful_frames for s in steady) / wall,
            ready=list(steady[-1].rings.values())[-1] if steady[-1].rings else 0,
            model_busy=sum(step.train for step in steady) / wall,
            data_busy=prepared / wall,
            memory_growth_mb=_growth(before, gauges.memory_mb),
            **vars(gauges),
        )


def _growth(before: int | None, now: int | None) -> int | None:
    return None if before is None or now is None else now - before
