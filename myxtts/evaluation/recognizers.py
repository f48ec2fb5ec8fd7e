"""Offline speech recognisers, two of different make, behind one small interface.

Both come with the `eval` extra, their weights inside the wheels: nothing is downloaded. Both know
English only. Counting what they misheard is `wer`'s business.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from myxtts.audio.decode import resample
from myxtts.errors import MeasurementError

LANGUAGES = ("en",)
"""What some recogniser here understands."""

INSTALL = 'pip install "myxtts[eval]"'

_SPHINX_RATE = 16000
Name = Literal["moonshine", "pocketsphinx"]
_MODULES: dict[Name, str] = {"moonshine": "moonshine_voice", "pocketsphinx": "pocketsphinx"}
NAMES = tuple(_MODULES)


class Recognizer(Protocol):
    """Somebody who writes down what is said."""

    def transcribe(self, samples: np.ndarray, sample_rate: int) -> str:
        """The words heard in mono float samples [n] in [-1, 1]; "" when none were."""
        ...


class Moonshine:
    """Moonshine tiny: a small transformer. Writes punctuation and digits as it likes."""

    def __init__(self) -> None:
        _require("moonshine")
        import moonshine_voice
        from moonshine_voice.moonshine_api import ModelArch
        from moonshine_voice.transcriber import Transcriber

        weights = Path(moonshine_voice.__file__).parent / "assets" / "tiny-en"
        self._transcriber: Any = Transcriber(str(weights), ModelArch.TINY)

    def transcribe(self, samples: np.ndarray, sample_rate: int) -> str:
        """The words heard, with punctuation."""
        transcript = self._transcriber.transcribe_without_streaming(samples.tolist(), sample_rate)
        return " ".join(line.text for line in transcript.lines)


class Pocketsphinx:
    """pocketsphinx: hidden Markov models and a trigram language model, as before neural ones."""

    def __init__(self) -> None:
        _require("pocketsphinx")
        from pocketsphinx import Decoder

        # Means over the one clip, not carried on from the last: a clip always gives the same words.
        self._decoder: Any = Decoder(cmn="batch", samprate=_SPHINX_RATE, loglevel="FATAL")

    def transcribe(self, samples: np.ndarray, sample_rate: int) -> str:
        """The words heard, in lower case."""
        signal = np.clip(resample(samples, sample_rate, _SPHINX_RATE), -1.0, 1.0)
        self._decoder.reinit_feat()  # some of the last clip's sound would stay behind
        self._decoder.start_utt()
        self._decoder.process_raw((signal * 32767.0).astype("<i2").tobytes(), full_utt=True)
        self._decoder.end_utt()
        heard = self._decoder.hyp()
        return "" if heard is None else str(heard.hypstr)


def installed() -> list[Name]:
    """The names of the recognisers that can be opened."""
    return [name for name, module in _MODULES.items() if find_spec(module) is not None]


def open_recognizer(name: Name, language: str = "en") -> Recognizer:
    """Load the weights of one of `NAMES`; a `MeasurementError` when nobody can listen."""
    if language not in LANGUAGES:
        raise MeasurementError(
            f"There is no offline recogniser for {language}",
            follows="the word error rate is not measured",
            remedy=f"languages with one: {', '.join(LANGUAGES)}",
        )
    return Moonshine() if name == "moonshine" else Pocketsphinx()


def _require(name: Name) -> None:
    if name not in installed():
        raise MeasurementError(
            f"The speech recogniser {name} is not installed",
            follows="the word error rate is not measured",
            remedy=INSTALL,
        )
