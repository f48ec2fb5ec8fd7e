"""The parts of the trunk: a convolution block modulated by a voice, and stacks of such blocks.

Every part is built when it is made (no lazily created variables), draws its initial values from
the `random.Random` it is handed, and names its variables by their place (`encoder/block_0/...`),
so that a checkpoint can. Padding stays zero: a clip gives the same result whatever it is padded to
and whichever clips share its batch. A mask is `[B, L, 1]`, 1 on real positions. Layers compute in
the Keras dtype policy in force when they are made.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any, ClassVar, TypeAlias

import keras
from keras import ops

from myxtts.models.convolution import Convolution

Tensor: TypeAlias = Any
"""A tensor of Keras's backend; docstrings give its shape."""


def sequence_mask(lengths: Tensor, size: int) -> Tensor:
    """`lengths int32[B]` -> `float32 [B, size, 1]`."""
    return ops.cast(ops.arange(size) < lengths[:, None], "float32")[:, :, None]


def masked(x: Tensor, mask: Tensor) -> Tensor:
    """`x [B, L, D]` where `mask [B, L, 1]` is 1, and 0 where it is 0.

    Divided by 1 or by infinity, which is exact, and not multiplied: XLA computes a product anew
    in every place that reads it (behind a stack of blocks, with the sum of all blocks before it),
    but a quotient only once. On the CPU a step takes a fifth less time.
    """
    return x / ops.cast(ops.where(mask > 0, 1.0, math.inf), x.dtype)


def dense(
    name: str, inputs: int, outputs: int, seeds: Random, *, dtype: str | None = None
) -> keras.Layer:
    """A built affine map `[..., inputs]` -> `[..., outputs]`."""
    layer = keras.layers.Dense(outputs, kernel_initializer=_glorot(seeds), dtype=dtype, name=name)
    layer.build((None, inputs))
    return layer


def zero_dense(name: str, inputs: int, outputs: int, *, dtype: str | None = None) -> keras.Layer:
    """A built affine map that starts as zero: what it feeds begins as if it were not there."""
    layer = keras.layers.Dense(outputs, kernel_initializer="zeros", dtype=dtype, name=name)
    layer.build((None, inputs))
    return layer


def convolution(
    name: str,
    inputs: int,
    outputs: int,
    kernel: int,
    activation: str,
    seeds: Random,
    *,
    stride: int = 1,
) -> keras.Layer:
    """A built `[B, L, inputs]` -> `[B, ceil(L / stride), outputs]`.

    Plain and not depthwise: XLA compiles depthwise convolutions for the CPU very badly.
    """
    layer = Convolution(
        outputs,
        kernel,
        strides=stride,
        padding="same",
        activation=activation,
        kernel_initializer=_glorot(seeds),
        name=name,
    )
    layer.build((None, None, inputs))
    return layer


def embedding(name: str, rows: int, width: int, seeds: Random) -> keras.Layer:
    """A built table of small uniform vectors: `int[...]` -> `[..., width]`."""
    initial = keras.initializers.RandomUniform(-0.05, 0.05, seed=seeds.getrandbits(31))
    layer = keras.layers.Embedding(rows, width, embeddings_initializer=initial, name=name)
    layer.build((None,))
    return layer


def _glorot(seeds: Random) -> keras.initializers.Initializer:
    return keras.initializers.GlorotUniform(seed=seeds.getrandbits(31))


def normalization(width: int) -> keras.Layer:
    """A built `[B, L, width]` -> the same, each position with mean 0 and variance 1.

    It has no scale and shift of its own: the biases behind the voice's are the same thing.
    """
    layer = keras.layers.LayerNormalization(center=False, scale=False)
    layer.build((None, None, width))
    return layer


def modulated(x: Tensor, scale: Tensor | float, shift: Tensor | float) -> Tensor:
    """FiLM: `x [B, L, D]` with `scale` and `shift [B, 1, D]` of a voice; both 0: `x` itself."""
    return x * (1 + scale) + shift


class FilmBlock(keras.Layer):
    """Residual block: normalise, scale and shift by the voice (FiLM), convolve, project.

    `x [B, L, width]`, `mask [B, L, 1]`, `scale` and `shift [B, 1, width]` (0: no voice) ->
    `[B, L, width]`. It starts as the identity.
    """

    MODULATIONS: ClassVar[int] = 2

    def __init__(self, name: str, width: int, kernel: int, seeds: Random) -> None:
        super().__init__(name=name)
        with keras.name_scope(name):
            self.norm = normalization(width)
            self.convolve = convolution("convolve", width, width, kernel, "relu", seeds)
            self.project = zero_dense("project", width, width)
        self.built = True

    def call(
        self, x: Tensor, mask: Tensor, scale: Tensor | float = 0.0, shift: Tensor | float = 0.0
    ) -> Tensor:
        heard = masked(modulated(self.norm(x), scale, shift), mask)
        return masked(x + self.project(self.convolve(heard)), mask)


class FilmStack(keras.Layer):
    """`count` blocks in a row; one projection of the voice modulates them all.

    `x [B, L, width]`, `mask [B, L, 1]`, `voice [B, voice_width]` -> `[B, L, width]`.
    It starts deaf to the voice. `block` is `FilmBlock` or `attention.AttentionBlock`: what takes
    a name, a width, a kernel and seeds, and is called with `MODULATIONS` parts of the projection.
    """

    def __init__(
        self,
        name: str,
        count: int,
        width: int,
        voice_width: int,
        kernel: int,
        seeds: Random,
        block: Any = FilmBlock,
    ) -> None:
        super().__init__(name=name)
        self.parts = block.MODULATIONS
        with keras.name_scope(name):
            self.film = zero_dense("film", voice_width, count * self.parts * width)
            self.blocks = [block(f"block_{n}", width, kernel, seeds) for n in range(count)]
        self.built = True

    def call(self, x: Tensor, mask: Tensor, voice: Tensor) -> Tensor:
        modulation = ops.split(self.film(voice)[:, None, :], self.parts * len(self.blocks), axis=-1)
        for number, block in enumerate(self.blocks):
            first = number * self.parts
            x = block(x, mask, *modulation[first : first + self.parts])
        return x


def stack_frames(x: Tensor, count: int) -> Tensor:
    """Neighbouring frames side by side: `[B, L, D]` -> `[B, L / count, count * D]`."""
    batch, length, width = x.shape
    if length % count:
        raise ValueError(f"Expected a frame axis that is a multiple of {count}. Received: {length}")
    return ops.reshape(x, (batch, length // count, count * width))


def unstack_frames(x: Tensor, count: int) -> Tensor:
    """The inverse of `stack_frames`: `[B, L / count, count * D]` -> `[B, L, D]`."""
    batch, length, width = x.shape
    return ops.reshape(x, (batch, length * count, width // count))
