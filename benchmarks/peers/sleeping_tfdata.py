"""tf.data: a map that sleeps in Python, with `prefetch` behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf
from sleeping import Prepared, nap


class TfData:
    def batches(self, naps: Sequence[float], depth: int) -> Iterator[Prepared]:
        def prepare(step: np.int64) -> np.ndarray:
            return np.array([step, nap(naps[int(step)])], np.float64)

        dataset = tf.data.Dataset.range(len(naps))
        dataset = dataset.map(lambda step: tf.numpy_function(prepare, [step], tf.float64))
        for step, seconds in dataset.prefetch(depth).as_numpy_iterator():
            yield int(step), float(seconds)
