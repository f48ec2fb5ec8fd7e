"""A training run from its configuration to its last checkpoint.

The `Trainer` puts the parts of a run together and owns their order; on one device it is complete.
`memory_isolated_trainer` adds the second device, `run` chooses between the two. How batches get
here is `feeder`'s business, the steps are `loop`'s, and what is told and recorded is `journal`'s.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from myxtts.config import Config
from myxtts.data.load_parts import LoadParts
from myxtts.devices import DevicePlan
from myxtts.telemetry.accounts import Ledger
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import checkpoint, network, precision, state
from myxtts.training.assembly import make_step
from myxtts.training.augmentation import Augmentation
from myxtts.training.batch_path import BatchPath
from myxtts.training.best import BestSoFar
from myxtts.training.corpus import open_data
from myxtts.training.dummy_step import make_dummy
from myxtts.training.feeder import Feeder
from myxtts.training.journal import Journal
from myxtts.training.live_features import LiveFeatures
from myxtts.training.loop import Loop
from myxtts.training.memory import memory_mb
from myxtts.training.memory_estimate import MemoryEstimate, available, estimate, largest_bucket
from myxtts.training.milestones import Milestones, Trained
from myxtts.training.planting import Delays
from myxtts.training.preprocess import Preprocessor
from myxtts.training.progress import Display, Gauges, Silent
from myxtts.training.rates import Bench, measure
from myxtts.training.run_folder import RunFolder
from myxtts.training.stages import Lane, Stage
from myxtts.training.step import TrainStep, choose_xla
from myxtts.training.study import Study


class Trainer:
    """Trains on the plan's model device; every stage of preparation runs there too."""

    def __init__(
        self,
        config: Config,
        plan: DevicePlan,
        display: Display | None = None,
        *,
        resume: bool = False,
        study: Study | None = None,
    ) -> None:
        """`study` is a profile's: what is planted, and what is measured beside the steps."""
        self.config = config
        self.study = study or Study()
        self.plan = plan
        self.display = display or Silent()
        self.pipeline_depth = config.data.pipeline_depth
        self.enable_async_pipeline = config.data.optimize_cpu_gpu_overlap
        self._ledger = Ledger()
        self._delays = Delays(self.study.planted)
        self.folder = RunFolder(config)
        found = self.folder.open(config, resume=resume)
        self.display.say(plan.describe())

        self.data = open_data(config, self.display)
        if self.study.rates or self._delays:
            self.data.loader.parts = LoadParts(
                self._delays.read, lambda: self._delays.pause("decode")
            )
        self.total_steps = self._total_steps()
        self._xla_trial: dict[str, float] = {}
        self._memory: MemoryEstimate | None = None
        self._trained = self._build(found)
        self.path, self.step = self._trained.path, self._trained.step
        self._journal = Journal(
            self.folder,
            self._ledger,
            self.display,
            self.total_steps,
            config.training,
            self._gauges,
        )
        self._milestones = Milestones(
            self._trained, self.folder, self.total_steps,
            BestSoFar.remembered(config.training.early_stop_patience, found.info if found else {}),
            self._ledger, self._journal,
        )  # fmt: skip
        self._loop = Loop(
            self._trained, self.folder.checkpoints, found.step if found else 0, self.total_steps,
            self._ledger, self._journal, self._milestones,
        )  # fmt: skip
        self._journal.begin(
            config,
            plan,
            self.data,
            xla=self.step.xla,
            xla_trial=self._xla_trial,
            precision=self._trained.dtype_policy,
        )
        if self.study.planted:
            self._journal.write("planted", **self.study.planted.as_json())

    @property
    def step_number(self) -> int:
        """Batches done so far."""
        return self._loop.position

    @property
    def step_times(self) -> list[float]:
        """Seconds of each step of this run so far."""
        return self._journal.step_times

    def run(self) -> Path:
        """Train to the end; returns the run's folder. Ctrl-C keeps a checkpoint, then raises."""
        reason, compilations = "failed", None
        try:
            with self._journal.sampling_gpus():
                self._train()
            reason = "finished"
            compilations = self.step.compilations
            if self.study.rates:
                self._measure_rates()
        except KeyboardInterrupt:
            reason = "interrupted"
            self._milestones.save(self.step_number)
            self.display.say(
                f"interrupted at step {self.step_number}; the checkpoint is kept. "
                "Go on with --resume"
            )
            raise
        finally:
            self._journal.end(
                reason,
                steps=self.step_number,
                compilations=self.step.compilations if compilations is None else compilations,
                best=self._milestones.best.as_json(),
            )
            self.data.loader.close()
        return self.folder.path

    def validate(self) -> float:
        """The mean loss over the validation corpus, weighted by useful frames."""
        return self._milestones.validate(self.step_number)

    # -- assembling ------------------------------------------------------------------------------

    def _total_steps(self) -> int:
        training = self.config.training
        steps = training.epochs * self.data.loader.batches_per_epoch
        return min(steps, training.max_steps or steps)

    def _build(self, found: checkpoint.Checkpoint | None) -> Trained:
        """Everything that trains, as new, as it was when the run stopped, or with given weights."""
        config, device = self.config, self.plan.model_device
        tokenizer = Tokenizer(config.data.text_units)
        told = config.training.from_checkpoint
        weights = checkpoint.load(Path(told)) if told is not None and found is None else found
        statistics = self.data.prepared.mel_mean, self.data.prepared.mel_std
        if weights is not None:
            network.check_fits(weights, config, tokenizer)
            # Weights know mels only as they were scored when they were trained.
            statistics = weights.mel_statistics
        policy = precision.policy(config, device)
        if found is not None and config.data.mixed_precision == "auto":
            policy = found.info["precision"]
        path = BatchPath(self.data, config.data, self._preprocessor(*statistics), device)
        step = self._step(tokenizer, policy, path, found)
        if found is not None:
            self._go_on(step, found)
        elif weights is not None:
            state.start_from(step, weights)
            self.display.say(f"fine-tuning: begins with the weights of {weights.path}")
        return Trained(config, tokenizer, policy, statistics, self.data, path, step, self._delays)

    def _step(
        self,
        tokenizer: Tokenizer,
        policy: str,
        path: BatchPath,
        found: checkpoint.Checkpoint | None,
    ) -> TrainStep:
        """The model's step, or what stands in for it."""
        config, device = self.config, self.plan.model_device
        if self.study.dummy_step is not None:
            return make_dummy(config, tokenizer, device, self.study.dummy_step)
        return make_step(
            config,
            tokenizer,
            self.total_steps,
            policy,
            device,
            lambda make: self._xla(make, path, found),
            self.plan.replicas,
        )

    def _go_on(self, step: TrainStep, found: checkpoint.Checkpoint) -> None:
        state.go_on(step, found)
        self.display.say(
            f"going on from step {found.step} of {self.total_steps} ({found.path})"
            if found.step < self.total_steps
            else f"the run is already at its last step, {found.step}: raise --max-steps or "
            "--epochs to go on"
        )

    def _preprocessor(self, mel_mean: Any, mel_std: Any) -> Preprocessor:
        config, recipe = self.config, self.data.prepared.store.recipe
        return Preprocessor(
            self.plan.data_device,
            mel_mean,
            mel_std,
            config.model,
            LiveFeatures(recipe.mel) if recipe.kind == "pcm" else None,
            Augmentation(config.data, config.training.seed),
        )

    def _xla(
        self,
        make: Callable[[bool], TrainStep],
        path: BatchPath,
        found: checkpoint.Checkpoint | None,
    ) -> bool:
        """Whether to compile with XLA: as told, as pinned by the checkpoint, or as measured."""
        wanted = self.config.data.enable_xla
        if wanted != "auto":
            return wanted
        if found is not None:
            return bool(found.info["xla"])
        # The trial compiles, so this is the moment to say what a step will need.
        self._estimate_memory(make(True), path)
        example = path.example(len(self.data.buckets) // 2)
        with self._ledger.account("compiling"):
            xla, seconds = choose_xla(make, example)
        self._xla_trial = seconds
        self.display.say(
            f"enable_xla auto: a step takes {seconds['xla'] * 1e3:.0f} ms with XLA, "
            f"{seconds['graph'] * 1e3:.0f} ms without: {'on' if xla else 'off'}"
        )
        return xla

    def _estimate_memory(self, step: TrainStep, path: BatchPath) -> MemoryEstimate:
        """What a step of the largest shape needs; said the first time that it is asked."""
        if self._memory is None:
            overlapping = self.enable_async_pipeline
            batches = path.on_model_device(self.pipeline_depth, overlapping=overlapping)
            with self._ledger.account("compiling"):
                largest = path.example(largest_bucket(self.data.buckets))
                self._memory = estimate(step, largest, self.config, batches)
            for line in self._memory.compared(*available(self.plan, self.config)):
                self.display.say(line)
        return self._memory

    def _gauges(self) -> Gauges:
        optimizer = self.step.optimizer
        return Gauges(
            memory_mb=memory_mb(self.plan.model_device),
            learning_rate=float(precision.inner(optimizer).learning_rate),
            loss_scale=precision.loss_scale(optimizer),
            depth=self._loop.ring_depth,
        )

    # -- running ---------------------------------------------------------------------------------

    def _train(self) -> None:
        with self._batches() as feeder:
            feeder.start()
            if self.study.dummy_step is None:
                needed = self._estimate_memory(self.step, self.path)
                self._journal.write("memory_estimate", total=needed.total, **asdict(needed))
            self._loop.warm_up()
            self._wait_until_warm(feeder)
            ended = self._loop.run(feeder)
        while not ended:  # the run went back to a checkpoint
            with self._batches() as feeder:
                feeder.start()
                self._wait_until_warm(feeder)
                ended = self._loop.run(feeder)
        self._milestones.save(self.step_number)

    def _batches(self) -> Feeder:
        """Batches from where the run is to its end."""
        steps = range(self.step_number, self.total_steps)
        batches = self.data.loader.batches(steps.start, steps.stop)
        overlapping = self.enable_async_pipeline
        self.display.say(self.path.describe(self.pipeline_depth, overlapping=overlapping))
        return self._feeder(steps, self.path.load_stage(batches))

    def _feeder(self, steps: Iterable[int], load: Stage) -> Feeder:
        """The pipeline behind a stage that loads, as the configuration wants it."""
        data, overlapping = self.config.data, self.enable_async_pipeline
        lanes = self._delays.along(self.path.lanes(load, self.pipeline_depth))
        self._journal.write(
            "pipeline",
            overlapping=overlapping,
            in_flight=data.pipeline_buffer_size,
            **self.path.recorded(lanes),
        )
        return Feeder(
            steps,
            lanes,
            synchronous=not overlapping,
            in_flight=data.pipeline_buffer_size,
            in_flight_bytes=data.pipeline_memory * 2**20,
            stage_timeout=data.stage_timeout,
            on_depth=lambda change: self._journal.write("depth", **asdict(change)),
        )

    def _measure_rates(self) -> None:
        """Every stage on its own, after the last step; its time is in no account."""
        self._ledger.close()
        self.display.say("rates: every stage on its own")

        def lanes(load: Stage) -> list[Lane]:
            return self._delays.along(self.path.lanes(load, self.pipeline_depth))

        compute = self._delays.behind("training", self.step)
        for rate in measure(Bench(self.config, self.data, self.path, lanes, compute)):
            self._journal.write("rate", **asdict(rate))

    def _wait_until_warm(self, feeder: Feeder) -> None:
        """The next step waits for a full pipeline, at most `model_start_delay` seconds."""
        delay, started = self.config.data.model_start_delay, time.perf_counter()
        with self._ledger.account("data_wait"):
            feeder.wait_until_warm(delay)
        waited = time.perf_counter() - started
        ready = {ring.name: ring.occupancy for ring in feeder.states()}
        self._journal.write("model_start", delay=delay, waited=waited, ready=ready)
