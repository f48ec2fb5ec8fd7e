"""The refiner: from noise to the mel, guided by the coarse mel (conditional flow matching).

    noise ──► state ──► state + velocity / steps ──► … ──► mel
                │           ▲
                └──────► [clean mel] ◄── coarse mel, decoder's features, voice, time

The coarse mel is the middle of all ways to say a frame; the refiner walks to one of them. What it
learns is the velocity of straight lines from noise to real frames, at a random time of each clip;
what it computes is where the line ends, the clean mel, from which the velocity follows: the rest of
the way over the rest of the time. A new refiner says the coarse mel. It teaches nobody upstream but
the voice: the coarse mel and the features carry no gradient.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

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


class Guide(NamedTuple):
    """What the refiner is told about the clips of a batch. L = T / stacked."""

    coarse: Tensor
    """`float32 [B, T, M]`: the coarse mel, zero beyond the mask."""

    features: Tensor
    """`[B, L, D]`: what the coarse mel was made from."""

    mask: Tensor
    """`float32 [B, T, 1]`: 1 on the frames of the clip."""

    voice: Tensor
    """`[B, D]`."""


class Refiner(keras.Layer):
    """Attention blocks over stacked frames, modulated by the voice and the time.

    One position is `stacked` frames, as in the coarse decoder. With W the refiner's width, D the
    decoder's and the voice vector's:

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

    def error(self, target: Tensor, guide: Guide, seeds: Tensor) -> Tensor:
        """Absolute error of the velocity in every frame, the mean over bins: `float32 [B, T]`.

        `target [B, T, M]` are the real frames; `seeds int32[B]` decide noise and time. Zero
        beyond the mask. With its square the latest time would count a hundred times the first,
        where a synthesis begins: the refiner then falls behind the coarse mel that it corrects.
        """
        _, frames, bins = target.shape
        start = noise.normal(seeds, frames, bins) * guide.mask
        time = LATEST * noise.uniform(seeds)
        along = time[:, None, None]
        state = (1 - along) * start + along * target
        clean = self._clean(state, time, self._condition(guide), guide)
        # Both velocities start at this state: they differ as their ends do, over the time left.
        return ops.mean(ops.abs(clean - target) / (1 - along), axis=-1)

    def refine(self, guide: Guide, steps: int) -> Tensor:
        """The mel after `steps` Euler steps, `float32 [B, T, M]`.

        The walk begins at 0, in the middle of all noise: nearer to recordings than from any noise
        drawn, and the same text in the same voice is the same sound.
        """
        batch = guide.coarse.shape[0]
        condition = self._condition(guide)

        def step(number: Tensor, state: Tensor) -> Tensor:
            number = ops.cast(number, "float32")
            time = ops.broadcast_to(number / steps, (batch,))
            clean = self._clean(state, time, condition, guide)
            return state + (clean - state) / (steps - number)  # the last step arrives

        return ops.fori_loop(0, steps, step, ops.zeros_like(guide.coarse))

    def _condition(self, guide: Guide) -> Tensor:
        """What does not change on the way: `[B, L, W]`."""
        features = ops.stop_gradient(guide.features)
        coarse = stack_frames(ops.stop_gradient(guide.coarse), self.stacked)
        both = ops.concatenate([ops.cast(coarse, features.dtype), features], axis=-1)
        return self.from_condition(both)

    def _clean(self, state: Tensor, time: Tensor, condition: Tensor, guide: Guide) -> Tensor:
        """Where a state is going: `state [B, T, M]`, `time [B]` -> `float32 [B, T, M]`."""
        told = self.project_time(ops.gelu(self.widen_time(self._waves(time))))
        hidden = self.from_state(stack_frames(state, self.stacked)) + condition
        # A position counts when its first frame does: an odd clip ends in half a position.
        positions = guide.mask[:, :: self.stacked]
        hidden = hidden * ops.cast(positions, hidden.dtype)
        hidden = self.stack(hidden, positions, guide.voice + told)
        correction = unstack_frames(self.to_correction(hidden), self.stacked)
        return (ops.stop_gradient(guide.coarse) + correction) * guide.mask

    def _waves(self, time: Tensor) -> Tensor:
        """Sines and cosines of a time, from slow to fast: `[B]` -> `float32 [B, D]`."""
        half = self.voice_width // 2
        turns = SLOWEST * (FASTEST / SLOWEST) ** (ops.arange(half, dtype="float32") / half)
        angles = time[:, None] * turns
        return ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=-1)
