"""A few static shapes, chosen from the corpus's own lengths.

A bucket is one shape that is compiled once. Few shapes keep compiling short; enough shapes keep
padding small. This module chooses them and says which clip belongs to which; the order of clips is
the sampler's business.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from myxtts.config import DataConfig
from myxtts.errors import UserError

log = logging.getLogger(__name__)

QUANTUM = 8
"""Text lengths and mel frames of every shape are multiples of this."""

_MOST_EDGES = 256
"""Candidate upper bounds that the search looks at; a longer range is quantised more coarsely."""

_BATCHES_PER_SHAPE = 8
"""Batches an epoch that a shape should have on average: a bucket of one batch always groups the
same clips, and a small corpus does not earn back many compilations."""

_WORTH_A_SHAPE = 0.005
"""One more shape must save this share of the computed frames, for it costs a compilation."""


@dataclass(frozen=True)
class Bucket:
    """One static shape: tokens [batch_size, text_length], mels [batch_size, mel_frames, n_mels]."""

    text_length: int
    mel_frames: int
    batch_size: int


def rounded_up(length: int | np.ndarray, quantum: int = QUANTUM) -> int | np.ndarray:
    """The next multiple of `quantum`."""
    return -(-length // quantum) * quantum


def beyond(token_lengths: np.ndarray, frames: np.ndarray, data: DataConfig) -> np.ndarray:
    """The rows that do not fit `max_text_length` x `max_mel_frames`, int64 [k]."""
    too_long = (token_lengths > data.max_text_length) | (frames > data.max_mel_frames)
    return np.flatnonzero(too_long)


def choose(
    token_lengths: np.ndarray, frames: np.ndarray, data: DataConfig, clip_ids: Sequence[str] = ()
) -> tuple[Bucket, ...]:
    """At most `data.max_buckets` shapes, shortest first, that fit every clip.

    `clip_ids` only makes messages about long clips readable.
    """
    if len(frames) == 0:
        raise UserError("Shapes are chosen from a corpus, and this one has no clip")
    _treat_long_clips(token_lengths, frames, data, clip_ids)
    if data.static_shapes == "single":
        text = max(data.max_text_length, int(token_lengths.max()))
        mel = max(data.max_mel_frames, int(frames.max()))
        size = min(data.batch_size, len(frames))
        return (Bucket(int(rounded_up(text)), int(rounded_up(mel)), size),)
    batches = len(frames) // data.batch_size
    most = min(data.max_buckets, max(1, batches // _BATCHES_PER_SHAPE))
    bounds = _best_bounds(frames, data.batch_size, most)
    return _with_batch_sizes(bounds, token_lengths, frames, data.batch_size)


def assign(token_lengths: np.ndarray, frames: np.ndarray, buckets: Sequence[Bucket]) -> np.ndarray:
    """The first bucket that fits each clip, int32 [n]; a clip that fits none is a `UserError`."""
    text = np.array([bucket.text_length for bucket in buckets])
    mel = np.array([bucket.mel_frames for bucket in buckets])
    fits = (token_lengths[:, None] <= text) & (frames[:, None] <= mel)  # [n, buckets]
    without = np.flatnonzero(~fits.any(axis=1))
    if len(without):
        row = without[0]
        raise UserError(
            f"{len(without)} clips are longer than every shape of this run",
            received=f"the first: {token_lengths[row]} tokens, {frames[row]} frames",
            follows=f"the largest shape has {text.max()} tokens and {mel.max()} frames",
            remedy="prepare the corpora together, or leave these clips out",
        )
    return fits.argmax(axis=1).astype(np.int32)


def useful_share(frames: np.ndarray, assignment: np.ndarray, buckets: Sequence[Bucket]) -> float:
    """Frames of speech / frames computed, without the filler rows of last batches."""
    mel = np.array([bucket.mel_frames for bucket in buckets])
    return float(frames.sum() / mel[assignment].sum())


def _treat_long_clips(
    token_lengths: np.ndarray, frames: np.ndarray, data: DataConfig, clip_ids: Sequence[str]
) -> None:
    rows = beyond(token_lengths, frames, data)
    if len(rows) == 0:
        return
    limit = f"{data.max_text_length} tokens x {data.max_mel_frames} frames"
    names = [
        f"{clip_ids[row] if len(clip_ids) else f'row {row}'} ({token_lengths[row]} x {frames[row]})"
        for row in rows[:20]
    ]
    listed = ", ".join(names) + (f", and {len(rows) - 20} more" if len(rows) > 20 else "")
    if data.long_clips == "refuse":
        raise UserError(
            f"{len(rows)} clips are longer than {limit}, and long_clips is refuse",
            received=listed,
            remedy="data.long_clips: extend, or larger max_text_length and max_mel_frames",
        )
    log.info("%d clips are longer than %s; the largest shape grows: %s", len(rows), limit, listed)


def _best_bounds(frames: np.ndarray, batch_size: int, most: int) -> list[int]:
    """The upper bounds in frames, ascending, with the fewest computed frames in an epoch.

    Dynamic programming over the quantised histogram: cost[k][j] = the least number of frames that
    k buckets compute for all clips up to edge j. Filler rows count, so a bucket with fewer clips
    than a batch pays for the rest of it and is chosen only when it still saves.
    """
    quantum = QUANTUM
    while frames.max() > quantum * _MOST_EDGES:
        quantum *= 2
    edges, counts = np.unique(rounded_up(frames, quantum), return_counts=True)
    budget = batch_size * float(rounded_up(int(np.median(frames))))
    below = np.concatenate(([0], np.cumsum(counts)))  # clips before edge i
    sizes = np.maximum(1, np.round(budget / edges)).astype(np.int64)

    def cost_to(j: int) -> np.ndarray:
        """Computed frames of one bucket with edges i..j, for every i <= j."""
        clips = below[j + 1] - below[: j + 1]
        return -(-clips // sizes[j]) * sizes[j] * edges[j]

    single = [cost_to(j) for j in range(len(edges))]
    costs = np.array([column[0] for column in single], np.int64)
    starts: list[np.ndarray] = [np.zeros(len(edges), np.int64)]
    totals = [int(costs[-1])]
    for _ in range(1, min(most, len(edges))):
        before = np.concatenate(([0], costs[:-1]))  # cost of everything below edge i
        choices = [before[: j + 1] + single[j] for j in range(len(edges))]
        starts.append(np.array([int(choice.argmin()) for choice in choices]))
        costs = np.array([int(choice.min()) for choice in choices], np.int64)
        totals.append(int(costs[-1]))
    affordable = [total + _WORTH_A_SHAPE * totals[0] * k for k, total in enumerate(totals)]
    bounds: list[int] = []
    j = len(edges) - 1
    for k in range(int(np.argmin(affordable)), -1, -1):
        bounds.append(int(edges[j]))
        j = int(starts[k][j]) - 1
        if j < 0:
            break
    return bounds[::-1]


def _with_batch_sizes(
    bounds: list[int], token_lengths: np.ndarray, frames: np.ndarray, batch_size: int
) -> tuple[Bucket, ...]:
    """Every bucket carries about the frames of `batch_size` clips of the median clip's bucket."""
    upper = np.array(bounds)
    member = np.searchsorted(upper, frames)
    budget = batch_size * int(upper[np.searchsorted(upper, np.median(frames))])
    buckets = []
    for index, bound in enumerate(bounds):
        own = token_lengths[member == index]
        size = min(max(1, round(budget / bound)), len(own))
        buckets.append(Bucket(int(rounded_up(int(own.max()))), bound, size))
    return tuple(buckets)
