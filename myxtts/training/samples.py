"""What the model sounds like so far: one sentence in every language of the corpus.

A `Rehearsal` picks one clip of each language, held out of training where it can, and always the
same ones, so that a run's samples can be compared. It lets a model say their sentences in the
voices of their references, and `keep` puts what was said where people find it. Sound is made by
Griffin-Lim. Speaking any text with a finished model is `myxtts.synthesis`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from myxtts.audio.decode import write_wav
from myxtts.audio.griffin_lim import griffin_lim
from myxtts.audio.mel import MelSettings
from myxtts.models.xtts import XTTS
from myxtts.text.languages import LANGUAGES
from myxtts.training.batch_path import BatchPath
from myxtts.training.corpus import TrainingData
from myxtts.training.preprocess import Batch
from myxtts.training.tensorboard import EventFile

ROOM = 2
"""Frames that a sentence may take, as a multiple of its clip's shape; cut there."""

_RULE = 2
"""Pixels of the white line between two spectrograms."""


@dataclass(frozen=True)
class Sample:
    """A sentence as the model says it now, beside the clip it should be like."""

    language: str
    clip: str
    text: str
    target: np.ndarray
    """`float32[frames, M]`, natural-log mels of the clip."""
    predicted: np.ndarray
    """`float32[frames, M]`, of the model, with its own durations."""
    alignment: np.ndarray
    """`int32[frames]`: the token that training gives each frame of the clip to."""
    tokens: int
    samples: np.ndarray
    """float32, the predicted mels as sound."""


@dataclass(frozen=True)
class _Line:
    """One language's sentence: a batch of one row on the model's device."""

    language: str
    clip: str
    text: str
    batch: Batch


class Rehearsal:
    """Says the same sentences whenever it is asked, with the weights of that moment."""

    def __init__(
        self,
        model: XTTS,
        data: TrainingData,
        path: BatchPath,
        device: str,
        statistics: tuple[np.ndarray, np.ndarray],
    ) -> None:
        self._device = device
        self._mean, self._std = statistics
        self._mel: MelSettings = data.prepared.store.recipe.mel
        self._lines = list(_lines(data, path))
        self._align = tf.function(model.alignment)
        self._speak = tf.function(self._synthesize)
        self._model = model

    @property
    def sample_rate(self) -> int:
        """Of the samples' sound."""
        return self._mel.sample_rate

    def __iter__(self) -> Iterator[Sample]:
        for line in self._lines:
            yield self._say(line)

    def _say(self, line: _Line) -> Sample:
        batch = line.batch
        with tf.device(self._device):
            mels, frames = self._speak(batch)
            alignment = self._align(batch).numpy()[0]
        length = int(batch["mel_lengths"][0])
        predicted = self._log_mels(mels[0][: int(frames[0])])
        return Sample(
            language=line.language,
            clip=line.clip,
            text=line.text,
            target=self._log_mels(batch["mels"][0][:length]),
            predicted=predicted,
            alignment=alignment[:length],
            tokens=int(batch["token_lengths"][0]),
            samples=griffin_lim(predicted, self._mel),
        )

    def _synthesize(self, batch: Batch) -> Any:
        return self._model.synthesize(
            batch["tokens"],
            batch["token_lengths"],
            batch["language"],
            batch["reference"],
            batch["reference_lengths"],
            max_frames=ROOM * batch["mels"].shape[1],
        )

    def _log_mels(self, scored: Any) -> np.ndarray:
        return scored.numpy() * self._std + self._mean


def keep(samples: Iterable[Sample], rate: int, folder: Path, board: EventFile, step: int) -> Path:
    """Write each sample's sound and its pictures; returns the folder of this step's WAV files."""
    spoken = folder / f"step-{step:08d}"
    for sample in samples:
        name = sample.language
        write_wav(spoken / f"{name}.wav", sample.samples, rate)
        board.sound(step, f"speech/{name}", sample.samples, rate)
        board.image(step, f"mels/{name} (clip above, model below)", mels_picture(sample))
        board.image(step, f"alignment/{name}", alignment_picture(sample))
    return spoken


def mels_picture(sample: Sample) -> np.ndarray:
    """Both spectrograms, the clip's above: time to the right, pitch upwards, `float[H, W]`."""
    low, high = np.percentile(sample.target, [2, 99.5])
    width = max(len(sample.target), len(sample.predicted))
    shown = []
    for mels in (sample.target, sample.predicted):
        picture = np.zeros((mels.shape[1], width), np.float32)
        picture[:, : len(mels)] = ((mels - low) / max(high - low, 1e-6)).T[::-1]
        shown.append(picture)
    return np.concatenate([shown[0], np.ones((_RULE, width), np.float32), shown[1]])


def alignment_picture(sample: Sample) -> np.ndarray:
    """Tokens upwards, the clip's frames to the right, `float[tokens, frames]`."""
    tokens = np.arange(sample.tokens)[::-1, None]
    return (sample.alignment == tokens).astype(np.float32)


def _lines(data: TrainingData, path: BatchPath) -> Iterator[_Line]:
    """The first clip of each language, held out of training where the language has such."""
    missing = set(data.prepared.language.tolist())
    for corpus, loader in data.sides:
        for step in range(loader.batches_per_epoch if missing else 0):
            for position, row in enumerate(loader.plan(step).rows):
                language = int(corpus.language[row])
                if language not in missing:
                    continue
                missing.remove(language)
                whole = path.at_once(loader.load(step))
                batch = {name: tensor[position : position + 1] for name, tensor in whole.items()}
                code = list(LANGUAGES)[language]
                yield _Line(code, corpus.clip_ids[row], corpus.texts[row], batch)
