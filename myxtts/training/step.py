"""One training step, compiled: forward, gradients, update, on the model's device.

A step is one batch; it ends in an update of the weights unless gradients are being gathered over
several batches. A loss that is no number changes nothing, and a batch that does not fit into the
device's memory is done in parts. `TrainStep` compiles once per bucket, tells how long that took,
and counts how often it happened. `choose_xla` measures whether XLA pays. The order of batches and
what happens between steps is `loop`'s business.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from myxtts.config import Config
from myxtts.errors import UserError
from myxtts.models.xtts import XTTS
from myxtts.training.accumulation import Accumulator, useful_frames
from myxtts.training.averaging import AveragedModel
from myxtts.training.fitting import Fitting, OutOfMemory, Shortages, cut
from myxtts.training.parted import PartedGradients, combined, shares_of
from myxtts.training.precision import with_loss_scale
from myxtts.training.preprocess import Batch
from myxtts.training.program import program
from myxtts.training.schedule import WarmUpThenDecay

TRIAL_STEPS = 3


def make_optimizer(
    config: Config,
    total_steps: int,
    dtype_policy: str = "float32",
    kind: type[keras.optimizers.AdamW] = keras.optimizers.AdamW,
) -> keras.optimizers.Optimizer:
    """AdamW; the gradient is clipped inside it, after any unscaling."""
    training = config.training
    updates = -(-total_steps // training.gradient_accumulation)
    adamw = kind(
        learning_rate=WarmUpThenDecay(training, updates),
        beta_2=0.98,
        weight_decay=training.weight_decay,
        global_clipnorm=training.gradient_clip,
    )
    return with_loss_scale(adamw, dtype_policy)


class TrainStep:
    """Callable: a batch on the model's device in, losses out, weights updated.

    Two programs: losses and gradients, compiled once per shape, and the update, compiled once for
    all shapes (it takes long to compile, and no shape of a batch reaches it). With an
    `accumulator` there is a third between them, which adds the gradients up. What comes of a
    batch is looked at between the programs: only a loss that is a number reaches the weights.
    """

    def __init__(
        self,
        model: XTTS,
        optimizer: keras.optimizers.Optimizer,
        device: str,
        *,
        xla: bool,
        accumulator: Accumulator | None = None,
        averaged: AveragedModel | None = None,
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self.device = device
        self.xla = xla
        self.accumulator = accumulator
        self.averaged = averaged
        self._gradients = self._program(self._losses_and_gradients)
        self._update = self._program(self._apply)
        self._evaluate = program(self.judged.losses, device, xla=xla)
        self._programs = [self._gradients, self._update, self._evaluate]
        if accumulator is not None:
            self._add = program(accumulator.add, device, xla=xla)
            self._update = self._program(self._apply_gathered)
            self._programs = [self._gradients, self._add, self._update, self._evaluate]
        self.shortages: Shortages = Shortages()
        self._training = Fitting("training", device, self.shortages)
        self._validating = Fitting("validating", device, self.shortages)
        self._parted: PartedGradients | None = None

    def __call__(self, batch: Batch, *, update: bool = True) -> dict[str, float]:
        """One batch; returns when the device has finished it.

        `update=False` only gathers its gradient, and needs an accumulator. A loss that is not a
        number is returned like any other, but the batch is left out of what is learned.
        """
        with tf.device(self.device):  # without the scope a step may run elsewhere in silence
            losses, gradients = self._training.do(
                batch, lambda parts: self._gradients_in(batch, parts)
            )
            found = _floats(losses)
            good = math.isfinite(found["total"])
            try:
                self._learn(batch, gradients if good else None, update=update)
            except OutOfMemory as error:
                raise _no_room_to_update(self.device, error) from error
            return found

    def _gradients_in(self, batch: Batch, parts: int) -> tuple[dict[str, Any], list[Any]]:
        """Losses and gradients; the weights stay as they are."""
        if parts == 1:
            losses, gradients = self._gradients(batch)
            return losses, gradients
        if self._parted is None:
            self._parted = PartedGradients(self.model, self.optimizer, self.device, xla=self.xla)
            self._programs += self._parted.programs
        return self._parted(batch, parts)

    def _learn(self, batch: Batch, gradients: list[Any] | None, *, update: bool) -> None:
        """Gather and update; None: there is nothing to learn from this batch."""
        if self.accumulator is None:
            if gradients is not None:
                self._update(gradients)
            return
        if gradients is not None:
            self._add(gradients, useful_frames(batch))
        elif not self.accumulator.holds_any:
            return  # zeros are no gradient: they would still move the optimiser's averages
        if update:
            self._update()

    @property
    def judged(self) -> XTTS:
        """The model that validation and samples use: the averaged one where there is one."""
        return self.model if self.averaged is None else self.averaged.model

    def evaluate(self, batch: Batch) -> dict[str, float]:
        """The losses of a batch; nothing is updated."""
        with tf.device(self.device):
            return _floats(self._validating.do(batch, lambda parts: self._losses_in(batch, parts)))

    def _losses_in(self, batch: Batch, parts: int) -> dict[str, Any]:
        if parts == 1:
            losses: dict[str, Any] = self._evaluate(batch)
            return losses
        pieces = cut(batch, parts)
        return combined([self._evaluate(piece) for piece in pieces], shares_of(pieces))

    @property
    def compilations(self) -> int:
        """Programs compiled so far; each shape has its own, so none may come after warm-up."""
        return sum(int(program.experimental_get_tracing_count()) for program in self._programs)

    def traced(self, batch: Batch) -> Any:
        """The graph of losses and gradients for this batch's shape: what is compiled for it."""
        with tf.device(self.device):
            return self._gradients.get_concrete_function(batch).graph

    def compile(self, batch: Batch) -> float:
        """Compile for this batch's shape and leave the weights as they were; seconds it took."""
        before = [variable.numpy() for variable in self.variables]
        started = time.perf_counter()
        self(batch)
        seconds = time.perf_counter() - started
        for variable, value in zip(self.variables, before, strict=True):
            variable.assign(value)
        return seconds

    @property
    def variables(self) -> Sequence[Any]:
        """Everything that a step changes: weights, their averages, the optimiser's state."""
        changed = [*self.model.trainable_variables, *self.optimizer.variables]
        if self.accumulator is not None:
            changed += self.accumulator.variables
        if self.averaged is not None:
            changed += self.averaged.model.trainable_variables
        return changed

    def _program(self, function: Callable[..., Any]) -> Any:
        return program(function, self.device, xla=self.xla)

    def _losses_and_gradients(self, batch: Batch) -> tuple[dict[str, Any], list[Any]]:
        with tf.GradientTape() as tape:
            losses = self.model.losses(batch)
            scaled = self.optimizer.scale_loss(losses["total"])
        return losses, tape.gradient(scaled, self.model.trainable_variables)

    def _apply(self, gradients: list[Any]) -> None:
        self._update_weights(gradients)
        if self.averaged is not None:
            self.averaged.follow(self.optimizer.iterations)

    def _update_weights(self, gradients: list[Any]) -> None:
        self.optimizer.apply(gradients, self.model.trainable_variables)

    def _apply_gathered(self) -> None:
        assert self.accumulator is not None
        self._apply(self.accumulator.take())


