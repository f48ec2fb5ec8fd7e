"""What the data device computes: a host batch becomes the batch that the model trains on.

Stored half-precision log-mels become z-scored float32, zero beyond their length; conditioning that
the configuration turns off is taken out here. Loading comes before, transfer after.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from myxtts.config import ModelConfig

Batch = dict[str, Any]


class Preprocessor:
    """Runs on one device; called from the thread that owns it."""

    def __init__(
        self, device: str, mel_mean: np.ndarray, mel_std: np.ndarray, model: ModelConfig
    ) -> None:
        self.device = device
        self._mean = mel_mean.astype(np.float32)
        self._std = mel_std.astype(np.float32)
        self._voice = model.voice_conditioning
        self._language = model.language_conditioning
        self._compute = tf.function(self._preprocess)

    def upload(self, batch: Batch) -> Batch:
        """Copy a host batch to the data device."""
        with tf.device(self.device):
            return {name: tf.identity(array) for name, array in batch.items()}

    def __call__(self, batch: Batch) -> Batch:
        """Host or device tensors in, device tensors of the same keys out."""
        with tf.device(self.device):  # thread-local: every thread that calls enters it itself
            return dict(self._compute(batch))

    def _preprocess(self, batch: Batch) -> Batch:
        out = dict(batch)
        out["mels"] = self._normalise(batch["mels"], batch["mel_lengths"])
        if self._voice:
            out["reference"] = self._normalise(batch["reference"], batch["reference_lengths"])
        else:
            out["reference"] = tf.zeros_like(tf.cast(batch["reference"], tf.float32))
            out["reference_lengths"] = tf.zeros_like(batch["reference_lengths"])
        if not self._language:
            out["language"] = tf.zeros_like(batch["language"])
        return out

    def _normalise(self, mels: Any, lengths: Any) -> Any:
        """`float16[B, T, M]` log-mels -> `float32[B, T, M]` z-scored, zero beyond `lengths[B]`."""
        frames = tf.range(tf.shape(mels)[1])[None, :] < lengths[:, None]
        scored = (tf.cast(mels, tf.float32) - self._mean) / self._std
        return tf.where(frames[:, :, None], scored, 0.0)


def transfer(batch: Batch, device: str) -> Batch:
    """Copy a device batch to another device."""
    with tf.device(device):
        return {name: tf.identity(tensor) for name, tensor in batch.items()}
