"""Random changes of a batch's sound: gain, noise, masks. The same seed and step, the same changes.

What the model must produce is never spoiled: noise and masks go to the reference clip alone, from
which the voice is taken, so that a voice is recognised in a bad recording. Gain goes to a clip and
its reference alike: how loud to speak is part of what the reference says. Where a reference is
cropped is drawn by the sampler, for every epoch anew.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from myxtts.config import DataConfig

# Independent streams of random numbers, beside (seed, step).
_GAIN, _NOISE, _TIME, _FREQUENCY = range(4)
_SMALLEST_POWER = 1e-10


class Augmentation:
    """Called inside the graph of the data device. `step` is the batch's number, `int64[]`.

    `part` is for a batch that comes in parts: which row of the whole batch its first one is, and
    how many rows the whole has, `int32[2]`. The draws of a row are the same in both cases.
    """

    def __init__(self, data: DataConfig, seed: int) -> None:
        self._seed = seed
        self._gain_db = data.augment_gain_db
        self._snr_db = data.augment_noise_snr_db
        self._time = data.augment_time_mask
        self._frequency = data.augment_frequency_mask

    @property
    def active(self) -> bool:
        """Whether it changes anything."""
        return bool(self._gain_db or self._time or self._frequency or self._snr_db is not None)

    def louder_or_softer(
        self, clip: Any, reference: Any, step: Any, part: Any = None
    ) -> tuple[Any, Any]:
        """One gain for each row of both waveforms, `float32[B, samples]` each."""
        if not self._gain_db:
            return clip, reference
        rows = _Rows(clip, part)
        draw = rows.own(self._uniform([rows.drawn, 1], step, _GAIN))
        gain = tf.pow(10.0, (2.0 * draw - 1.0) * self._gain_db / 20.0)
        return clip * gain, reference * gain

    def noisy(self, waveform: Any, samples: Any, step: Any, part: Any = None) -> Any:
        """White noise so many dB below each row of `float32[B, N]`, of which `samples[B]` count."""
        if self._snr_db is None:
            return waveform
        inside = tf.cast(tf.sequence_mask(samples, tf.shape(waveform)[1]), tf.float32)
        energy = tf.reduce_sum(tf.square(waveform) * inside, axis=1, keepdims=True)
        power = energy / tf.maximum(tf.reduce_sum(inside, axis=1, keepdims=True), 1.0)
        level = tf.sqrt(tf.maximum(power, _SMALLEST_POWER)) * 10.0 ** (-self._snr_db / 20.0)
        rows = _Rows(waveform, part)
        noise = tf.random.stateless_normal(
            [rows.drawn, tf.shape(waveform)[1]], self._key(step, _NOISE), alg="philox"
        )
        return waveform + level * rows.own(noise) * inside

    def masked(self, mels: Any, lengths: Any, step: Any, part: Any = None) -> Any:
        """One stretch of frames and one of bins at 0, the corpus's mean, in `float32[B, T, M]`."""
        if self._time:
            mels = tf.where(self._stretch(mels, 1, lengths, self._time, step, part), 0.0, mels)
        if self._frequency:
            bins = tf.fill([tf.shape(mels)[0]], tf.shape(mels)[2])
            mels = tf.where(self._stretch(mels, 2, bins, self._frequency, step, part), 0.0, mels)
        return mels

    def _stretch(self, mels: Any, axis: int, room: Any, most: int, step: Any, part: Any) -> Any:
        """Where to hide: 0 to `most` neighbours along `axis`, inside the first `room[B]` of it."""
        stream = _TIME if axis == 1 else _FREQUENCY
        rows = _Rows(mels, part)
        draws = rows.own(self._uniform([2, rows.drawn], step, stream), axis=1)
        widest = tf.minimum(tf.cast(most, tf.float32), tf.cast(room, tf.float32) / 2.0)
        width = tf.cast(tf.floor(draws[0] * (widest + 1.0)), tf.int32)
        free = tf.cast(room - width + 1, tf.float32)
        start = tf.cast(tf.floor(draws[1] * free), tf.int32)
        place = tf.range(tf.shape(mels)[axis])[None]
        hidden = (place >= start[:, None]) & (place < (start + width)[:, None])  # [B, size]
        return hidden[:, :, None] if axis == 1 else hidden[:, None, :]

    def _uniform(self, shape: Any, step: Any, stream: int) -> Any:
        return tf.random.stateless_uniform(shape, self._key(step, stream), alg="philox")

    def _key(self, step: Any, stream: int) -> Any:
        return tf.stack([tf.constant(self._seed * 4 + stream, tf.int64), tf.cast(step, tf.int64)])


class _Rows:
    """The rows of `tensor [B, …]` among those that numbers are drawn for."""

    def __init__(self, tensor: Any, part: Any) -> None:
        self._count = tf.shape(tensor)[0]
        self._part = part
        self.drawn = self._count if part is None else part[1]
        """How many rows to draw for: all of the whole batch."""

    def own(self, draws: Any, axis: int = 0) -> Any:
        """What was drawn for these rows; fillers behind the last one get the last one's."""
        if self._part is None:
            return draws
        rows = tf.minimum(self._part[0] + tf.range(self._count), self._part[1] - 1)
        return tf.gather(draws, rows, axis=axis)
