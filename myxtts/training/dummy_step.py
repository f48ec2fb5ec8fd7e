"""A stand-in for the model's step: it waits for the batch, sleeps, and learns nothing.

The data's way can be profiled with it in seconds, at any speed of the device that would train. The
rest of the run (loop, checkpoints, validation) sees an ordinary step of the smallest model.
"""

from __future__ import annotations

import time

import tensorflow as tf

from myxtts.config import Config
from myxtts.text.tokenizer import Tokenizer
from myxtts.training.assembly import make_step
from myxtts.training.fitting import shape_of
from myxtts.training.preprocess import Batch
from myxtts.training.step import TrainStep

COMPILING = 10.0
"""A shape that is met for the first time costs so many steps, as compiling a model would."""
EVALUATING = 0.4
"""Losses without gradients, in steps."""
SMALLEST = {"model.size": "tiny", "model.width": 16, "model.encoder_blocks": 1,
            "model.decoder_blocks": 1}  # fmt: skip


class DummyStep(TrainStep):
    """Takes `seconds` for a batch of any shape."""

    def __init__(self, like: TrainStep, seconds: float) -> None:
        super().__init__(like.model, like.optimizer, like.device, xla=False)
        self._seconds = seconds
        self._shapes: set[tuple[int, int]] = set()

    def __call__(self, batch: Batch, *, update: bool = True) -> dict[str, float]:
        """Sleep as long as a step takes, whether it updates or not; the loss is always 1."""
        del update
        shape = shape_of(batch)
        known = shape in self._shapes
        self._shapes.add(shape)
        self._arrived(batch)
        time.sleep(self._seconds * (1.0 if known else 1.0 + COMPILING))
        return {"total": 1.0}

    def evaluate(self, batch: Batch) -> dict[str, float]:
        """Sleep as long as a forward pass takes."""
        self._arrived(batch)
        time.sleep(self._seconds * EVALUATING)
        return {"total": 1.0}

    @property
    def compilations(self) -> int:
        """Shapes met so far."""
        return len(self._shapes)

    def compile(self, batch: Batch) -> float:
        """Meet this batch's shape; seconds it took."""
        started = time.perf_counter()
        self(batch)
        return time.perf_counter() - started

    def _arrived(self, batch: Batch) -> None:
        """Return when the batch is on the device."""
        with tf.device(self.device):
            float(tf.reduce_sum(batch["mel_lengths"]))


def make_dummy(config: Config, tokenizer: Tokenizer, device: str, seconds: float) -> DummyStep:
    """On this device, around the smallest model that there is."""
    smallest = config.replaced(SMALLEST)
    return DummyStep(make_step(smallest, tokenizer, 1, "float32", device, lambda _: False), seconds)
