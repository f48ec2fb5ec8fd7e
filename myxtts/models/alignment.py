"""Which token every mel frame belongs to.

An alignment is one token index per frame, `int32[B, T]`, -1 beyond the mel's length: found from
likelihoods while training (`search`), or from durations in synthesis (`from_durations`).
Indices carry no gradient; `expand` does, to the token features that it spreads over frames.
Everything here is float32 or integer whatever the layers compute in: sums over hundreds of frames
do not survive bfloat16.
"""

from __future__ import annotations

import math

from keras import ops

from myxtts.models.layers import Tensor, stack_frames

UNREACHABLE = -math.inf
"""Score of a cell no path reaches. Nothing is less, so no path ever moves in from one."""


def log_likelihood(mean: Tensor, mels: Tensor) -> Tensor:
    """Log-density, up to a constant, of every frame under every token's unit Gaussian.

    `mean [B, S, M]`, `mels [B, T, M]` -> `float32 [B, S, T]`. The term of the frame alone is left
    out too: it is the same for every token, so it cannot change which path is best.
    """
    mean, mels = ops.cast(mean, "float32"), ops.cast(mels, "float32")
    cross = ops.matmul(mean, ops.transpose(mels, (0, 2, 1)))
    return cross - 0.5 * ops.sum(ops.square(mean), axis=-1, keepdims=True)


def search(log_likelihood: Tensor, token_lengths: Tensor, mel_lengths: Tensor) -> Tensor:
    """The most likely monotonic alignment.

    `log_likelihood [B, S, T]`, lengths `int32[B]` -> `int32[B, T]`. The path starts at token 0 on
    frame 0, ends at the last token on the last frame, and from one frame to the next stays on its
    token or moves on by one. Of two equally good ways into a cell, staying wins.

    With fewer frames than tokens no such path exists: the first `mel_length` tokens then get one
    frame each, and the others none. A row without frames is -1 throughout.

    Two loops of T turns each: the forward one carries a single [B, S] row of scores and keeps one
    boolean per cell; the backward one follows the booleans. The trip count is the static T, so one
    shape is one compiled program.
    """
    batch, tokens, frames = log_likelihood.shape
    by_frame = ops.transpose(ops.cast(log_likelihood, "float32"), (2, 0, 1))  # [T, B, S]
    edge = ops.full((batch, 1), UNREACHABLE, dtype="float32")
    only_first = ops.where(ops.arange(tokens) == 0, 0.0, UNREACHABLE)

    def forward(carry: tuple[Tensor, Tensor], frame: Tensor) -> tuple[Tensor, Tensor]:
        stay = carry[0] + frame  # best score of a path that ends in each cell of this frame
        move = ops.concatenate([edge, stay[:, :-1]], axis=1)
        entered = (ops.maximum(stay, move), move > stay)
        return entered, entered

    start = (ops.broadcast_to(only_first, (batch, tokens)), ops.zeros((batch, tokens), "bool"))
    _, (_, moved) = ops.scan(forward, start, by_frame)  # [T, B, S]: into the frame after t

    # Backward, a row waits on its last token until its own last frame comes by.
    frame_numbers = ops.arange(frames)[:, None]  # [T, 1]
    moved = ops.logical_and(moved, (frame_numbers < mel_lengths - 1)[:, :, None])
    row_starts = ops.arange(batch) * tokens

    def backward(token: Tensor, moves: Tensor) -> tuple[Tensor, Tensor]:
        token = token - ops.cast(ops.take(moves, row_starts + token), "int32")
        return token, token

    last = ops.maximum(ops.minimum(token_lengths, mel_lengths) - 1, 0)
    flat = ops.reshape(moved, (frames, batch * tokens))
    _, path = ops.scan(backward, last, flat, reverse=True)  # [T, B]
    return ops.transpose(ops.where(frame_numbers < mel_lengths, path, -1))


def durations(index: Tensor, tokens: int) -> Tensor:
    """Frames of each token: `index [B, T]` -> `int32[B, tokens]`."""
    return ops.sum(ops.cast(_belongs(index, tokens), "int32"), axis=1)


def from_durations(frames_per_token: Tensor, frames: int) -> Tensor:
    """The alignment that gives token s its frames in turn, cut at `frames`.

    `frames_per_token int32[B, S]`, zero for padding -> `int32[B, frames]`.
    """
    ends = ops.cumsum(frames_per_token, axis=1)
    frame_numbers = ops.arange(frames)
    ended = ends[:, None, :] <= frame_numbers[None, :, None]  # [B, T, S]
    index = ops.sum(ops.cast(ended, "int32"), axis=-1)
    return ops.where(frame_numbers < ends[:, -1:], index, -1)


def expand(features: Tensor, index: Tensor, stacked: int = 1) -> Tensor:
    """Spread token features over frames: `[B, S, D]`, `index [B, T]` -> `[B, T, D]`, 0 where -1.

    With `stacked` frames to a position, `features [B, stacked * S, D]` are those of a position's
    first frame for every token, then of its second, …: `[B, T / stacked, D]`, their sums.

    A product with a one-hot matrix: as fast as a gather here, and its gradient is a product too,
    without the scatter whose additions come in any order on a GPU. It is exact, except on a GPU
    that multiplies float32 as TensorFloat-32.
    """
    chosen = stack_frames(_belongs(index, features.shape[1] // stacked), stacked)
    return ops.matmul(ops.cast(chosen, features.dtype), features)


def _belongs(index: Tensor, tokens: int) -> Tensor:
    """`index [B, T]` -> `bool [B, T, tokens]`, true where the frame belongs to the token."""
    return index[:, :, None] == ops.arange(tokens)
