"""The alignment found in training against the times at which espeak-ng says its phonemes.

espeak reports the sample at which each phoneme begins. The model's alignment gives each frame a
token; a phoneme begins where its first token does, and a stress mark belongs to the phoneme behind
it. Phonemes are matched with tokens by their symbols; what cannot be matched (espeak's events name
a few phonemes otherwise than its transcription) is left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
from fresh import in_fresh_process

from myxtts.audio.mel import MelSettings, log_mel
from myxtts.config import Config
from myxtts.data.demo_corpus import WORDS_PER_MINUTE, espeak_voice
from myxtts.data.recipe import Recipe
from myxtts.text.languages import language_id
from myxtts.text.tokenizer import Tokenizer
from voices import sources
from voices.clones import ESPEAK, TRAINED_ENGLISH

SENTENCES = 60
_STRESS = "ˈˌ"
REFERENCE_FRAMES = 256


@dataclass(frozen=True)
class Spoken:
    """A sentence, when its phonemes begin, and its frames."""

    text: str
    mel: np.ndarray
    """float32 [frames, n_mels]."""
    phonemes: list[str]
    starts: list[int]
    """Samples."""


def measure(run: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Boundary errors on held-out sentences of the voices that the model was trained on."""
    errors, matched = in_fresh_process(_errors, run)
    result = {
        "boundary_error_ms": round(float(np.mean(errors)), 2),
        "boundary_error_median_ms": round(float(np.median(errors)), 2),
        "boundary_error_p90_ms": round(float(np.quantile(errors, 0.9)), 2),
        "boundaries": len(errors),
        "phonemes_matched": round(matched, 4),
        "sentences": SENTENCES,
    }
    say(f"alignment: {result}")
    return result


def _errors(run: Path) -> tuple[list[float], float]:
    """Milliseconds for each matched phoneme, and the share that was matched."""
    aligner = _Aligner(run)
    settings, tokenizer = aligner.mel, aligner.tokenizer
    spoken = _speak(settings)
    tokens = [tokenizer.encode(one.text, "en").ids for one in spoken]
    errors, phonemes = [], 0
    for one, ids, index in zip(spoken, tokens, aligner.align(tokens, spoken), strict=True):
        symbols = [tokenizer.vocabulary[i] for i in ids]
        for token, start in _matches(symbols, one):
            while token > 0 and symbols[token - 1] in _STRESS:
                token -= 1
            frame = int(np.searchsorted(index, token))
            errors.append(abs(frame * settings.hop - start) / settings.sample_rate * 1e3)
        phonemes += len(one.phonemes)
    return errors, len(errors) / phonemes


class _Aligner:
    """The network of a run, asked for nothing but its alignment."""

    def __init__(self, run: Path) -> None:
        from myxtts.training import checkpoint, network

        found = checkpoint.load(run)
        config = Config.model_validate(found.info["config"])
        self.tokenizer = Tokenizer(config.data.text_units)
        self.mel = Recipe.of(config.data).mel
        n_mels = config.data.n_mels
        self._net = network.build(config.model, self.tokenizer, n_mels, "float32", seed=0)
        network.restore(self._net.trainable_variables, found.weights, found, "weights")
        self._mean, self._std = found.mel_statistics

    def align(self, tokens: Sequence[np.ndarray], spoken: Sequence[Spoken]) -> list[np.ndarray]:
        """The token of each frame, int [frames] of each sentence; one batch, compiled."""
        import tensorflow as tf

        mels = [(one.mel - self._mean) / self._std for one in spoken]
        # The reference is another sentence of the same voice.
        others = [mels[number - len(ESPEAK)][:REFERENCE_FRAMES] for number in range(len(mels))]
        frames = max(map(len, mels))
        batch = {
            "tokens": _padded(tokens, max(map(len, tokens)), np.int32),
            "token_lengths": _lengths(tokens),
            "mels": _padded(mels, frames + frames % 2, np.float32),
            "mel_lengths": _lengths(mels),
            "reference": _padded(others, REFERENCE_FRAMES, np.float32),
            "reference_lengths": _lengths(others),
            "language": np.full(len(mels), language_id("en"), np.int32),
        }
        tensors = {name: tf.constant(array) for name, array in batch.items()}
        index = tf.function(self._net.alignment)(tensors).numpy()
        return [row[: len(mel)] for row, mel in zip(index, mels, strict=True)]


def _lengths(rows: Sequence[np.ndarray]) -> np.ndarray:
    return np.array([len(row) for row in rows], np.int32)


def _padded(rows: Sequence[np.ndarray], length: int, dtype: Any) -> np.ndarray:
    """`[rows, length, ...]`, zero behind each row."""
    filled = np.zeros((len(rows), length, *rows[0].shape[1:]), dtype)
    for into, row in zip(filled, rows, strict=True):
        into[: len(row)] = row
    return filled


def _speak(settings: MelSettings) -> list[Spoken]:
    from myxtts.text import espeak

    spoken = []
    for number, text in enumerate(sources.english(SENTENCES, skip=TRAINED_ENGLISH)):
        voice = espeak_voice("en", ESPEAK[number % len(ESPEAK)].name)
        speech = espeak.speak(text, voice, rate=WORDS_PER_MINUTE)
        if speech.sample_rate != settings.sample_rate:
            raise RuntimeError(f"espeak speaks at {speech.sample_rate} Hz")
        events = [event for event in speech.events if event.phoneme.strip(_STRESS + " _:")]
        samples = speech.samples.astype(np.float32) / 32768.0
        names = [event.phoneme for event in events]
        starts = [event.sample for event in events]
        spoken.append(Spoken(text, log_mel(samples, settings), names, starts))
    return spoken


def _matches(symbols: Sequence[str], spoken: Spoken) -> list[tuple[int, int]]:
    """(token, sample) of every phoneme whose first symbol is found among the tokens."""
    letters = [(i, s) for i, s in enumerate(symbols) if s.isalpha() and s not in _STRESS]
    said: list[tuple[str, int | None]] = []  # a symbol, and the start of the phoneme it begins
    for name, start in zip(spoken.phonemes, spoken.starts, strict=True):
        parts = [part for part in name if part.isalpha()]
        said += [(part, start if at == 0 else None) for at, part in enumerate(parts)]
    matcher = SequenceMatcher(None, [s for _, s in letters], [s for s, _ in said], autojunk=False)
    found = []
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            begins = said[block.b + offset][1]
            if begins is not None:
                found.append((letters[block.a + offset][0], begins))
    return found
