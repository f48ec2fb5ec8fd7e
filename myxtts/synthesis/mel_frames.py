"""Tokens and a voice to mel frames, many sentences at once, in a few static shapes.

Sentences of about the same length share a batch. Tokens, frames and rows are padded to the next
size of a short list, so that whatever is said, few different shapes reach the model. A shape that
keeps coming back is compiled, once; for a sentence or two, compiling would take longer than saying
them. Speech that fills its frames may be cut off: it is said again with more room, and when there
is no more, the caller is told.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from myxtts.text.languages import language_id
from myxtts.training.references import REFERENCE_FRAMES

if TYPE_CHECKING:
    from myxtts.models.xtts import XTTS

TOKENS = (32, 64, 96, 128, 192, 256)
FRAMES = (256, 512, 1024, 2048)
ROWS = (1, 2, 4, 8)
FRAMES_PER_TOKEN = 6.0
"""Room that a sentence gets at first; most need less."""
COMPILED_AFTER = 6
"""Times that a shape is used as it is; from then on, compiling it has paid."""
SPEED_TOLERANCE = 0.02
"""Durations are whole frames, at least one for each token, so a speed is not always met at once."""


class Shape(NamedTuple):
    """What a program is compiled for."""

    rows: int
    tokens: int
    frames: int


@dataclass(frozen=True, eq=False)
class Utterance:
    """Something to say in one breath."""

    ids: np.ndarray
    """int [tokens], at most `TOKENS[-1]`."""
    language: str
    voice: np.ndarray
    """float32 [frames, n_mels], natural-log mels, at most `REFERENCE_FRAMES`."""
    speed: float = 1.0


@dataclass(frozen=True, eq=False)
class Frames:
    """What the model said."""

    mels: np.ndarray
    """float32 [frames, n_mels], natural-log mels."""
    whole: bool
    """False: it filled the largest shape, so its end may be missing."""


class MelMaker:
    """Says utterances with one model; one thread at a time may use it."""

    def __init__(
        self,
        model: XTTS,
        mel_mean: np.ndarray,
        mel_std: np.ndarray,
        *,
        voice_conditioning: bool = True,
        language_conditioning: bool = True,
    ) -> None:
        self._model = model
        self._mean, self._std = mel_mean, mel_std
        self._voice_conditioning = voice_conditioning
        self._language_conditioning = language_conditioning
        self._uses: Counter[Shape] = Counter()
        self._programs: dict[Shape, Callable] = {}

    @property
    def compiled(self) -> list[Shape]:
        """The shapes that were compiled so far."""
        return list(self._programs)

    def say(self, utterances: Sequence[Utterance]) -> Iterator[tuple[int, Frames]]:
        """The frames of each utterance with its position, in the order in which they are ready."""
        changed: dict[int, Utterance] = {}
        wanted: dict[int, float] = {}
        for i, frames in self._run(dict(enumerate(_at_speed(u, 1.0) for u in utterances))):
            speed = utterances[i].speed
            if speed == 1.0 or not frames.whole:
                yield i, frames
            else:
                changed[i], wanted[i] = utterances[i], len(frames.mels) / speed
        again = {}
        for i, frames in self._run(changed):
            missed = len(frames.mels) / wanted[i]
            if abs(missed - 1) > SPEED_TOLERANCE and frames.whole:
                again[i] = _at_speed(changed[i], changed[i].speed * missed)
            else:
                yield i, frames
        yield from self._run(again)

    def _run(self, utterances: dict[int, Utterance]) -> Iterator[tuple[int, Frames]]:
        waiting: dict[tuple[int, int], list[int]] = defaultdict(list)  # (tokens, frames)
        for i, utterance in utterances.items():
            expected = len(utterance.ids) * FRAMES_PER_TOKEN / utterance.speed
            waiting[_fitting(TOKENS, len(utterance.ids)), _fitting(FRAMES, expected)].append(i)
        while waiting:
            tokens, room = key = min(waiting)
            rows, rest = waiting[key][: ROWS[-1]], waiting[key][ROWS[-1] :]
            if rest:
                waiting[key] = rest
            else:
                del waiting[key]
            shape = Shape(_fitting(ROWS, len(rows)), tokens, room)
            for i, frames in zip(
                rows, self._batch([utterances[i] for i in rows], shape), strict=True
            ):
                if frames.whole or room == FRAMES[-1]:
                    yield i, frames
                else:
                    waiting[tokens, _fitting(FRAMES, room + 1)].append(i)

    def _batch(self, utterances: Sequence[Utterance], shape: Shape) -> Iterator[Frames]:
        """The frames of a few utterances, padded to `shape`; further rows are empty."""
        n_mels = len(self._mean)
        tokens = np.zeros((shape.rows, shape.tokens), np.int32)
        token_lengths, languages, voice_lengths = np.zeros((3, shape.rows), np.int32)
        voices = np.zeros((shape.rows, REFERENCE_FRAMES, n_mels), np.float32)
        speeds = np.ones((shape.rows, 1), np.float32)  # beside [rows, tokens]
        for row, utterance in enumerate(utterances):
            token_lengths[row] = len(utterance.ids)
            tokens[row, : len(utterance.ids)] = utterance.ids
            speeds[row] = utterance.speed
            if self._language_conditioning:
                languages[row] = language_id(utterance.language)
            if self._voice_conditioning:
                voice_lengths[row] = len(utterance.voice)
                voices[row, : len(utterance.voice)] = (utterance.voice - self._mean) / self._std
        mels, lengths = self._program(shape)(
            tokens, token_lengths, languages, voices, voice_lengths, speed=speeds
        )
        mels, lengths = np.asarray(mels), np.asarray(lengths)
        for row in range(len(utterances)):
            spoken = mels[row, : lengths[row]] * self._std + self._mean
            yield Frames(spoken, whole=bool(lengths[row] < shape.frames))

    def _program(self, shape: Shape) -> Callable:
        """The model for one shape, compiled if the shape has come up often enough."""
        self._uses[shape] += 1
        if shape in self._programs:
            return self._programs[shape]

        synthesize = partial(self._model.synthesize, max_frames=shape.frames)
        if self._uses[shape] <= COMPILED_AFTER:
            return synthesize
        import tensorflow as tf

        self._programs[shape] = tf.function(synthesize)
        return self._programs[shape]


def _at_speed(utterance: Utterance, speed: float) -> Utterance:
    return replace(utterance, speed=speed)


def _fitting(sizes: Sequence[int], needed: float) -> int:
    """The smallest size that is large enough, or the largest there is."""
    return next((size for size in sizes if size >= needed), sizes[-1])
