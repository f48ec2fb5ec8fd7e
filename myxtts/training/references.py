"""The voices that a checkpoint keeps: one reference clip of each speaker in each language.

With them a model speaks in the voices of its corpus without the corpus. Turning a clip of the
user's into a voice is `myxtts.synthesis`'s business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from myxtts.data.prepare import PreparedCorpus
from myxtts.text.languages import LANGUAGES

REFERENCE_FRAMES = 256
"""Frames of a reference in training, and the most that synthesis gives to the model."""

MOST_SPEAKERS = 64
"""Those with the most clips; a voice takes about 40 kB of a checkpoint."""


@dataclass(frozen=True, eq=False)
class Reference:
    """A clip to speak in the voice of."""

    language: str
    speaker: str
    mels: np.ndarray
    """Natural-log mels, float16 [frames, n_mels], at most `REFERENCE_FRAMES`."""


def of_corpus(corpus: PreparedCorpus) -> list[Reference]:
    """By language; the first of each language is the speaker who says the most in it."""
    spoken = Counter(zip(corpus.language.tolist(), corpus.speaker.tolist(), strict=True))
    clips = Counter(corpus.speaker.tolist())
    kept = {speaker for speaker, _ in clips.most_common(MOST_SPEAKERS)}
    kept |= {_most_spoken(spoken, language) for language, _ in spoken}
    codes = list(LANGUAGES)
    order = sorted(spoken, key=lambda pair: (pair[0], -spoken[pair], pair[1]))
    return [
        Reference(
            codes[language],
            corpus.speakers[speaker],
            np.array(corpus.store.mel(_row(corpus, language, speaker))[:REFERENCE_FRAMES]),
        )
        for language, speaker in order
        if speaker in kept
    ]


def described(references: Sequence[Reference]) -> dict[str, Any]:
    """What a checkpoint's description says about them, in the order of their arrays."""
    return {
        "reference_languages": [reference.language for reference in references],
        "reference_speakers": [reference.speaker for reference in references],
    }


def of_checkpoint(info: dict[str, Any], arrays: Sequence[np.ndarray]) -> list[Reference]:
    """The references that `described` described; older checkpoints do not name their speakers."""
    languages = info["reference_languages"]
    speakers = info.get("reference_speakers", [""] * len(languages))
    return [Reference(*each) for each in zip(languages, speakers, arrays, strict=True)]


def _most_spoken(spoken: Counter[tuple[int, int]], language: int) -> int:
    return max((pair for pair in spoken if pair[0] == language), key=lambda pair: spoken[pair])[1]


def _row(corpus: PreparedCorpus, language: int, speaker: int) -> int:
    """The speaker's first clip that is long enough, or the longest there is."""
    rows = np.flatnonzero((corpus.language == language) & (corpus.speaker == speaker))
    return int(rows[np.argmax(np.minimum(corpus.frames[rows], REFERENCE_FRAMES))])
