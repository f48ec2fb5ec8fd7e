"""Log-mels of a batch computed from PCM on the data device, as `audio.mel` computes them.

In single precision, which GPUs are fast in: the quietest bins differ from `audio.mel`'s by up to
2e-3, less than the rounding of stored mels.

Samples arrive already continued at both ends (see `data.recipe`), so a frame is four neighbouring
hops, and nothing here depends on the length of a clip. Loading is `data.loader`'s business,
changing the sound is `augmentation`'s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from myxtts.audio.mel import MelSettings, analysis_window, mel_filterbank
from myxtts.data.recipe import FULL_SCALE


class LiveFeatures:
    """Samples to log-mels; called inside the graph of the data device."""

    def __init__(self, settings: MelSettings) -> None:
        filters = mel_filterbank(settings).T  # [bins, n_mels]
        # Bins above the highest filter take no part.
        self._bins = int(np.flatnonzero(filters.any(axis=1))[-1]) + 1
        self._filters = np.ascontiguousarray(filters[: self._bins])
        self._window = analysis_window(settings.n_fft)
        self._hop = settings.hop
        self._hops = settings.n_fft // settings.hop  # hops in one window
        self._floor = settings.floor

    def waveform(self, samples: Any) -> Any:
        """16-bit PCM of any shape -> float32 in [-1, 1)."""
        return tf.cast(samples, tf.float32) / FULL_SCALE

    def samples(self, lengths: Any) -> Any:
        """How many samples `lengths[B]` frames are made of."""
        return (lengths + self._hops - 1) * self._hop

    def log_mel(self, waveform: Any) -> Any:
        """`float32[B, (T + overlap) * hop]` -> natural-log mels `float32[B, T, n_mels]`."""
        clips, samples = tf.unstack(tf.shape(waveform))
        hops = tf.reshape(waveform, [clips, samples // self._hop, self._hop])
        frames = samples // self._hop - self._hops + 1
        windows = tf.concat([hops[:, i : i + frames] for i in range(self._hops)], axis=-1)
        spectra = tf.signal.rfft(windows * self._window)
        mels = tf.abs(spectra[..., : self._bins]) @ self._filters
        return tf.math.log(tf.maximum(mels, self._floor))
