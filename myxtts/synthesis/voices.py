"""Whom to sound like: a speaker of the corpus, or clips that the user brings.

A voice is a stretch of mel frames as the model saw them in training. Several clips become one
voice by equal shares of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from myxtts.audio import levels
from myxtts.audio.decode import AudioError
from myxtts.audio.mel import log_mel
from myxtts.data.recipe import Recipe
from myxtts.errors import UsageError, UserError
from myxtts.training.references import REFERENCE_FRAMES, Reference

MOST_CLIPS = 16
SHORTEST_FRAMES = 16
"""About 0.2 seconds: less than a syllable says nothing about a voice."""
SILENT_DB = -60.0

_STRIDE = 4  # the voice encoder halves time twice


class Voices:
    """The voices of one checkpoint. Clips are read once, however often they are asked for."""

    def __init__(self, references: Sequence[Reference], recipe: Recipe) -> None:
        self._references = references
        self._recipe = recipe
        self._read: dict[tuple[Path, ...], np.ndarray] = {}

    @property
    def languages(self) -> list[str]:
        """What the corpus spoke."""
        return list(dict.fromkeys(reference.language for reference in self._references))

    @property
    def speakers(self) -> list[str]:
        """Who spoke in it, by name; none of a checkpoint that does not name them."""
        return sorted({reference.speaker for reference in self._references} - {""})

    def of_corpus(self, language: str, speaker: str | None = None) -> np.ndarray:
        """float32 [frames, n_mels] of a speaker, in this language if they speak it."""
        found = [
            reference
            for reference in self._references
            if speaker is None or reference.speaker == speaker
        ]
        if not found:
            raise self._unknown(str(speaker))
        same = [reference for reference in found if reference.language == language]
        return _whole_strides((same or found)[0].mels.astype(np.float32))

    def of_clips(self, paths: Sequence[Path]) -> np.ndarray:
        """float32 [frames, n_mels] of the user's clips, at most `REFERENCE_FRAMES`."""
        key = tuple(Path(path) for path in paths)
        if len(key) > MOST_CLIPS:
            raise UsageError(
                f"A voice is made of at most {MOST_CLIPS} clips",
                received=f"{len(key)} clips",
                remedy="give the clearest few",
            )
        if key not in self._read:
            share = REFERENCE_FRAMES // len(key)
            clips = [_loudest(self._mels(path), share) for path in key]
            self._read[key] = _whole_strides(np.concatenate(clips))
        return self._read[key]

    def _mels(self, path: Path) -> np.ndarray:
        try:
            samples = self._recipe.samples(path)
        except (AudioError, OSError) as error:
            raise UserError(
                f"The reference clip {path} cannot be used: {error}",
                remedy="give a clip of a few seconds: WAV, FLAC, OGG or MP3",
            ) from error
        mels = log_mel(samples, self._recipe.mel)
        silent = levels.loudness(samples, self._recipe.mel.sample_rate) < SILENT_DB
        if silent or len(mels) < SHORTEST_FRAMES:
            raise UserError(
                f"The reference clip {path} cannot be used: "
                + ("it is silent" if silent else "it is too short"),
                received=f"{len(samples) / self._recipe.mel.sample_rate:.2f} s",
                remedy="give a clip of a few seconds of speech",
            )
        return mels

    def _unknown(self, speaker: str) -> UsageError:
        names = self.speakers
        near = get_close_matches(speaker, names, n=1)
        listed = ", ".join(names[:20]) + (f", … ({len(names)} in all)" if len(names) > 20 else "")
        return UsageError(
            f"This checkpoint has no speaker called {speaker}",
            received=speaker,
            follows=f"it has: {listed}" if names else "it names none of its speakers",
            remedy=f"--speaker {near[0]}" if near else "--reference CLIP, or one of these",
        )


def _loudest(mels: np.ndarray, frames: int) -> np.ndarray:
    """The stretch of so many frames with the most speech in it: recordings often begin still."""
    if len(mels) <= frames:
        return mels
    sums = np.concatenate([[0.0], np.cumsum(mels.mean(axis=1, dtype=np.float64))])
    first = int(np.argmax(sums[frames:] - sums[:-frames]))
    return mels[first : first + frames]


def _whole_strides(mels: np.ndarray) -> np.ndarray:
    return mels[: len(mels) // _STRIDE * _STRIDE]
