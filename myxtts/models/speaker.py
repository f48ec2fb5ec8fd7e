"""A voice as one vector, heard from a reference clip."""

from __future__ import annotations

from random import Random

import keras
from keras import ops

from myxtts.models.attention import attend, heads
from myxtts.models.layers import (
    FilmBlock,
    Tensor,
    convolution,
    dense,
    normalization,
    sequence_mask,
    zero_dense,
)


class VoiceEncoder(keras.Layer):
    """Two strided convolutions, `blocks` convolution blocks, the mean over time, a projection.

    With `latents`, not the positions are averaged but what a Perceiver of `layers` layers drew
    from them. `reference [B, R, M]` (z-scored, zero beyond its length), `lengths int32[B]` ->
    `[B, width]`. R is a multiple of 4; the vector is the same whichever one the clip is padded to.
    A clip of no frames gives a vector that no clip had a part in: without a Perceiver the
    projection's bias.
    """

    def __init__(
        self,
        name: str,
        n_mels: int,
        width: int,
        kernel: int,
        seeds: Random,
        *,
        blocks: int = 0,
        latents: int = 0,
        layers: int = 0,
    ) -> None:
        super().__init__(name=name)
        with keras.name_scope(name):
            self.halve = convolution("halve", n_mels, width, kernel, "gelu", seeds, stride=2)
            self.quarter = convolution("quarter", width, width, kernel, "gelu", seeds, stride=2)
            self.blocks = [FilmBlock(f"block_{n}", width, kernel, seeds) for n in range(blocks)]
            self.perceiver = (
                Perceiver("perceiver", latents, layers, width, seeds) if latents else None
            )
            self.project = dense("project", width, width, seeds)
        self.built = True

    def call(self, reference: Tensor, lengths: Tensor) -> Tensor:
        halved, lengths = _masked(self.halve(reference), (lengths + 1) // 2)
        heard, lengths = _masked(self.quarter(halved), (lengths + 1) // 2)
        mask = sequence_mask(lengths, heard.shape[1])
        for block in self.blocks:
            heard = block(heard, mask)
        if self.perceiver is not None:
            return self.project(ops.mean(self.perceiver(heard, mask), axis=1))
        # The sum runs over many frames: in float32 whatever the layers compute in.
        total = ops.sum(ops.cast(heard, "float32"), axis=1)
        return self.project(total / ops.cast(ops.maximum(lengths, 1), "float32")[:, None])


class Perceiver(keras.Layer):
    """Learned questions to a clip: `latents` vectors that listen to it and to each other.

    `x [B, L, width]`, `mask [B, L, 1]` -> `float32 [B, latents, width]`. The order of positions
    is not told: a voice is the same whatever is said first.
    """

    def __init__(self, name: str, latents: int, layers: int, width: int, seeds: Random) -> None:
        super().__init__(name=name)
        with keras.name_scope(name):
            initial = keras.initializers.RandomNormal(stddev=1.0, seed=seeds.getrandbits(31))
            self.questions = self.add_weight(
                shape=(latents, width), initializer=initial, name="questions"
            )
            self.norm = normalization(width)
            self.layers = [PerceiverLayer(f"layer_{n}", width, seeds) for n in range(layers)]
        self.built = True

    def call(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, (count, width) = x.shape[0], self.questions.shape
        latents = ops.cast(ops.broadcast_to(self.questions, (batch, count, width)), x.dtype)
        x = self.norm(x)
        present = ops.concatenate([ops.ones((batch, count), "bool"), mask[:, :, 0] > 0], axis=1)
        for layer in self.layers:
            latents = layer(latents, x, present)
        return ops.cast(latents, "float32")


class PerceiverLayer(keras.Layer):
    """Latents listen to themselves and a clip, then think on their own; residual.

    `latents [B, N, width]`, `x [B, L, width]` normalised, `present bool [B, N + L]` ->
    `[B, N, width]`.
    """

    def __init__(self, name: str, width: int, seeds: Random) -> None:
        super().__init__(name=name)
        self.heads = heads(width)
        with keras.name_scope(name):
            self.norm_latents = normalization(width)
            self.to_queries = dense("to_queries", width, width, seeds)
            self.to_keys_values = dense("to_keys_values", width, 2 * width, seeds)
            self.project_heard = zero_dense("project_heard", width, width)
            self.norm = normalization(width)
            self.widen = dense("widen", width, 2 * width, seeds)
            self.project = zero_dense("project", 2 * width, width)
        self.built = True

    def call(self, latents: Tensor, x: Tensor, present: Tensor) -> Tensor:
        asking = self.norm_latents(latents)
        width = asking.shape[-1] // self.heads
        queries = self._split(self.to_queries(asking)) * width**-0.5
        keys, values = ops.split(
            self.to_keys_values(ops.concatenate([asking, x], axis=1)), 2, axis=-1
        )
        heard = attend(queries, self._split(keys), self._split(values), present)
        latents = latents + self.project_heard(heard)
        return latents + self.project(ops.relu(self.widen(self.norm(latents))))

    def _split(self, x: Tensor) -> Tensor:
        """`[B, L, width]` -> `[B, heads, L, width / heads]`."""
        batch, length, width = x.shape
        parts = ops.reshape(x, (batch, length, self.heads, width // self.heads))
        return ops.transpose(parts, (0, 2, 1, 3))


def _masked(x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """`x [B, L, D]` with zeros beyond `lengths [B]`, and those lengths."""
    return x * ops.cast(sequence_mask(lengths, x.shape[1]), x.dtype), lengths
