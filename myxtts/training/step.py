"""One training step, compiled: forward, gradients, update, on the model's device.

`TrainStep` compiles once per bucket, tells how long that took, and counts how often it happened.
`choose_xla` measures whether XLA pays. The order of batches and what happens between steps is
`trainer`'s business.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from myxtts.config import Config
from myxtts.models.xtts import XTTS
from myxtts.training.preprocess import Batch
from myxtts.training.schedule import WarmUpThenDecay

TRIAL_STEPS = 3


def make_optimizer(config: Config, total_steps: int) -> keras.optimizers.Optimizer:
    """AdamW; the gradient is clipped inside it, after any unscaling."""
    training = config.training
    return keras.optimizers.AdamW(
        learning_rate=WarmUpThenDecay(training, total_steps),
        beta_2=0.98,
        weight_decay=training.weight_decay,
        global_clipnorm=training.gradient_clip,
    )


class TrainStep:
    """Callable: a batch on the model's device in, losses out, weights updated.

    Two programs: losses and gradients, compiled once per shape, and the update, compiled once for
    all shapes (it takes long to compile, and no shape of a batch reaches it).
    """

    def __init__(
        self, model: XTTS, optimizer: keras.optimizers.Optimizer, device: str, *, xla: bool
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self.device = device
        self.xla = xla
        self._gradients = tf.function(self._losses_and_gradients, jit_compile=xla)
        self._update = tf.function(self._apply, jit_compile=xla)
        self._evaluate = tf.function(model.losses, jit_compile=xla)

    def __call__(self, batch: Batch) -> dict[str, float]:
        """One update; returns when the device has finished it."""
        with tf.device(self.device):  # without the scope a step may run elsewhere in silence
            losses, gradients = self._gradients(batch)
            self._update(gradients)
            return _floats(losses)

    def evaluate(self, batch: Batch) -> dict[str, float]:
        """The losses of a batch; nothing is updated."""
        with tf.device(self.device):
            return _floats(self._evaluate(batch))

    @property
    def compilations(self) -> int:
        """Programs compiled so far; each shape has its own, so none may come after warm-up."""
        programs = (self._gradients, self._update, self._evaluate)
        return sum(int(program.experimental_get_tracing_count()) for program in programs)

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
        """Everything that a step changes: weights and the optimiser's state."""
        return [*self.model.trainable_variables, *self.optimizer.variables]

    def _losses_and_gradients(self, batch: Batch) -> tuple[dict[str, Any], list[Any]]:
        with tf.GradientTape() as tape:
            losses = self.model.losses(batch)
        return losses, tape.gradient(losses["total"], self.model.trainable_variables)

    def _apply(self, gradients: list[Any]) -> None:
        self.optimizer.apply(gradients, self.model.trainable_variables)


def choose_xla(
    model: XTTS, optimizer: keras.optimizers.Optimizer, device: str, batch: Batch
) -> tuple[bool, dict[str, float]]:
    """Time a few steps with XLA and without; the weights stay as they were.

    Returns the choice and the median seconds of a step, {"xla": …, "graph": …}.
    """
    seconds = {}
    for name, xla in (("xla", True), ("graph", False)):
        step = TrainStep(model, optimizer, device, xla=xla)
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


def _floats(losses: dict[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in losses.items()}
