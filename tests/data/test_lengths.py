"""Lengths in a few numbers still choose the same shapes."""

import numpy as np
import pytest

from myxtts.config import DataConfig
from myxtts.data import buckets, lengths


@pytest.mark.parametrize("batch", [4, 16, 48])
def test_the_same_shapes_follow_from_the_histogram(batch: int) -> None:
    rng = np.random.default_rng(batch)
    frames = rng.integers(60, 800, 501)
    tokens = (frames / 6 + rng.integers(0, 20, 501)).astype(np.int64)
    data = DataConfig(batch_size=batch)
    again_tokens, again_frames = lengths.clips(lengths.histogram(tokens, frames))
    assert again_frames.sum() == frames.sum() and len(again_frames) == 501
    assert buckets.choose(again_tokens, again_frames, data) == buckets.choose(tokens, frames, data)
