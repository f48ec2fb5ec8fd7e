"""Gradients of several batches gathered into one: a large batch on a small device.

Each batch's gradient is that of a mean over its frames, so batches are weighted by their frames:
the gathered gradient is that of the union of the batches, exactly for every loss that is a mean
over frames. A mean over tokens (durations) is weighted by frames too, not by tokens: the one
number that a batch brings along. When to update is `trainer`'s business, how is `step`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from myxtts.training.preprocess import Batch


class Accumulator:
    """The weighted sum so far. Made inside the device's scope; its methods run inside a graph."""

    def __init__(self, weights: Sequence[Any]) -> None:
        self._sums = [tf.Variable(tf.zeros(weight.shape), trainable=False) for weight in weights]
        self._frames = tf.Variable(0.0, trainable=False)

    @property
    def variables(self) -> list[Any]:
        """What a checkpoint keeps: the sums, and the frames they stand for."""
        return [*self._sums, self._frames]

    @property
    def holds_any(self) -> bool:
        """Whether anything was added since the last time; asks the device."""
        return bool(self._frames.numpy() > 0.0)

    def add(self, gradients: Sequence[Any], frames: Any) -> None:
        """Add a batch's mean gradient, `frames float32[]` strong."""
        for total, gradient in zip(self._sums, gradients, strict=True):
            total.assign_add(gradient * frames)
        self._frames.assign_add(frames)

    def take(self) -> list[Any]:
        """The mean gradient of everything added since the last time."""
        mean = [tf.math.divide_no_nan(total.read_value(), self._frames) for total in self._sums]
        with tf.control_dependencies(mean):
            self.clear()
        return mean

    def clear(self) -> None:
        """Forget what was added."""
        for variable in self.variables:
            variable.assign(tf.zeros_like(variable))


def useful_frames(batch: Batch) -> Any:
    """Frames of speech in a batch, `float32[]`: fillers and padding do not count."""
    return tf.reduce_sum(tf.cast(batch["mel_lengths"], tf.float32) * batch["weights"])
