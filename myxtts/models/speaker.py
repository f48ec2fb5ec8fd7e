"""A voice as one vector, heard from a reference clip."""

from __future__ import annotations

from random import Random

import keras
from keras import ops

from myxtts.models.layers import Tensor, convolution, dense, sequence_mask


class VoiceEncoder(keras.Layer):
    """Two strided convolutions, the mean over time, a projection.

    `reference [B, R, M]` (z-scored, zero beyond its length), `lengths int32[B]` -> `[B, width]`.
    R is a multiple of 4; the vector is the same whichever one the clip is padded to. A clip of no
    frames gives the projection's bias.
    """

    def __init__(self, name: str, n_mels: int, width: int, kernel: int, seeds: Random) -> None:
        super().__init__(name=name)
        with keras.name_scope(name):
            self.halve = convolution("halve", n_mels, width, kernel, "gelu", seeds, stride=2)
            self.quarter = convolution("quarter", width, width, kernel, "gelu", seeds, stride=2)
            self.project = dense("project", width, width, seeds)
        self.built = True

    def call(self, reference: Tensor, lengths: Tensor) -> Tensor:
        halved, lengths = _masked(self.halve(reference), (lengths + 1) // 2)
        quartered, lengths = _masked(self.quarter(halved), (lengths + 1) // 2)
        # The sum runs over many frames: in float32 whatever the layers compute in.
        total = ops.sum(ops.cast(quartered, "float32"), axis=1)
        return self.project(total / ops.cast(ops.maximum(lengths, 1), "float32")[:, None])


def _masked(x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """`x [B, L, D]` with zeros beyond `lengths [B]`, and those lengths."""
    return x * ops.cast(sequence_mask(lengths, x.shape[1]), x.dtype), lengths
