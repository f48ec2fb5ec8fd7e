"""Averaged weights (EMA): a second model that follows the one being trained, smoothly.

Its weights are the averages, so that validation, samples and a checkpoint's reader use them like
any model's: nothing is swapped, and nothing can be left half swapped.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from myxtts.models.xtts import XTTS

_YOUNG = 10.0
"""Updates after which averaging begins to look back: an average must not remember the start."""


class AveragedModel:
    """`model` follows `source` with the given decay."""

    def __init__(self, model: XTTS, source: XTTS, decay: float) -> None:
        self.model = model
        self.source = source
        self.decay = decay

    def follow(self, updates: Any) -> None:
        """One step towards the source's weights, inside a graph; `updates` counts them so far.

        After n updates the decay is at most (1 + n) / (10 + n), so that a short run averages over
        its later part and not over its initial weights.
        """
        count = tf.cast(updates, tf.float32)
        decay = tf.minimum(self.decay, (1.0 + count) / (_YOUNG + count))
        pairs = zip(self.model.trainable_variables, self.source.trainable_variables, strict=True)
        for average, weight in pairs:
            average.assign(weight + decay * (average - weight))