def choose_xla(make: Callable[[bool], TrainStep], batch: Batch) -> tuple[bool, dict[str, float]]:
    """Time a few steps with XLA and without; the weights stay as they were.

    `make(xla)` is a step on the same weights in every call. Returns the choice and the median
    seconds of a step, {"xla": …, "graph": …}.
    """
    seconds = {}
    for name, xla in (("xla", True), ("graph", False)):
        step = make(xla)
        before = [variable.numpy() for variable in step.variables]
        step(batch)  # compiles
        times = []
        for _ in range(TRIAL_STEPS):
            started = time.perf_counter()
            step(batch)
            times.append(time.perf_counter() - started)
        seconds[name] = sorted(times)[TRIAL_STEPS // 2]
        for variable, value in zip(step.variables, before, strict=True):
            variable.assign(value)
    return seconds["xla"] < seconds["graph"], seconds


def _no_room_to_update(device: str, error: Exception) -> UserError:
    first_line = str(error).split("\n")[0]
    return UserError(
        f"The memory of {device} is not enough to update the weights",
        received=first_line,
        follows="training stops: a smaller batch would not help, and the update is half done; the "
        "checkpoints so far are unharmed",
        remedy="a smaller --model-size, data.pipeline_depth: 1, or a higher memory limit; then go "
        "on with --resume",
    )


def _floats(losses: dict[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in losses.items()}
