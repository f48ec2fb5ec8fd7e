"""What a run leaves behind about itself: run.jsonl, TensorBoard's curves, sentences on the screen.

The `Journal` owns the files and the words; what happened, and when, is told by the trainer and its
milestones. Where the time went is the ledger's, which every report and the end copy down.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tensorflow as tf

from myxtts.config import Config
from myxtts.devices import DevicePlan
from myxtts.telemetry import gpu
from myxtts.telemetry.accounts import Ledger
from myxtts.telemetry.run_log import SCHEMA, RunLog, machine
from myxtts.telemetry.session import Step
from myxtts.training.corpus import TrainingData
from myxtts.training.progress import Display, Gauges, Report, StepLog
from myxtts.training.run_folder import RunFolder
from myxtts.training.tensorboard import EventFile


class Journal:
    """Of one run, in one process; used by the thread that trains (GPU samples have their own)."""

    def __init__(
        self,
        folder: RunFolder,
        ledger: Ledger,
        display: Display,
        total_steps: int,
        interval: int,
        gauges: Callable[[], Gauges],
    ) -> None:
        self.display = display
        self.board = EventFile(folder.tensorboard)
        self._log = RunLog(folder.log)
        self._ledger = ledger
        self._steps = StepLog(self._log, ledger, display, total_steps, interval, gauges)

    @property
    def step_times(self) -> list[float]:
        """Seconds of each step so far."""
        return self._steps.step_times

    def begin(self, config: Config, plan: DevicePlan, data: TrainingData, **computed: Any) -> None:
        """The header: machine, versions, settings, shapes; `computed` is what was decided."""
        versions = {name: importlib.metadata.version(name) for name in ("myxtts", "keras", "numpy")}
        self._log.write(
            "header",
            schema=SCHEMA,
            machine=machine(),
            versions=versions | {"tensorflow": tf.__version__},
            config=config.model_dump(),
            plan=asdict(plan),
            buckets=[[b.text_length, b.mel_frames, b.batch_size] for b in data.buckets],
            **computed,
        )
        for skipped in data.prepared.skipped:
            self._log.write("skipped", clip=skipped.clip, reason=skipped.reason)
        for long_clip in data.prepared.long_clips:
            self._log.write("long_clip", **asdict(long_clip))

    def write(self, kind: str, **fields: Any) -> None:
        """An event for run.jsonl alone."""
        self._log.write(kind, **fields)

    def stepped(self, step: Step, losses: dict[str, float]) -> None:
        """A step is done; every `interval` of them a report follows."""
        self._show(self._steps.add(step, losses))

    def validated(self, step: int, losses: dict[str, float], seconds: float) -> None:
        """The losses over the validation clips."""
        loss = losses["total"]
        self._log.write("validation", step=step, loss=loss, losses=losses, seconds=seconds)
        self.board.scalars(step, {f"validation/{name}": of for name, of in losses.items()})
        self.display.say(f"validation at step {step}: loss {loss:.4f}")

    def sampled(self, step: int, folder: Path, seconds: float) -> None:
        """Sentences were spoken."""
        self._log.write("samples", step=step, path=str(folder), seconds=seconds)
        self.display.say(f"samples at step {step}: {folder}")

    def end(self, reason: str, **fields: Any) -> None:
        """The last report and the closing line; nothing is written after it."""
        self._show(self._steps.report())
        wall, accounts = self._ledger.wall, self._ledger.totals()
        self._log.write("end", reason=reason, wall=wall, accounts=accounts, **fields)
        self._log.close()
        self.board.close()

    @contextlib.contextmanager
    def sampling_gpus(self) -> Iterator[None]:
        """What the GPUs do meanwhile goes to run.jsonl too."""
        nvml = gpu.open_nvml(lambda why: self._log.write("gpu_absent", reason=why))
        if nvml is None:
            yield
            return
        with (
            nvml,
            gpu.GpuSampler(
                nvml,
                lambda sample: self._log.write("gpu", **asdict(sample)),
                on_notice=lambda notice: self._log.write("notice", text=notice),
            ),
        ):
            yield

    def _show(self, report: Report | None) -> None:
        if report is not None:
            self.board.scalars(report.step, report.curves())
