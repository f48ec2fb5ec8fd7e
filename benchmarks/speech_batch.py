"""A batch of made-up speech in one static shape: the same arrays for every contender."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

VOCABULARY, LANGUAGES, MELS, REFERENCE = 180, 18, 80, 256
"""About our phonemes, our languages, mel bins, frames of the reference clip."""

FRAMES_PER_TOKEN = 400 / 112
"""Of LJSpeech read as phonemes."""


@dataclass(frozen=True)
class Shape:
    """Clips in a batch, tokens and frames that each is padded to."""

    rows: int
    tokens: int
    frames: int

    def __str__(self) -> str:
        return f"{self.rows} × {self.tokens} × {self.frames}"


def shape(rows: int, frames: int) -> Shape:
    """With as many tokens as so many frames of English have, rounded up to a multiple of 8."""
    return Shape(rows, -(-round(frames / FRAMES_PER_TOKEN) // 8) * 8, frames)


def make(
    wanted: Shape, *, n_mels: int = MELS, vocabulary: int = VOCABULARY
) -> dict[str, np.ndarray]:
    """Clips that fill 80 to 100 % of the shape, as in a bucket: one frame a token, held, and noise.

    The keys and shapes of `myxtts.models.xtts.XTTS`.
    """
    random = np.random.default_rng(1)
    rows, tokens, frames = wanted.rows, wanted.tokens, wanted.frames
    token_lengths = random.integers(-(-tokens * 4 // 5), tokens + 1, rows)
    mel_lengths = np.minimum(token_lengths * frames // tokens, frames)
    token_lengths[0], mel_lengths[0] = tokens, frames
    spoken = np.arange(frames) < mel_lengths[:, None]
    ids = random.integers(1, vocabulary, (rows, tokens))
    ids *= np.arange(tokens) < token_lengths[:, None]
    held = np.arange(frames)[None] * token_lengths[:, None] // mel_lengths[:, None]
    frame_of = random.normal(size=(vocabulary, n_mels))
    mels = frame_of[np.take_along_axis(ids, np.minimum(held, tokens - 1), 1)]
    mels = (mels + 0.3 * random.normal(size=mels.shape)) * spoken[:, :, None]
    return {
        "tokens": ids.astype(np.int32),
        "token_lengths": token_lengths.astype(np.int32),
        "mels": mels.astype(np.float32),
        "mel_lengths": mel_lengths.astype(np.int32),
        "reference": random.normal(size=(rows, REFERENCE, n_mels)).astype(np.float32),
        "reference_lengths": np.full(rows, REFERENCE, np.int32),
        "language": random.integers(0, LANGUAGES, rows).astype(np.int32),
        "weights": np.ones(rows, np.float32),
        "noise_seeds": np.arange(rows, dtype=np.int32),
    }
