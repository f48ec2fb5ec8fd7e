"""What can be wrong with the clips of a corpus: pure rules over what was read and measured.

Each rule takes the clips that `corpus_check` looked at and gives problems. `prepare` leaves `lost`
clips out; `harmed` ones are trained on and teach something wrong; the rest is advice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from myxtts.config import DataConfig
from myxtts.data.corpora.clip import Clip, Refused
from myxtts.data.recording import Recording

Effect = Literal["lost", "harmed", "advice"]

SILENT = -50.0
"""dB below full scale; the loudest 25 ms of a silent clip are quieter."""
CLIPPED = 1e-3
"""Share of samples in flat tops; a peak that just touches full scale has far fewer."""
SHORTEST = 0.3
"""Seconds; hardly a syllable."""
MUCH_TOO_LONG = 2
"""Times `max_mel_frames`; with `long_clips: extend` one such clip makes a shape of its own."""
FAR = 5.0
"""Robust z-score from which a rate of speech is an error rather than a manner of speaking."""

_ENDS = 2  # tokens that mark beginning and end, and take no time
_FEWEST_TO_COMPARE = 20
_NARROWEST = 0.08  # of the median deviation of log rates: even one calm speaker varies this much
_NORMAL = 0.6745  # makes a median deviation comparable to a standard deviation


@dataclass(frozen=True)
class Problem:
    """One thing wrong, and where."""

    kind: str
    effect: Effect
    file: Path
    line: int
    clip: str
    detail: str


@dataclass(frozen=True)
class Examined:
    """A clip with what its text and its audio turned out to be."""

    clip: Clip
    language: str
    tokens: int
    """0 when the language is unknown."""
    unknown: Counter[str]
    recording: Recording
    seconds: float
    frames: int


def problems(
    examined: Sequence[Examined], refused: Iterable[Refused], data: DataConfig
) -> list[Problem]:
    """Every problem, in the order of the files and lines."""
    found = [
        Problem(
            "unreadable line", "lost", item.source, item.line, "", f"{item.rule} ({item.received})"
        )
        for item in refused
    ]
    found += _audio(examined)
    found += _length(examined, data)
    found += _text(examined)
    found += _fit(examined)
    found += _duplicates(examined)
    return sorted(found, key=lambda problem: (str(problem.file), problem.line))


def _of(item: Examined, kind: str, effect: Effect, detail: str) -> Problem:
    return Problem(kind, effect, item.clip.source, item.clip.line, item.clip.id, detail)


def _audio(examined: Sequence[Examined]) -> Iterator[Problem]:
    for item in examined:
        heard = item.recording
        if heard.reason:
            kind = "missing" if heard.missing else "unreadable"
            yield _of(item, kind, "lost", f"{item.clip.audio}: {heard.reason}")
        elif heard.loudest < SILENT:
            yield _of(item, "silent", "harmed", f"nothing above {heard.loudest:.0f} dB")
        elif heard.clipped > CLIPPED:
            yield _of(item, "clipped", "harmed", f"{heard.clipped:.1%} of the samples")


def _length(examined: Sequence[Examined], data: DataConfig) -> Iterator[Problem]:
    largest = f"{data.max_text_length} tokens and {data.max_mel_frames} frames"
    for item in examined:
        length = f"{item.seconds:.2f} s, {item.tokens} tokens, {item.frames} frames"
        too_long = item.tokens > data.max_text_length or item.frames > data.max_mel_frames
        if item.recording.reason:
            continue
        if item.frames == 0:
            yield _of(item, "too short", "lost", "shorter than one frame")
        elif item.seconds < SHORTEST:
            yield _of(item, "too short", "harmed", length)
        elif too_long and data.long_clips == "refuse":
            yield _of(item, "too long", "lost", f"{length}; long_clips refuses over {largest}")
        elif item.frames > MUCH_TOO_LONG * data.max_mel_frames:
            yield _of(item, "too long", "advice", f"{length}; the largest shape is {largest}")


def _text(examined: Sequence[Examined]) -> Iterator[Problem]:
    for item in examined:
        text = item.clip.text
        if not text:
            yield _of(item, "empty text", "lost", "no transcript")
        elif not any(character.isalnum() for character in text):
            yield _of(item, "empty text", "harmed", f"no word in: {text[:40]}")
        elif not item.language:
            yield _of(item, "unknown language", "lost", str(item.clip.language))
        if item.unknown:
            shown = " ".join(f"{symbol!r} ({count})" for symbol, count in item.unknown.items())
            yield _of(item, "unknown characters", "harmed", shown[:200])


def _fit(examined: Sequence[Examined]) -> Iterator[Problem]:
    """A transcript far longer or shorter than the speech is another clip's, or cut off."""
    by_language: dict[str, list[Examined]] = defaultdict(list)
    for item in examined:
        if item.tokens > item.frames > 0:
            detail = f"{item.tokens} tokens in {item.frames} frames"
            yield _of(item, "transcript does not fit", "lost", detail)
        elif item.tokens > _ENDS and item.frames and item.recording.loudest >= SILENT:
            by_language[item.language].append(item)
    for items in by_language.values():
        if len(items) >= _FEWEST_TO_COMPARE:
            yield from _outliers(items)


def _outliers(items: Sequence[Examined]) -> Iterator[Problem]:
    rates = np.array([(item.tokens - _ENDS) / item.seconds for item in items])
    logs = np.log(rates)
    middle = np.median(logs)
    spread = max(float(np.median(np.abs(logs - middle))), _NARROWEST) / _NORMAL
    scores = (logs - middle) / spread
    for row in np.flatnonzero(np.abs(scores) > FAR).tolist():
        detail = (
            f"{rates[row]:.1f} tokens a second; the median of {items[row].language} is "
            f"{np.exp(middle):.1f} (z {scores[row]:+.1f})"
        )
        yield _of(items[row], "transcript does not fit", "harmed", detail)


def _duplicates(examined: Sequence[Examined]) -> Iterator[Problem]:
    ids: dict[str, Examined] = {}
    audio: dict[bytes, Examined] = {}
    said: dict[tuple[str, str], Examined] = {}
    for item in examined:
        clip, digest = item.clip, item.recording.digest
        if (first := ids.setdefault(clip.id, item)) is not item:
            yield _of(item, "duplicate", "lost", f"the same id as {_place(first)}, which is used")
            continue
        if digest and (first := audio.setdefault(digest, item)) is not item:
            same = first.clip.text == clip.text
            detail = f"the same audio as {_place(first)}" + (
                "" if same else ", with another transcript"
            )
            yield _of(item, "duplicate", "advice" if same else "harmed", detail)
            continue
        if clip.text and (first := said.setdefault((clip.speaker, clip.text), item)) is not item:
            yield _of(item, "duplicate", "advice", f"the same speaker and text as {_place(first)}")


def _place(item: Examined) -> str:
    return f"{item.clip.id} ({item.clip.source.name}:{item.clip.line})"
