"""A training run from its configuration to its last checkpoint.

The `Trainer` owns the loop and the order of things between steps; on one device it is complete.
`memory_isolated_trainer` adds the second device, `run` chooses between the two. What a step
computes is `step`'s business, how batches get here is `feeder`'s.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import math
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

import tensorflow as tf

from myxtts.config import Config
from myxtts.devices import DevicePlan
from myxtts.errors import UserError
from myxtts.telemetry import gpu
from myxtts.telemetry.accounts import Ledger
from myxtts.telemetry.run_log import SCHEMA, RunLog, machine
from myxtts.telemetry.session import Step
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import checkpoint, network, references
from myxtts.training.augmentation import Augmentation
from myxtts.training.batch_path import BatchPath
from myxtts.training.corpus import open_data
from myxtts.training.feeder import Feeder, Parcel, blame
from myxtts.training.live_features import LiveFeatures
from myxtts.training.memory import memory_mb
from myxtts.training.preprocess import Preprocessor
from myxtts.training.progress import Display, Silent, StepLog
from myxtts.training.run_folder import RunFolder
from myxtts.training.step import TrainStep, choose_xla, make_optimizer


class Trainer:
    """Trains on the plan's model device; every stage of preparation runs there too."""

    def __init__(
        self,
        config: Config,
        plan: DevicePlan,
        display: Display | None = None,
        *,
        resume: bool = False,
    ) -> None:
        self.config = config
        self.plan = plan
        self.display = display or Silent()
        self.pipeline_depth = config.data.pipeline_depth
        self.enable_async_pipeline = config.data.optimize_cpu_gpu_overlap
        self._ledger = Ledger()
        self.folder = RunFolder(config)
        found = self.folder.open(config, resume=resume)
        self.display.say(plan.describe())

        self.data = open_data(config, self.display)
        self.tokenizer = Tokenizer(config.data.text_units)
        self.total_steps = self._total_steps()
        self.step_number = 0
        self._build(found)
        self._log = RunLog(self.folder.log)
        self._write_header()

    @property
    def step_times(self) -> list[float]:
        """Seconds of each step of this run so far."""
        return self._steps.step_times

    def run(self) -> Path:
        """Train to the end; returns the run's folder. Ctrl-C keeps a checkpoint, then raises."""
        reason = "failed"
        try:
            with self._sampling_gpus():
                self._train()
            reason = "finished"
        except KeyboardInterrupt:
            reason = "interrupted"
            self._save()
            self.display.say(
                f"interrupted at step {self.step_number}; the checkpoint is kept. "
                "Go on with --resume"
            )
            raise
        finally:
            self._steps.report(memory_mb(self.plan.model_device))
            self._log.write(
                "end",
                reason=reason,
                steps=self.step_number,
                wall=self._ledger.wall,
                accounts=self._ledger.totals(),
                compilations=self.step.compilations,
            )
            self._log.close()
            self.data.loader.close()
        return self.folder.path

    # -- assembling ------------------------------------------------------------------------------

    def _total_steps(self) -> int:
        training = self.config.training
        steps = training.epochs * self.data.loader.batches_per_epoch
        return min(steps, training.max_steps or steps)

    def _build(self, found: checkpoint.Checkpoint | None) -> None:
        config, device = self.config, self.plan.model_device
        self.policy = network.precision(config, device)
        with tf.device(device):
            model = network.build(
                config.model, self.tokenizer, config.data.n_mels, self.policy, config.training.seed
            )
            optimizer = make_optimizer(config, self.total_steps)
            optimizer.build(model.trainable_variables)
        prepared = self.data.prepared
        self.mel_mean, self.mel_std = prepared.mel_mean, prepared.mel_std
        if found is not None:
            network.check_vocabulary(found, self.tokenizer)
            network.restore(model.trainable_variables, found.arrays["model"], found, "weights")
            network.restore(optimizer.variables, found.arrays["optimizer"], found, "optimiser")
            self.step_number = found.step
            self.mel_mean, self.mel_std = found.mel_statistics
            self.display.say(
                f"going on from step {found.step} of {self.total_steps} ({found.path})"
                if found.step < self.total_steps
                else f"the run is already at its last step, {found.step}: raise --max-steps or "
                "--epochs to go on"
            )
        self.path = BatchPath(self.data, config.data, self._preprocessor(), device)
        with self._ledger.account("compiling"):
            xla, self.xla_trial = self._xla(model, optimizer, found)
        self.step = TrainStep(model, optimizer, device, xla=xla)

    def _preprocessor(self) -> Preprocessor:
        config, recipe = self.config, self.data.prepared.store.recipe
        return Preprocessor(
            self.plan.data_device,
            self.mel_mean,
            self.mel_std,
            config.model,
            LiveFeatures(recipe.mel) if recipe.kind == "pcm" else None,
            Augmentation(config.data, config.training.seed),
        )

    def _xla(
        self, model: Any, optimizer: Any, found: checkpoint.Checkpoint | None
    ) -> tuple[bool, dict[str, float]]:
        """Whether to compile with XLA: as told, as pinned by the checkpoint, or as measured."""
        wanted = self.config.data.enable_xla
        if wanted != "auto":
            return wanted, {}
        if found is not None:
            return bool(found.info["xla"]), {}
        median = len(self.data.buckets) // 2
        xla, seconds = choose_xla(
            model, optimizer, self.plan.model_device, self.path.example(median)
        )
        self.display.say(
            f"enable_xla auto: a step takes {seconds['xla'] * 1e3:.0f} ms with XLA, "
            f"{seconds['graph'] * 1e3:.0f} ms without: {'on' if xla else 'off'}"
        )
        return xla, seconds

    def _write_header(self) -> None:
        self._log.write(
            "header",
            schema=SCHEMA,
            machine=machine(),
            versions={
                name: importlib.metadata.version(name) for name in ("myxtts", "keras", "numpy")
            }
            | {"tensorflow": tf.__version__},
            config=self.config.model_dump(),
            plan=asdict(self.plan),
            buckets=[[b.text_length, b.mel_frames, b.batch_size] for b in self.data.buckets],
            xla=self.step.xla,
            xla_trial=self.xla_trial,
            precision=self.policy,
        )
        for skipped in self.data.prepared.skipped:
            self._log.write("skipped", clip=skipped.clip, reason=skipped.reason)
        for long_clip in self.data.prepared.long_clips:
            self._log.write("long_clip", **asdict(long_clip))
        self._steps = StepLog(
            self._log,
            self._ledger,
            self.display,
            self.total_steps,
            self.config.training.report_interval,
        )

    # -- the loop --------------------------------------------------------------------------------

    def _train(self) -> None:
        data = self.config.data
        steps = range(self.step_number, self.total_steps)
        batches = self.data.loader.batches(steps.start, steps.stop)
        feeder = Feeder(
            steps,
            self.path.lanes(self.path.load_stage(batches), self.pipeline_depth),
            synchronous=not self.enable_async_pipeline,
            in_flight=data.pipeline_buffer_size,
        )
        self.display.say(self._loading_path())
        with feeder:
            feeder.start()
            self._warm_up()
            with self._ledger.account("data_wait"):
                feeder.wait_until_warm(data.model_start_delay)
            self._loop(feeder)
        self._save()

    def _warm_up(self) -> None:
        """Compile every shape before the first step, while the pipeline fills."""
        if not self.config.data.pad_to_fixed_length:
            return
        for number, bucket in enumerate(self.data.buckets):
            with self._ledger.account("compiling"):
                seconds = self.step.compile(self.path.example(number))
            self._log.write(
                "compile", what="step", bucket=number, shape=asdict(bucket), seconds=seconds
            )
            self.display.preparing("compile", number + 1, len(self.data.buckets))

    def _loop(self, feeder: Feeder) -> None:
        training, clock, ledger = self.config.training, time.perf_counter, self._ledger
        parcels = iter(feeder)
        previous = clock()
        for number in count(self.step_number):
            ready = {state.name: state.occupancy for state in feeder.states()}
            started = clock()
            with ledger.account("data_wait"):
                parcel = next(parcels, None)
            taken = clock()
            if parcel is None:
                return
            shares = blame(parcel, started, taken)
            ledger.move(shares.get("transfer", 0.0), "data_wait", "transfer")
            compiled = self.step.compilations
            with ledger.account("training"):
                losses = self.step(parcel.batch)
            trained = clock()
            compiled = self.step.compilations - compiled
            if compiled:
                ledger.move(trained - taken, "training", "compiling")
            self._check_finite(losses, parcel)
            step = Step(
                step=number,
                t=0.0,
                seconds=trained - previous,
                wait=taken - started,
                train=trained - taken,
                loss=losses["total"],
                bucket=parcel.facts["bucket"],
                useful_frames=parcel.facts["useful"],
                padded_frames=parcel.facts["padded"],
                compiled=bool(compiled),
                blame=shares,
                stages=parcel.seconds,
                rings=ready,
            )
            previous = trained
            self.step_number = number + 1
            self._steps.add(step, memory_mb(self.plan.model_device))
            if self.step_number % training.report_interval == 0:
                for state in feeder.states():
                    self._log.write("ring", **asdict(state))
            if self._between_steps():
                previous = clock()

    def _between_steps(self) -> bool:
        """Validation and checkpoints, when their time has come; True when one was made."""
        training, number = self.config.training, self.step_number
        due = False
        if self.data.validation is not None and number % training.validation_interval == 0:
            self.validate()
            due = True
        if number % training.checkpoint_interval == 0 and number < self.total_steps:
            self._save()
            due = True
        return due

    def validate(self) -> float:
        """The mean loss over the validation corpus, weighted by useful frames."""
        loader = self.data.validation
        assert loader is not None
        started, total, frames = time.perf_counter(), 0.0, 0.0
        with self._ledger.account("validating"):
            for step in range(loader.batches_per_epoch):
                batch = loader.load(step)
                useful = float((batch["mel_lengths"] * batch["weights"]).sum())
                total += useful * self.step.evaluate(self.path.at_once(batch))["total"]
                frames += useful
        loss = total / max(frames, 1.0)
        seconds = time.perf_counter() - started
        self._log.write("validation", step=self.step_number, loss=loss, seconds=seconds)
        self.display.say(f"validation at step {self.step_number}: loss {loss:.4f}")
        return loss

    def _check_finite(self, losses: dict[str, float], parcel: Parcel) -> None:
        if math.isfinite(losses["total"]):
            return
        raise UserError(
            f"The loss is not a number at step {parcel.step}",
            received=f"{losses} from the clips {', '.join(parcel.facts['clips'])}",
            follows=f"training stops; the checkpoints in {self.folder.checkpoints} are unharmed",
            remedy="lower training.learning_rate, or look at these clips, and go on with --resume",
        )

    def _save(self) -> None:
        started = time.perf_counter()
        with self._ledger.account("checkpointing"):
            path = checkpoint.save(
                self.folder.checkpoints,
                self.step_number,
                {
                    "model": [v.numpy() for v in self.step.model.trainable_variables],
                    "optimizer": [v.numpy() for v in self.step.optimizer.variables],
                    "references": [reference.mels for reference in self.data.references],
                },
                self._checkpoint_info(),
                self.config.training.keep_checkpoints,
            )
        seconds = time.perf_counter() - started
        self._log.write("checkpoint", step=self.step_number, path=str(path), seconds=seconds)

    def _checkpoint_info(self) -> dict[str, Any]:
        return {
            "config": self.config.model_dump(),
            "tokenizer": self.tokenizer.fingerprint,
            **references.described(self.data.references),
            "mel_mean": self.mel_mean.tolist(),
            "mel_std": self.mel_std.tolist(),
            "xla": self.step.xla,
            "precision": self.policy,
        }

    # -- beside the loop -------------------------------------------------------------------------

    def _loading_path(self) -> str:
        data = self.config.data
        source = (
            "tf.data over the memory-mapped feature store"
            if data.use_tf_native_loading
            else "Python, clip by clip (use_tf_native_loading: false)"
        )
        if data.features == "live":
            source += f"; mels computed live on {self.plan.data_device}"
        count = len(self.data.buckets)
        shapes = f"{count} static shape{'s' if count > 1 else ''}"
        if not data.pad_to_fixed_length:
            shapes = "shapes that change with every batch (pad_to_fixed_length: false)"
        overlap = (
            f"prepared ahead in threads, {self.pipeline_depth} batches deep"
            if self.enable_async_pipeline
            else "one after the other (optimize_cpu_gpu_overlap: false)"
        )
        return f"loading path: {source}; {overlap}; {shapes}"

    @contextlib.contextmanager
    def _sampling_gpus(self) -> Iterator[None]:
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
