"""Event files for TensorBoard: numbers, pictures and sound of a run, by step.

Written with TensorFlow alone; only looking at them needs TensorBoard (extra `tensorboard`). The
summaries are of the plain kind that every version of TensorBoard reads. What is worth showing is
decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf

from myxtts.audio.decode import wav_bytes
from myxtts.files import explained

_Summary = tf.compat.v1.Summary


class EventFile:
    """One file of a run's TensorBoard folder; used from the thread that trains."""

    def __init__(self, folder: Path) -> None:
        with explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with tf.device("/CPU:0"):
            self._writer = tf.summary.create_file_writer(str(folder))

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Numbers by their tags: a tag's part before the slash is the group it is shown in."""
        self._write(
            step, [_Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        )

    def image(self, step: int, tag: str, brightness: np.ndarray) -> None:
        """A picture of `float[height, width]` from 0, black, to 1, white."""
        grey = np.round(np.clip(brightness, 0.0, 1.0) * 255).astype(np.uint8)[..., None]
        with tf.device("/CPU:0"):
            encoded = tf.io.encode_png(grey).numpy()
        height, width, _ = grey.shape
        image = _Summary.Image(
            height=height, width=width, colorspace=1, encoded_image_string=encoded
        )
        self._write(step, [_Summary.Value(tag=tag, image=image)])

    def sound(self, step: int, tag: str, samples: np.ndarray, sample_rate: int) -> None:
        """Samples, float32 in [-1, 1], to listen to."""
        audio = _Summary.Audio(
            sample_rate=sample_rate,
            num_channels=1,
            length_frames=len(samples),
            encoded_audio_string=wav_bytes(samples, sample_rate),
            content_type="audio/wav",
        )
        self._write(step, [_Summary.Value(tag=tag, audio=audio)])

    def close(self) -> None:
        """Put everything on the disk."""
        self._writer.close()

    def _write(self, step: int, values: list[tf.compat.v1.Summary.Value]) -> None:
        with tf.device("/CPU:0"), self._writer.as_default():
            tf.summary.experimental.write_raw_pb(
                _Summary(value=values).SerializeToString(), step=step
            )
            self._writer.flush()
