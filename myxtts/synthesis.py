"""From text and a reference clip to sound.

A `Speaker` is a checkpoint ready to talk: it reads the text as the training did, lets the model
make mel frames in the reference's voice, and turns them into samples with Griffin-Lim. Training
and judging speech is others' business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from myxtts.audio.decode import AudioError
from myxtts.audio.griffin_lim import griffin_lim
from myxtts.audio.mel import log_mel
from myxtts.config import Config
from myxtts.data.recipe import Recipe
from myxtts.devices import require_tensorflow
from myxtts.errors import UsageError, UserError
from myxtts.text.languages import detect, language_id
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import checkpoint

PAUSE_SECONDS = 0.2
LONGEST_SENTENCE = 220  # characters; longer ones are cut at a comma or a space
FRAMES_PER_TOKEN = 16  # room that a sentence gets at first; doubled while it is too little
REFERENCE_FRAMES = 256
_SENTENCE_END = re.compile(r"(?<=[.!?؟…。！？])\s+|\n+")


class Speaker:
    """Speaks with the weights of one checkpoint, on TensorFlow's default device."""

    def __init__(self, path: Path) -> None:
        require_tensorflow()
        from myxtts.training import network

        found = checkpoint.load(path)
        self.config = Config.model_validate(found.info["config"])
        self.tokenizer = Tokenizer(self.config.data.text_units)
        network.check_vocabulary(found, self.tokenizer)
        self._mean, self._std = found.mel_statistics
        self._references = dict(
            zip(found.info["reference_languages"], found.arrays["references"], strict=True)
        )
        data = self.config.data
        self._recipe = Recipe.of(data)
        self.mel = self._recipe.mel
        self._model = network.build(
            self.config.model, self.tokenizer, data.n_mels, "float32", self.config.training.seed
        )
        network.restore(self._model.trainable_variables, found.arrays["model"], found, "weights")

    @property
    def languages(self) -> list[str]:
        """What the corpus of this checkpoint spoke."""
        return list(self._references)

    def say(
        self,
        text: str,
        *,
        language: str | None = None,
        reference: Path | None = None,
        speed: float = 1.0,
    ) -> np.ndarray:
        """Speak a text of any length: float32 samples at `mel.sample_rate`.

        Without `language` it is detected; without `reference` the voice is the corpus's own.
        """
        language = language or detect(text, self.languages)
        self._check(text, language, speed)
        voice = self._reference(reference, language)
        pause = np.zeros(int(PAUSE_SECONDS * self.mel.sample_rate), np.float32)
        parts: list[np.ndarray] = []
        for sentence in sentences(text):
            mels = self.mels(sentence, language, voice, speed)
            parts += [pause] if parts else []
            parts.append(griffin_lim(mels, self.mel))
        return np.concatenate(parts)

    def mels(self, sentence: str, language: str, voice: np.ndarray, speed: float) -> np.ndarray:
        """Natural-log mel frames `float32[frames, n_mels]` of one sentence in a voice."""
        ids = self.tokenizer.encode(sentence, language).ids.astype(np.int32)
        room = _round_up(int(len(ids) * FRAMES_PER_TOKEN / speed), 8)
        lengths = np.array([len(ids)], np.int32)
        reference = ((voice - self._mean) / self._std)[None]
        reference_lengths = np.array([len(voice)], np.int32)
        if not self.config.model.voice_conditioning:
            reference, reference_lengths = np.zeros_like(reference), np.zeros(1, np.int32)
        conditioned = self.config.model.language_conditioning
        code = np.array([language_id(language) if conditioned else 0], np.int32)
        while True:
            mels, frames = self._model.synthesize(
                ids[None], lengths, code, reference, reference_lengths, max_frames=room, speed=speed
            )
            count = int(frames[0])
            if count < room:
                return np.asarray(mels[0])[:count] * self._std + self._mean
            room *= 2

    def _check(self, text: str, language: str, speed: float) -> None:
        if not text.strip():
            raise UsageError("There is nothing to say", remedy='myxtts say "Hello."')
        if language not in self.languages:
            raise UsageError(
                f"This checkpoint does not speak {language}",
                received=f"language {language}",
                remedy=f"choose one of: {', '.join(self.languages)}",
            )
        if not 0.25 <= speed <= 4.0:
            raise UsageError(
                "The speed must be between 0.25 and 4", received=speed, remedy="--speed 1.0"
            )

    def _reference(self, path: Path | None, language: str) -> np.ndarray:
        """Mel frames of the voice to speak in, zero-padded to the length trained with."""
        if path is None:
            mels = self._references[language].astype(np.float32)
        else:
            try:
                mels = log_mel(self._recipe.samples(path), self.mel)
            except (AudioError, OSError) as error:
                raise UserError(
                    f"The reference clip {path} cannot be used: {error}",
                    remedy="give a clip of a few seconds: WAV, FLAC, OGG or MP3",
                ) from error
        mels = mels[:REFERENCE_FRAMES]
        return mels[: len(mels) // 4 * 4]


def sentences(text: str) -> Iterator[str]:
    """Cut a text at the ends of its sentences, and overlong sentences at commas or spaces."""
    for sentence in _SENTENCE_END.split(text.strip()):
        sentence = sentence.strip()
        while len(sentence) > LONGEST_SENTENCE:
            head = sentence[:LONGEST_SENTENCE]
            cut = max(head.rfind(", "), head.rfind("، ")) + 1 or head.rfind(" ") + 1
            cut = cut or LONGEST_SENTENCE
            yield sentence[:cut].strip()
            sentence = sentence[cut:].strip()
        if sentence:
            yield sentence


def _round_up(value: int, multiple: int) -> int:
    return -(-max(value, 1) // multiple) * multiple
