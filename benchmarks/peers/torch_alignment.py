"""The search for the best monotonic alignment in PyTorch, in two ways.

`plain` uses PyTorch alone, vectorised over the batch. `compiled` leaves PyTorch for a loop that
numba compiles, as PyTorch speech projects do on the CPU (with Cython or numba). Both give the
tokens that `myxtts.models.alignment.search` gives.
"""

from __future__ import annotations

import numba
import numpy as np
import torch
from torch import Tensor


def plain(likelihood: Tensor, token_lengths: Tensor, mel_lengths: Tensor) -> Tensor:
    """`[B, S, T]`, `[B]`, `[B]` -> `int64[B, T]`; in place wherever it can be."""
    batch, tokens, frames = likelihood.shape
    by_frame = likelihood.permute(2, 0, 1).contiguous()  # [T, B, S]
    scores = torch.full((batch, tokens + 1), -torch.inf)  # column 0: no token, never left
    scores[:, 1] = 0.0
    stay, move = scores[:, 1:], scores[:, :-1]
    moved = torch.empty(frames, batch, tokens, dtype=torch.bool)
    for frame, into in zip(by_frame, moved, strict=True):
        stay += frame
        torch.gt(move, stay, out=into)
        stay.copy_(torch.maximum(stay, move))

    numbers = torch.arange(frames)[:, None]
    moved &= (numbers < mel_lengths - 1)[:, :, None]
    steps = moved.view(frames, batch * tokens).long()
    starts = torch.arange(batch) * tokens
    place = starts + (torch.minimum(token_lengths, mel_lengths) - 1).clamp(min=0)
    path = torch.empty(frames, batch, dtype=torch.int64)
    for number in range(frames - 1, -1, -1):
        place = place - steps[number][place]
        path[number] = place
    return torch.where(numbers < mel_lengths, path - starts, -1).T


def compiled(likelihood: Tensor, token_lengths: Tensor, mel_lengths: Tensor) -> Tensor:
    """The same, row after row in machine code."""
    batch, _, frames = likelihood.shape
    path = np.full((batch, frames), -1, np.int64)
    by_frame = likelihood.transpose(1, 2).contiguous().numpy()
    _rows(by_frame, token_lengths.numpy(), mel_lengths.numpy(), path)
    return torch.from_numpy(path)


@numba.njit(parallel=True)
def _rows(
    by_frame: np.ndarray, token_lengths: np.ndarray, mel_lengths: np.ndarray, path: np.ndarray
) -> None:
    for row in numba.prange(len(path)):
        _row(by_frame[row], token_lengths[row], mel_lengths[row], path[row])


@numba.njit(fastmath={"contract"})
def _row(by_frame: np.ndarray, tokens: int, frames: int, path: np.ndarray) -> None:
    """`by_frame [T, S]` of one clip -> its `path [T]`."""
    reached = min(tokens, frames)
    scores = np.full(reached, -np.inf, np.float32)
    scores[:1] = 0.0
    moved = np.empty((frames, reached), np.bool_)
    for frame in range(frames):
        move = np.float32(-np.inf)
        for token in range(reached):
            stay = scores[token] + by_frame[frame, token]
            moved[frame, token] = move > stay
            scores[token] = max(move, stay)
            move = stay
    token = reached - 1
    for frame in range(frames - 1, -1, -1):
        if frame < frames - 1 and moved[frame, token]:
            token -= 1
        path[frame] = token
