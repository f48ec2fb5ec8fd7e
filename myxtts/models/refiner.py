"""The refiner: from noise to the mel, guided by the coarse mel (conditional flow matching).

    noise ──► state ──► state + velocity / steps ──► … ──► mel
                │           ▲
                └──────► [clean mel] ◄── coarse mel, decoder's features, voice, time

The coarse mel is the middle of all ways to say a frame; the refiner walks from noise to one of
them. What it learns is the velocity of straight lines from noise to real frames, at a random time
of each clip; what it computes is where the line ends, the clean mel, from which the velocity
follows: the rest of the way over the rest of the time. A new refiner says the coarse mel. It
teaches nobody upstream but the voice: the coarse mel and the features carry no gradient.
"""

from __future__ import annotations

from random import Random

import keras
from keras import ops

from myxtts.models import noise
from myxtts.models.attention import AttentionBlock
from myxtts.models.layers import (
    FilmStack,
    Tensor,
    dense,
    stack_frames,
    unstack_frames,
    zero_dense,
)

LATEST = 0.9
"""The latest time that is learned: the last one that a synthesis of 10 steps asks for."""

FASTEST, SLOWEST = 1000.0, 0.1
"""Radians that the fastest and the slowest wave of the time's embedding turn from time 0 to 1."""


class Refiner(keras.Layer):
    """Attention blocks over stacked frames, modulated by the voice and the time.

    One position is `stacked` frames, as in the coarse decoder. With W the refiner's width, D the
    decoder's and the voice vector's, L = T / stacked:

        state [B, T, M] ── stack ── dense ──┐
        coarse [B, T, M] ─ stack ─┐         + ──► `blocks` AttentionBlocks ──► dense, float32
        features [B, L, D] ───────┴ dense ──┘     [B, L, W]   ▲                [B, T, M]
        time [B] ── waves [D] ── dense, GELU ── dense ── + voice [B, D]           │
                                                              clean = coarse + ───┘
    """

    def __init__(
        self,
        name: str,
        n_mels: int,
        blocks: int,
        width: int,
        voice_width: int,
        kernel: int,
        stacked: int,
        seeds: Random,
    ) -> None:
        super().__init__(name=name)
        self.stacked = stacked
        self.voice_width = voice_width
        position = stacked * n_mels
        with keras.name_scope(name):
            self.from_state = dense("from_state", position, width, seeds)
            self.from_condition = dense("from_condition", position + voice_width, width, seeds)
            self.widen_time = dense("widen_time", voice_width, voice_width, seeds)
            self.project_time = dense("project_time", voice_width, voice_width, seeds)
            self.stack = FilmStack(
                "stack", blocks, width, voice_width, kernel, seeds, AttentionBlock
            )
            self.to_correction = zero_dense("to_correction", width, position, dtype="float32")
        self.built = True

    def error(
        self, target: Tensor, coarse: Tensor, features: Tensor, mask: Tensor, voice: Tensor,
        seeds: Tensor,
    ) -> Tensor:  # fmt: skip
        """Squared error of the velocity in every frame, the mean over bins: `float32 [B, T]`.

        `target` and `coarse [B, T, M]`, `features [B, T / stacked, D]`, `mask [B, T, 1]`,
        `voice [B, D]`; `seeds int32[B]` decide noise and time. Zero beyond the mask.
        """
        _, frames, bins = target.shape
        start = noise.normal(seeds, frames, bins) * mask
        time = LATEST * noise.uniform(seeds)
        along = time[:, None, None]
        state = (1 - along) * start + along * target
        clean = self._clean(state, time, coarse, self._condition(coarse, features), mask, voice)
        # Both velocities start at this state: they differ as their ends do, over the time left.
        return ops.mean(ops.square((clean - target) / (1 - along)), axis=-1)

    def refine(
        self, coarse: Tensor, features: Tensor, mask: Tensor, voice: Tensor, steps: int
    ) -> Tensor:
        """The mel after `steps` Euler steps, `float32 [B, T, M]`; arguments as in `error`.

        Always from the same noise: the same text in the same voice is the same sound.
        """
        batch, frames, bins = coarse.shape
        condition = self._condition(coarse, features)
        start = noise.normal(ops.zeros((batch,), "int32"), frames, bins) * mask

        def step(number: Tensor, state: Tensor) -> Tensor:
            number = ops.cast(number, "float32")
            time = ops.broadcast_to(number / steps, (batch,))
            clean = self._clean(state, time, coarse, condition, mask, voice)
            return state + (clean - state) / (steps - number)  # the last step arrives

        return ops.fori_loop(0, steps, step, start)

    def _condition(self, coarse: Tensor, features: Tensor) -> Tensor:
        """What does not change on the way: `[B, T / stacked, W]`."""
        coarse = ops.cast(stack_frames(ops.stop_gradient(coarse), self.stacked), features.dtype)
        return self.from_condition(ops.concatenate([coarse, ops.stop_gradient(features)], axis=-1))

    def _clean(
        self,
        state: Tensor,
        time: Tensor,
        coarse: Tensor,
        condition: Tensor,
        mask: Tensor,
        voice: Tensor,
    ) -> Tensor:
        """Where a state is going: `state [B, T, M]`, `time [B]` -> `float32 [B, T, M]`."""
        told = self.project_time(ops.gelu(self.widen_time(self._waves(time))))
        hidden = self.from_state(stack_frames(state, self.stacked)) + condition
        # A position counts when its first frame does: an odd clip ends in half a position.
        positions = mask[:, :: self.stacked]
        hidden = self.stack(hidden * ops.cast(positions, hidden.dtype), positions, voice + told)
        correction = unstack_frames(self.to_correction(hidden), self.stacked)
        return (ops.stop_gradient(coarse) + correction) * mask

    def _waves(self, time: Tensor) -> Tensor:
        """Sines and cosines of a time, from slow to fast: `[B]` -> `float32 [B, D]`."""
        half = self.voice_width // 2
        turns = SLOWEST * (FASTEST / SLOWEST) ** (ops.arange(half, dtype="float32") / half)
        angles = time[:, None] * turns
        return ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=-1)
