"""What a run leaves behind about itself: run.jsonl, TensorBoard's curves, sentences on the screen.

The `Journal` owns the files and the words; what happened, and when, is told by the loop and the
milestones. Where the time went is the ledger's, which every report and the end copy down.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import tensorflow as tf

from myxtts.config import Config, TrainingConfig
from myxtts.data import lengths
from myxtts.devices import DevicePlan
from myxtts.telemetry import gpu, session, trace
from myxtts.telemetry.accounts import Ledger
from myxtts.telemetry.gpu_watch import GpuWatch
from myxtts.telemetry.run_log import SCHEMA, RunLog, machine
from myxtts.telemetry.session import Step
from myxtts.training.corpus import TrainingData
from myxtts.training.fitting import Shortage
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
        training: TrainingConfig,
        gauges: Callable[[], Gauges],
    ) -> None:
        self.display = display
        self.board = EventFile(folder.tensorboard)
        self._folder = folder
        self._trace = training.trace
        self._log = RunLog(folder.log)
        self._ledger = ledger
        self._gpus = GpuWatch()
        self._notices: deque[str] = deque()  # from the sampler's thread, said by this one
        self._steps = StepLog(
            self._log,
            ledger,
            display,
            total_steps,
            training.report_interval,
            lambda: replace(gauges(), gpus=self._gpus.readings()),
        )

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
            lengths=lengths.histogram(data.prepared.token_lengths, data.prepared.frames),
            **computed,
        )
        for skipped in data.prepared.skipped:
            self._log.write("skipped", clip=skipped.clip, reason=skipped.reason)
        for long_clip in data.prepared.long_clips:
            self._log.write("long_clip", **asdict(long_clip))

    def write(self, kind: str, **fields: Any) -> None:
        """An event for run.jsonl alone."""
        self._log.write(kind, **fields)

    def since(self, moment: float) -> float:
        """A moment by `time.perf_counter` on the scale of run.jsonl's `t`."""
        return self._log.since(moment)

    def stepped(self, step: Step, losses: dict[str, float]) -> None:
        """A step is done; every `report_interval` of them a report follows."""
        self._show(self._steps.add(step, losses))
        while self._notices:
            self.display.say(f"warning: {self._notices.popleft()}")

    def skipped(self, step: int, losses: dict[str, float], clips: Sequence[str]) -> None:
        """The loss of a step is not a number; nothing was learned from its batch."""
        said = {name: repr(loss) for name, loss in losses.items()}  # JSON has no word for NaN
        self._log.write("bad_step", step=step, losses=said, clips=list(clips))
        self.display.say(
            f"warning: step {step} is skipped: its loss is {said['total']}; nothing changed. Its "
            f"clips: {', '.join(clips)}"
        )

    def went_back(self, step: int, to: int, path: Path) -> None:
        """Too many bad steps: the run is again where it was at an earlier checkpoint."""
        self._log.write("went_back", step=step, to=to, path=str(path))
        self.display.say(
            f"warning: too many bad steps in a row at step {step}: back to step {to} ({path})"
        )

    def not_saved(self, step: int) -> None:
        """The weights are not numbers: a checkpoint of them would be of no use."""
        self._log.write("not_saved", step=step)
        self.display.say(
            f"warning: no checkpoint is written at step {step}: the weights are not numbers"
        )

    def ran_short(self, step: int, shortage: Shortage) -> None:
        """A batch did not fit into a device's memory, and what is done instead."""
        self._log.write("out_of_memory", step=step, **asdict(shortage))
        instead = (
            f"they are done in {shortage.parts} parts from now on, with the same result"
            if shortage.parts > 1
            else "they are copied later from now on, when their turn has come"
        )
        self.display.say(
            f"warning: the memory of {shortage.device} is not enough for batches of "
            f"{shortage.rows} clips of length {shortage.length} ({shortage.work}, step {step}): "
            f"{instead}"
        )

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
        if self._trace:
            trace.write(session.load(self._folder.log), self._folder.trace)
            self.display.say(f"trace: {self._folder.trace} (open it in ui.perfetto.dev)")

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
                self._sampled,
                on_notice=self._notice,
                on_lost=self._lost,
            ),
        ):
            yield

    def _sampled(self, sample: gpu.GpuSample) -> None:
        self._gpus.saw(sample)
        self._log.write("gpu", **vars(sample))

    def _lost(self, index: int, why: str) -> None:
        self._gpus.lost(index)
        self._log.write("gpu_lost", index=index, reason=why)

    def _notice(self, text: str) -> None:
        self._log.write("notice", text=text)
        self._notices.append(text)

    def _show(self, report: Report | None) -> None:
        if report is not None:
            self.board.scalars(report.step, report.curves())
