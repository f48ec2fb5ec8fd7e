"""A made-up language for the model tests: every token has its own frame, held for its own time."""

from __future__ import annotations

import dataclasses
import os
from typing import NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import pytest

from myxtts.models.sizes import SIZES, ModelSize

ROWS, TOKENS, FRAMES, REFERENCE, MELS = 4, 24, 88, 32, 8
VOCABULARY, LANGUAGES = 8, 2


class Speech(NamedTuple):
    """A batch and what is known about it."""

    batch: dict[str, np.ndarray]
    alignment: np.ndarray
    """`int32[B, T]`: the token each frame was made from, -1 beyond the clip."""


@pytest.fixture(scope="session")
def size() -> ModelSize:
    """The trunk with fewer and thinner blocks: it compiles in seconds."""
    return dataclasses.replace(
        SIZES["tiny"],
        width=32,
        encoder_blocks=2,
        decoder_blocks=2,
        duration_width=16,
        duration_blocks=1,
    )


@pytest.fixture(scope="session")
def attentive() -> ModelSize:
    """What the larger sizes are made of, all of it, with fewer and thinner blocks."""
    return dataclasses.replace(
        SIZES["normal"],
        width=32,
        encoder_blocks=2,
        decoder_blocks=1,
        duration_width=16,
        duration_blocks=1,
        refiner_blocks=2,
        refiner_width=48,
        voice_blocks=1,
        voice_latents=4,
        voice_layers=1,
    )


def say(random: np.random.Generator) -> Speech:
    """Three clips of mixed lengths and a filler row."""
    language = np.random.default_rng(7)
    frame_of = language.normal(size=(VOCABULARY, MELS)) * 1.5
    frames_of = language.integers(1, 5, VOCABULARY)
    tokens = np.zeros((ROWS, TOKENS), np.int32)
    token_lengths = np.append(random.integers(8, 22, ROWS - 1), 0).astype(np.int32)
    mels = np.zeros((ROWS, FRAMES, MELS), np.float32)
    alignment = np.full((ROWS, FRAMES), -1, np.int32)
    for row, length in enumerate(token_lengths):
        # Never the same token twice running: nobody could hear where the second one starts.
        steps = random.integers(1, VOCABULARY - 1, length)
        tokens[row, :length] = 1 + np.cumsum(steps) % (VOCABULARY - 1)
        index = np.repeat(np.arange(length), frames_of[tokens[row, :length]])
        alignment[row, : len(index)] = index
        mels[row, : len(index)] = frame_of[tokens[row, index]]
    spoken = alignment >= 0
    mels += random.normal(size=mels.shape).astype(np.float32) * 0.1 * spoken[..., None]
    reference = random.normal(size=(ROWS, REFERENCE, MELS)).astype(np.float32)
    reference_lengths = np.array([32, 30, 17, 0], np.int32)
    reference *= (np.arange(REFERENCE) < reference_lengths[:, None])[..., None]
    batch = {
        "tokens": tokens,
        "token_lengths": token_lengths,
        "mels": mels,
        "mel_lengths": spoken.sum(axis=1).astype(np.int32),
        "reference": reference,
        "reference_lengths": reference_lengths,
        "language": np.array([0, 1, 0, 0], np.int32),
        "weights": np.array([1, 1, 1, 0], np.float32),
        "noise_seeds": random.integers(0, 2**31, ROWS).astype(np.int32),
    }
    return Speech(batch, alignment)


@pytest.fixture(scope="session")
def lessons() -> list[Speech]:
    """Many, because one batch alone would be learned by heart, and wrongly aligned."""
    random = np.random.default_rng(0)
    return [say(random) for _ in range(16)]


@pytest.fixture(scope="session")
def speech() -> Speech:
    """Held out of the lessons."""
    return say(np.random.default_rng(99))
