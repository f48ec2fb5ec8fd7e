"""What the data device computes: a host batch becomes the batch that the model trains on.

Log-mels, stored or computed from PCM, become z-scored float32, zero beyond their length;
conditioning that the configuration turns off is taken out here. A batch that does not fit into the
device's memory is computed in parts and handed on whole. Loading comes before, transfer after.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from myxtts.config import ModelConfig
from myxtts.training.augmentation import Augmentation
from myxtts.training.fitting import Fitting, Shortages, cut, joined, shape_of
from myxtts.training.live_features import LiveFeatures

Batch = dict[str, Any]


class Preprocessor:
    """Runs on one device; called from the thread that owns it."""

    def __init__(
        self,
        device: str,
        mel_mean: np.ndarray,
        mel_std: np.ndarray,
        model: ModelConfig,
        live: LiveFeatures | None = None,
        augmentation: Augmentation | None = None,
    ) -> None:
        """`live` is for batches of PCM, which `augmentation` may change."""
        self.device = device
        self._mean = mel_mean.astype(np.float32)
        self._std = mel_std.astype(np.float32)
        self._voice = model.voice_conditioning
        self._language = model.language_conditioning
        self._live = live
        self._plain = self._compute = tf.function(partial(self._preprocess, augmentation=None))
        if augmentation is not None and augmentation.active:
            self._compute = tf.function(partial(self._preprocess, augmentation=augmentation))
        self.shortages: Shortages = Shortages()
        self._fitting = Fitting("preprocess", device, self.shortages)

    def upload(self, batch: Batch) -> Batch:
        """Copy a host batch to the data device."""
        with tf.device(self.device):
            return {name: tf.identity(array) for name, array in batch.items()}

    def __call__(self, batch: Batch) -> Batch:
        """Host or device tensors in, device tensors of the model's keys out."""
        return self._fitted(batch, self._compute)

    def plainly(self, batch: Batch) -> Batch:
        """The same without augmentation: what is measured must not change by chance."""
        return self._fitted(batch, self._plain)

    def _fitted(self, batch: Batch, compute: Callable[[Batch], Batch]) -> Batch:
        """A whole batch, in as many parts as the device's memory asks for."""

        def attempt(parts: int) -> Batch:
            if parts == 1:
                return dict(compute(batch))
            rows, _ = shape_of(batch)
            pieces = cut(batch, parts)
            size, _ = shape_of(pieces[0])
            places = [tf.constant([i * size, rows]) for i in range(len(pieces))]
            made = [
                compute(piece | {"part": place})
                for piece, place in zip(pieces, places, strict=True)
            ]
            return joined(made, rows)

        with tf.device(self.device):  # thread-local: every thread that calls enters it itself
            return self._fitting.do(batch, attempt)

    def _preprocess(self, batch: Batch, augmentation: Augmentation | None) -> Batch:
        batch = dict(batch)
        part = batch.pop("part", None)
        step = batch.get("step")
        out = dict(batch) if self._live is None else self._with_mels(batch, augmentation, part)
        out["mels"] = self._normalise(out["mels"], batch["mel_lengths"])
        if self._voice:
            lengths = batch["reference_lengths"]
            out["reference"] = self._normalise(out["reference"], lengths)
            if augmentation is not None:
                out["reference"] = augmentation.masked(out["reference"], lengths, step, part)
        else:
            out["reference"] = tf.zeros_like(tf.cast(out["reference"], tf.float32))
            out["reference_lengths"] = tf.zeros_like(batch["reference_lengths"])
        if not self._language:
            out["language"] = tf.zeros_like(batch["language"])
        return out

    def _with_mels(self, batch: Batch, augmentation: Augmentation | None, part: Any) -> Batch:
        """A batch of PCM with log-mels in the place of its samples."""
        assert self._live is not None
        out = dict(batch)
        clip = self._live.waveform(out.pop("samples"))
        reference = self._live.waveform(out.pop("reference_samples"))
        step = out.pop("step")
        if augmentation is not None:
            samples = self._live.samples(batch["reference_lengths"])
            reference = augmentation.noisy(reference, samples, step, part)
            clip, reference = augmentation.louder_or_softer(clip, reference, step, part)
        return out | {
            "mels": self._live.log_mel(clip),
            "reference": self._live.log_mel(reference),
        }

    def _normalise(self, mels: Any, lengths: Any) -> Any:
        """`float[B, T, M]` log-mels -> `float32[B, T, M]` z-scored, zero beyond `lengths[B]`."""
        frames = tf.range(tf.shape(mels)[1])[None, :] < lengths[:, None]
        scored = (tf.cast(mels, tf.float32) - self._mean) / self._std
        return tf.where(frames[:, :, None], scored, 0.0)
