"""Attention over the positions of a clip or a text, and the block of the larger sizes made of it.

Positions are told by rotation (RoPE): a score depends on how far apart two positions are, so a clip
gives the same result wherever it lies in its batch. Padding is never listened to. Angles, scores
and softmax are float32 whatever the layers compute in.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import ClassVar

import keras
import numpy as np
from keras import ops

from myxtts.models.layers import (
    Tensor,
    convolution,
    dense,
    masked,
    modulated,
    normalization,
    zero_dense,
)

HEAD_WIDTH = 64
"""Channels of a head, where the width divides by it."""

ROTATION_BASE = 10_000.0
UNHEARD = -1e9
"""Score of a padded position: e to the power of it is 0 in float32, and it is still a number."""

FEED_FORWARD_FACTOR = 1.5
"""Channels that the convolution of a block makes, over the block's own."""


def heads(width: int) -> int:
    """As many heads of about `HEAD_WIDTH` channels as divide an even `width` into even parts."""
    if width % 2:
        raise ValueError(f"Expected an even width for attention. Received: {width}")
    return next(n for n in range(max(1, width // HEAD_WIDTH), 0, -1) if width % (2 * n) == 0)


class SelfAttention(keras.Layer):
    """Every position listens to every real one.

    `x [B, L, width]`, `present bool [B, L]` -> `[B, L, width]`. One product makes queries, keys
    and values (in this order, each split into heads); the output projection starts as zero.
    """

    def __init__(self, name: str, width: int, seeds: Random) -> None:
        super().__init__(name=name)
        self.heads = heads(width)
        with keras.name_scope(name):
            self.to_queries_keys_values = dense("to_queries_keys_values", width, 3 * width, seeds)
            self.project = zero_dense("project", width, width)
        self.built = True

    def call(self, x: Tensor, present: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = ops.reshape(
            self.to_queries_keys_values(x), (batch, length, 3, self.heads, width // self.heads)
        )
        queries, keys, values = ops.unstack(ops.transpose(parts, (2, 0, 3, 1, 4)), axis=0)
        return self.project(attend(rotated(queries), rotated(keys), values, present))


def attend(queries: Tensor, keys: Tensor, values: Tensor, present: Tensor) -> Tensor:
    """Mix values by how well keys answer queries, over the positions that are `present`.

    `queries [B, H, Q, C]`, `keys` and `values [B, H, K, C]`, `present bool [B, K]` ->
    `[B, Q, H * C]` in the type of the values. Queries and keys come scaled (`C ** -0.5` together),
    so that no score overflows in float16. Nobody present: the plain mean of all values.
    """
    batch, count, length, channels = queries.shape
    scores = ops.matmul(queries, ops.transpose(keys, (0, 1, 3, 2)))
    scores = ops.where(present[:, None, None, :], ops.cast(scores, "float32"), UNHEARD)
    shares = ops.cast(ops.softmax(scores, axis=-1), values.dtype)
    mixed = ops.transpose(ops.matmul(shares, values), (0, 2, 1, 3))
    return ops.reshape(mixed, (batch, length, count * channels))


def rotated(x: Tensor) -> Tensor:
    """Turn channel pairs `(c, c + C/2)` by an angle that grows with the position.

    `x [B, H, L, C]` -> the same shape and type, scaled by `C ** -0.25` as `attend` wants it.
    """
    cosines, sines = _rotation(*x.shape[-2:])
    first, second = ops.split(ops.cast(x, "float32"), 2, axis=-1)
    turned = ops.concatenate(
        [first * cosines - second * sines, first * sines + second * cosines], axis=-1
    )
    return ops.cast(turned, x.dtype)


@lru_cache(maxsize=64)
def _rotation(length: int, channels: int) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines `float32 [length, channels / 2]`, both times `channels ** -0.25`."""
    frequencies = ROTATION_BASE ** (-np.arange(channels // 2) / (channels // 2))
    angles = np.arange(length)[:, None] * frequencies
    scale = channels**-0.25
    return (np.cos(angles) * scale).astype(np.float32), (np.sin(angles) * scale).astype(np.float32)


class AttentionBlock(keras.Layer):
    """Residual block: listen to all positions, then to the neighbours; both modulated by the voice.

        x ─┬─ norm ─ FiLM ─ self-attention ─ + ─┬─ norm ─ FiLM ─ conv, ReLU ─ project ─ + ─►
           └─────────────────────────────────┘  └─────────────────────────────────────┘

    `x [B, L, width]`, `mask [B, L, 1]`, four times `[B, 1, width]` (scale and shift before the
    attention, scale and shift before the convolution) -> `[B, L, width]`. The convolution makes
    1.5 times the width, the projection goes back. It starts as the identity.
    """

    MODULATIONS: ClassVar[int] = 4

    def __init__(self, name: str, width: int, kernel: int, seeds: Random) -> None:
        super().__init__(name=name)
        inner = int(FEED_FORWARD_FACTOR * width)
        with keras.name_scope(name):
            self.norm_positions = normalization(width)
            self.attention = SelfAttention("attention", width, seeds)
            self.norm = normalization(width)
            self.convolve = convolution("convolve", width, inner, kernel, "relu", seeds)
            self.project = zero_dense("project", inner, width)
        self.built = True

    def call(self, x: Tensor, mask: Tensor, *modulations: Tensor) -> Tensor:
        scale, shift, local_scale, local_shift = modulations
        present = mask[:, :, 0] > 0
        x = x + self.attention(modulated(self.norm_positions(x), scale, shift), present)
        heard = masked(modulated(self.norm(x), local_scale, local_shift), mask)
        return masked(x + self.project(self.convolve(heard)), mask)
