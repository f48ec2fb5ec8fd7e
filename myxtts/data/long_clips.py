"""Clips beyond the largest shape: which become pieces, and what became of each.

`splitting` decides where a clip may be cut; here its pieces take the clip's place, when they are
certain and really fit. A clip that stays whole gets the larger shape of `long_clips: extend`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from myxtts.config import DataConfig
from myxtts.data.buckets import beyond
from myxtts.data.feature_store import FeatureStore
from myxtts.data.ljspeech import Clip
from myxtts.data.splitting import Limits, NotSplit, split
from myxtts.data.text_cache import TokenizedTexts
from myxtts.text.languages import LANGUAGES
from myxtts.text.normalize import normalize

Tokenize = Callable[[Sequence[Clip]], TokenizedTexts]


@dataclass(frozen=True)
class LongClip:
    """What became of a clip beyond the largest shape."""

    clip: str
    pieces: int
    """How many it was cut into; 1: it stays whole."""
    reason: str
    """Why it stays whole; empty when it was cut."""

    def __str__(self) -> str:
        if self.pieces > 1:
            return f"{self.clip}: cut into {self.pieces} pieces"
        return f"{self.clip}: stays whole, {self.reason}"


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a corpus: whole clips, or pieces of them."""

    clips: list[Clip]
    texts: TokenizedTexts
    positions: np.ndarray
    """int64 [n], where the clip lies in the store."""
    first_frames: np.ndarray
    """int32 [n], at which of its frames the row begins."""
    frames: np.ndarray
    """int32 [n]."""


@dataclass(frozen=True)
class _Part:
    """One row to be: a whole clip, or a piece of one."""

    clip: Clip
    position: int
    first: int
    frames: int


def cut(
    rows: Rows, store: FeatureStore, data: DataConfig, tokenize: Tokenize
) -> tuple[Rows, list[LongClip]]:
    """The rows with long clips replaced by their pieces, and what became of each long clip.

    `tokenize` is given the pieces; it returns the texts of all clips of the store, then theirs.
    """
    mel = store.recipe.mel
    limits = Limits(data.max_mel_frames, data.max_text_length, mel.sample_rate / mel.hop)
    lengths = rows.texts.lengths
    parts: dict[int, list[_Part]] = {}
    told: dict[int, LongClip] = {}
    for row in beyond(lengths, rows.frames, data).tolist():
        try:
            parts[row] = _parts(rows, row, store, limits)
            told[row] = LongClip(rows.clips[row].id, len(parts[row]), "")
        except NotSplit as why:
            told[row] = LongClip(rows.clips[row].id, 1, str(why))
    every = [part for own in parts.values() for part in own]
    texts = tokenize([part.clip for part in every])
    numbers = iter(range(len(store), len(texts.lengths)))
    text_rows = {row: [next(numbers) for _ in own] for row, own in parts.items()}
    for row, own in list(parts.items()):
        tokens = texts.lengths[text_rows[row]]
        if tokens.max() > limits.tokens or (tokens > [part.frames for part in own]).any():
            del parts[row]
            reason = "the tokens of a piece do not fit its frames or the largest shape"
            told[row] = LongClip(rows.clips[row].id, 1, reason)
    return _replaced(rows, parts, text_rows, texts), list(told.values())


def _parts(rows: Rows, row: int, store: FeatureStore, limits: Limits) -> list[_Part]:
    clip, position = rows.clips[row], int(rows.positions[row])
    language = list(LANGUAGES)[rows.texts.language[row]]
    tokens = int(rows.texts.lengths[row])
    pieces = split(normalize(clip.text, language), store.mel(position), tokens, limits)
    return [
        _Part(
            replace(clip, id=f"{clip.id}#{number}", text=piece.text, language=language),
            position,
            piece.first,
            piece.frames,
        )
        for number, piece in enumerate(pieces, start=1)
    ]


def _replaced(
    rows: Rows,
    parts: dict[int, list[_Part]],
    text_rows: dict[int, list[int]],
    texts: TokenizedTexts,
) -> Rows:
    chosen: list[_Part] = []
    chosen_texts: list[int] = []
    for row, clip in enumerate(rows.clips):
        position = int(rows.positions[row])
        chosen += parts.get(row, [_Part(clip, position, 0, int(rows.frames[row]))])
        chosen_texts += text_rows[row] if row in parts else [position]
    return Rows(
        [part.clip for part in chosen],
        texts.select(np.array(chosen_texts, np.int64)),
        np.array([part.position for part in chosen], np.int64),
        np.array([part.first for part in chosen], np.int32),
        np.array([part.frames for part in chosen], np.int32),
    )
