"""How far the timing of two recordings is apart: the whole utterance, and token by token."""

from __future__ import annotations

import numpy as np

from myxtts.audio.levels import trim_silence


def duration_error(model: np.ndarray, source: np.ndarray, sample_rate: int) -> float:
    """Difference of the lengths from first sound to last, as a share of the source's."""
    long = len(trim_silence(source, sample_rate))
    return abs(len(trim_silence(model, sample_rate)) - long) / max(long, 1)


def token_duration_error(model: np.ndarray, source: np.ndarray) -> float:
    """Sum of the differences of each token's frames [tokens], as a share of the source's frames."""
    if model.shape != source.shape or source.sum() <= 0:
        raise ValueError(
            "token_duration_error expects the frames of the same tokens, received "
            f"{model.shape} and {source.shape}, {source.sum()} frames"
        )
    return float(np.abs(model.astype(np.int64) - source).sum() / source.sum())
