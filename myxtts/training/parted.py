"""A batch's losses and gradients, computed part by part and the same as of the whole.

Each loss is a mean over frames, but for that of the durations, which is a mean over tokens. So
each part counts by its frames, and its duration loss by its tokens: their sum is the loss of the
whole batch, exactly but for the order of additions. Why a batch is cut is `fitting`'s business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from myxtts.models.xtts import DURATION_WEIGHT, XTTS, counted
from myxtts.training.accumulation import Accumulator
from myxtts.training.fitting import cut
from myxtts.training.preprocess import Batch
from myxtts.training.program import program

Losses = dict[str, Any]


@dataclass(frozen=True)
class Share:
    """How much of a batch a part is, 0–1."""

    frames: float
    tokens: float


class PartedGradients:
    """Made inside the device's scope when a batch first did not fit; called inside it."""

    def __init__(
        self, model: XTTS, optimizer: keras.optimizers.Optimizer, device: str, *, xla: bool
    ) -> None:
        self._model = model
        self._optimizer = optimizer
        self._sum = Accumulator(model.trainable_variables)
        self._part = program(self._losses_and_gradients, device, xla=xla)
        self._add = program(self._sum.add, device, xla=xla)
        self._take = program(self._sum.take, device, xla=xla)
        self.programs = [self._part, self._add, self._take]

    def __call__(self, batch: Batch, parts: int) -> tuple[Losses, list[Any]]:
        """Losses and gradients of `batch` in at most `parts` parts."""
        self._sum.clear()  # an attempt that failed half-way left something behind
        pieces = cut(batch, parts)
        shares = shares_of(pieces)
        found = []
        for piece, share in zip(pieces, shares, strict=True):
            losses, gradients = self._part(piece, tf.constant(_token_weight(share)))
            self._add(gradients, tf.constant(share.frames))
            found.append(losses)
        return combined(found, shares), self._take()

    def _losses_and_gradients(self, batch: Batch, token_weight: Any) -> tuple[Losses, list[Any]]:
        """Of a part whose durations count `token_weight float32[]` times what its frames do."""
        with tf.GradientTape() as tape:
            losses = self._model.losses(batch)
            beside = (token_weight - 1.0) * DURATION_WEIGHT * losses["duration"]
            scaled = self._optimizer.scale_loss(losses["total"] + beside)
        return losses, tape.gradient(scaled, self._model.trainable_variables)


def shares_of(pieces: Sequence[Batch]) -> list[Share]:
    """Each part's share of the whole; those of fillers only have none."""
    counts = [counted(piece) for piece in pieces]
    frames = max(sum(float(count.frames) for count in counts), 1.0)
    tokens = max(sum(float(count.tokens) for count in counts), 1.0)
    return [Share(float(count.frames) / frames, float(count.tokens) / tokens) for count in counts]


def combined(parts: Sequence[Losses], shares: Sequence[Share]) -> Losses:
    """The losses of the whole batch from those of its parts."""
    means = {
        name: sum(
            losses[name] * (share.tokens if name == "duration" else share.frames)
            for losses, share in zip(parts, shares, strict=True)
        )
        for name in parts[0]
    }
    by_frames = sum(
        losses["duration"] * share.frames for losses, share in zip(parts, shares, strict=True)
    )
    means["total"] += DURATION_WEIGHT * (means["duration"] - by_frames)
    return means


def _token_weight(share: Share) -> float:
    return share.tokens / share.frames if share.frames else 1.0
