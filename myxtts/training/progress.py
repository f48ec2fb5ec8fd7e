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
from myxtts.telemetry.run_log import RunLog
from myxtts.telemetry.session import Step

VARIATION_WARNING = 0.30


@dataclass(frozen=True)
class Gauges:
    """What is read off the run at the moment of a report."""

    memory_mb: int | None
    learning_rate: float
    loss_scale: float | None
    """Of float16; None: this precision needs none."""


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
    losses: dict[str, float] = field(default_factory=dict)
    """The mean of each loss, `total` among them."""

    @property
    def steps_per_second(self) -> float:
        return 1.0 / self.mean if self.mean else 0.0

    @property
    def variation(self) -> float:
        return self.std / self.mean if self.mean else 0.0

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
            f"memory {'N/A' if self.memory_mb is None else self.memory_mb} MB"
        ).replace("%", " %")

    def curves(self) -> dict[str, float]:
        """The figures by the names that TensorBoard shows them under."""
        return {
            **{f"loss/{name}": loss for name, loss in self.losses.items()},
            "training/learning rate": self.learning_rate,
            "training/steps per second": self.steps_per_second,
            "training/useful frames per second": self.useful_frames_per_second,
            "training/data wait, percent": 100.0 * self.wait_share,
            **({} if self.loss_scale is None else {"training/loss scale": self.loss_scale}),
        }


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
        self.step_times: list[float] = []

    def add(self, step: Step, losses: dict[str, float]) -> Report | None:
        """Record one step; report when the interval is full."""
        self._log.write("step", **{k: v for k, v in asdict(step).items() if k != "t"})
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
        times = [step.seconds for step in steady]
        names = self._losses[-1]
        report = Report(
            step=steady[-1].step + 1,
            total_steps=self._total,
            loss=statistics.fmean(step.loss for step in steady),
            losses={name: statistics.fmean(of[name] for of in self._losses) for name in names},
            mean=statistics.fmean(times),
            std=statistics.stdev(times) if len(times) > 1 else 0.0,
            wait_share=sum(step.wait for step in steady) / max(sum(times), 1e-9),
            useful_frames_per_second=sum(s.useful_frames for s in steady) / max(sum(times), 1e-9),
            ready=list(steady[-1].rings.values())[-1] if steady[-1].rings else 0,
            **asdict(self._gauges()),
        )
        self._recent.clear()
        self._losses.clear()
        self._log.write(
            "report",
            **asdict(report),
            steps_per_second=report.steps_per_second,
            variation=report.variation,
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
