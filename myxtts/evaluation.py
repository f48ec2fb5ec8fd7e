"""Judges of speech: how much of it an offline recogniser understands.

The recogniser (English) comes with the `eval` extra, weights inside; nothing is downloaded.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from myxtts.errors import MeasurementError


class Recognizer:
    """Moonshine tiny, English."""

    def __init__(self) -> None:
        if not available():
            raise MeasurementError(
                "No speech recogniser is installed",
                follows="the word error rate is not measured",
                remedy='pip install "myxtts[eval]"',
            )
        import moonshine_voice
        from moonshine_voice.moonshine_api import ModelArch
        from moonshine_voice.transcriber import Transcriber

        weights = Path(moonshine_voice.__file__).parent / "assets" / "tiny-en"
        self._transcriber: Any = Transcriber(str(weights), ModelArch.TINY)

    def transcribe(self, samples: np.ndarray, sample_rate: int) -> str:
        """The words heard in float samples."""
        transcript = self._transcriber.transcribe_without_streaming(samples.tolist(), sample_rate)
        return " ".join(line.text for line in transcript.lines)


def available() -> bool:
    """Whether a recogniser is installed."""
    return find_spec("moonshine_voice") is not None


def words(text: str) -> list[str]:
    """The words that count when two texts are compared."""
    return re.sub(r"[^a-z0-9' ]", " ", text.lower().replace("’", "'")).split()


def word_error_rate(expected: list[str], heard: list[str]) -> float:
    """Wrong, missing and added words over all sentences, per expected word."""
    errors = sum(edit_distance(words(a), words(b)) for a, b in zip(expected, heard, strict=True))
    return errors / max(1, sum(len(words(text)) for text in expected))


def edit_distance(a: list[str], b: list[str]) -> int:
    """Fewest insertions, deletions and replacements that turn `a` into `b`."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (left != right))
    return row[-1]
