"""A long clip cut at its pauses, text and sound together; or not at all, with the reason.

Nobody told us which word is spoken when, and a piece with the wrong text teaches the model wrong
words. So a clip is cut only where two witnesses agree: the marks of its transcript and the pauses
of its sound. They agree when there are exactly as many strong pauses as marks, each pause lies
where its mark should be by the share of letters before it, nearer to it than to any other mark,
and every stretch between two pauses is spoken at about the clip's own speed. Sentence ends are
tried first, then semicolons and colons, then commas. This module is pure: mels in, pieces out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEVELS = (".!?؟…。！？", ".!?؟…。！？;؛:—", ".!?؟…。！？;؛:—,،、")
"""Marks that are expected to be heard as pauses, in the order in which they are tried."""

PAUSE_SECONDS = 0.15
"""Shorter silences are closures of consonants, not pauses."""
QUIET_DB = 30.0
"""A pause is this far below the clip's loud frames."""
CLEAR = 0.75
"""The longest pause that is no mark may last this share of the shortest that is one."""
PLACE_TOLERANCE = 0.05
"""Of the clip's speech: how far a pause may lie from the place of its mark..."""
PLACE_TOLERANCE_SECONDS = 0.8
"""... and never farther than this."""
NEARER = 2.5
"""Another mark must be this many times as far from a pause as its own."""
SPEED_TOLERANCE = 0.3
"""How much faster or slower than the clip a stretch between two pauses may be spoken..."""
SPEED_SLACK_SECONDS = 0.25
"""... beside this, for short stretches."""
TOKEN_MARGIN = 0.95
"""Tokens of a piece are estimated from its letters; this share of the limit is used."""


@dataclass(frozen=True)
class Piece:
    """A part of a clip."""

    text: str
    first: int
    """Frame of the clip at which it begins."""
    frames: int


@dataclass(frozen=True)
class Limits:
    """The largest shape, and the length of a frame."""

    frames: int
    tokens: int
    frames_per_second: float


class NotSplit(Exception):
    """There is no cut that is certainly right; the message says why."""


@dataclass(frozen=True)
class _Sound:
    """Where a clip speaks and where it pauses."""

    frames: int
    pauses: list[tuple[int, int]]
    """(start, stop) in frames, in order, without the silences at the clip's two ends."""
    speech_before: np.ndarray
    """int64 [frames + 1], frames of speech before each frame: silence does not count."""

    @property
    def speech(self) -> int:
        return int(self.speech_before[-1])


def split(text: str, mels: np.ndarray, tokens: int, limits: Limits) -> tuple[Piece, ...]:
    """The fewest pieces of a clip that fit `limits`; `NotSplit` when no cut is safe.

    `text` is normalised (every mark is meant, every number is words), `mels` are log-mels
    [frames, n_mels], `tokens` is the length of the whole text.
    """
    sound = _listen(mels, limits.frames_per_second)
    every_mark = _places(_cut_text(text, LEVELS[-1]))
    reasons = []
    for marks in LEVELS:
        parts = _cut_text(text, marks)
        if len(parts) < 2:
            continue
        try:
            chosen = _strongest(sound.pauses, len(parts) - 1)
            _check_places(parts, every_mark, chosen, sound, limits)
            _check_speeds(parts, chosen, sound, limits)
            return _group(parts, chosen, sound, tokens, limits)
        except NotSplit as why:
            reasons.append(str(why))
    raise NotSplit(reasons[0] if reasons else "the transcript has no mark inside")


def _cut_text(text: str, marks: str) -> list[str]:
    """The text cut behind every word that ends in one of `marks`; every part has letters."""
    parts = [""]
    for word in text.split():
        if parts[-1] and parts[-1][-1] in marks and _letters(parts[-1]) and _letters(word):
            parts.append(word)
        else:
            parts[-1] = f"{parts[-1]} {word}".strip()
    return parts


def _letters(text: str) -> int:
    return sum(character.isalnum() for character in text)


def _places(parts: Sequence[str]) -> np.ndarray:
    """The share of letters before each inner boundary, float64 [len(parts) - 1]."""
    letters = np.cumsum([_letters(part) for part in parts])
    return letters[:-1] / max(1, letters[-1])


