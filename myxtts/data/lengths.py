"""The lengths of a corpus's clips in a few numbers: enough to choose its shapes again.

A run's header keeps them, so that a recording alone can say what another batch size would do to
shapes and padding. Clips of equal rounded length become one row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from myxtts.data.buckets import rounded_up

Row = tuple[int, int, int, int]
"""(frames rounded up, clips, their frames summed, tokens of the longest text)."""


def histogram(token_lengths: np.ndarray, frames: np.ndarray) -> list[Row]:
    """One row for each rounded number of frames, ascending."""
    edges, member = np.unique(rounded_up(frames), return_inverse=True)
    clips = np.bincount(member)
    summed = np.bincount(member, weights=frames)
    longest = np.zeros(len(edges), np.int64)
    np.maximum.at(longest, member, token_lengths)
    return [
        (int(edge), int(count), round(total), int(tokens))
        for edge, count, total, tokens in zip(edges, clips, summed, longest, strict=True)
    ]


def clips(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and frames of as many clips, int64 [n] each; the frames of a row sum to the same."""
    tokens, frames = [], []
    for _, count, summed, longest in rows:
        even, rest = divmod(summed, count)
        frames += [even + 1] * rest + [even] * (count - rest)
        tokens += [longest] * count
    return np.array(tokens, np.int64), np.array(frames, np.int64)