def _listen(mels: np.ndarray, frames_per_second: float) -> _Sound:
    level = 20 * np.log10(np.exp(mels.astype(np.float32)).mean(axis=1))  # dB, [frames]
    quiet = level < np.percentile(level, 95) - QUIET_DB
    edges = np.flatnonzero(np.diff(np.concatenate(([0], quiet.astype(np.int8), [0]))))
    pauses, speech = [], np.ones(len(mels), bool)
    for start, stop in edges.reshape(-1, 2).tolist():
        at_an_end = start == 0 or stop == len(mels)
        if at_an_end or stop - start >= PAUSE_SECONDS * frames_per_second:
            speech[start:stop] = False
            pauses += [] if at_an_end else [(start, stop)]
    return _Sound(len(mels), pauses, np.concatenate(([0], np.cumsum(speech))))


def _strongest(pauses: Sequence[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """The `count` longest pauses in their order, when no other comes near them in length."""
    by_length = sorted(pauses, key=lambda pause: pause[0] - pause[1])
    if len(by_length) < count:
        raise NotSplit(f"{count} marks in the transcript, {len(by_length)} pauses in the sound")
    lengths = [stop - start for start, stop in by_length]
    if len(by_length) > count and lengths[count] > CLEAR * lengths[count - 1]:
        raise NotSplit(f"{count} marks in the transcript, but more pauses of about their length")
    return sorted(by_length[:count])


def _check_places(
    parts: Sequence[str],
    every_mark: np.ndarray,
    chosen: Sequence[tuple[int, int]],
    sound: _Sound,
    limits: Limits,
) -> None:
    """Each pause is where its mark should be, and clearly nearer to it than to any other."""
    heard = np.array([sound.speech_before[start] for start, _ in chosen]) / sound.speech
    tolerance = PLACE_TOLERANCE_SECONDS * limits.frames_per_second / sound.speech
    for number, (place, pause) in enumerate(zip(_places(parts), heard, strict=True), start=1):
        error = abs(place - pause)
        if error > min(PLACE_TOLERANCE, tolerance):
            raise NotSplit(
                f"mark {number} is at {place:.0%} of the letters, its pause at {pause:.0%}"
            )
        others = np.abs(every_mark[every_mark != place] - pause)
        if len(others) and others.min() < NEARER * error:
            raise NotSplit(f"the pause at {pause:.0%} is between two marks")


def _check_speeds(
    parts: Sequence[str], chosen: Sequence[tuple[int, int]], sound: _Sound, limits: Limits
) -> None:
    """Every stretch between two pauses is spoken at about the clip's own speed."""
    letters = np.array([_letters(part) for part in parts])
    bounds = [0, *(sound.speech_before[start] for start, _ in chosen), sound.speech]
    spoken = np.diff(bounds)
    expected = letters * (sound.speech / letters.sum())
    slack = SPEED_TOLERANCE * expected + SPEED_SLACK_SECONDS * limits.frames_per_second
    wrong = np.flatnonzero(np.abs(spoken - expected) > slack)
    if len(wrong):
        raise NotSplit(f"part {wrong[0] + 1} would be spoken too fast or too slowly")


def _group(
    parts: Sequence[str],
    chosen: Sequence[tuple[int, int]],
    sound: _Sound,
    tokens: int,
    limits: Limits,
) -> tuple[Piece, ...]:
    """Neighbours joined into the fewest pieces that fit, the longest as short as possible.

    Cuts lie in the middle of pauses. best[j] = (pieces, longest, where the last begins) for the
    first j parts.
    """
    cuts = [0, *((start + stop) // 2 for start, stop in chosen), sound.frames]
    letters = np.concatenate(([0], np.cumsum([_letters(part) for part in parts])))
    most_letters = TOKEN_MARGIN * limits.tokens / tokens * letters[-1]
    best: list[tuple[int, int, int] | None] = [(0, 0, 0)]
    for j in range(1, len(cuts)):
        ways = []
        for i in range(j):
            before, frames = best[i], cuts[j] - cuts[i]
            fits = frames <= limits.frames and letters[j] - letters[i] <= most_letters
            if before is not None and fits:
                ways.append((before[0] + 1, max(before[1], frames), i))
        best.append(min(ways, default=None))
    pieces: list[Piece] = []
    j = len(parts)
    while j > 0:
        way = best[j]
        if way is None:
            raise NotSplit("a part between two pauses is itself beyond the largest shape")
        i = way[2]
        pieces.append(Piece(" ".join(parts[i:j]), cuts[i], cuts[j] - cuts[i]))
        j = i
    return tuple(reversed(pieces))
