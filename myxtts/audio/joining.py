"""Pieces of speech joined to one: set pauses, no clicks, nothing above the peak limit.

Between two pieces the stillness that each brings along is replaced by the pause asked for. Each
piece fades in and out over what stillness is kept at its sides, with equal power; where the pause
is shorter than both, they cross-fade. The two ends of the whole keep their length: only the last
milliseconds fade, so that the sound neither begins nor ends with a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from myxtts.audio.levels import speech_edges

KEPT_SECONDS = 0.03
"""Stillness kept beside speech at a joint: consonants begin softly. It holds the fade."""
SHORTEST_FADE_SECONDS = 0.005
"""At the ends, and for speech without any stillness beside it."""
PEAK_LIMIT = 10 ** (-1 / 20)
"""−1 dB of full scale: room for what a lossy format or a resampler adds."""


@dataclass(frozen=True)
class _Placed:
    """A piece with its fades, and the sample at which it begins in the whole."""

    samples: np.ndarray
    start: int


@dataclass(frozen=True)
class Joined:
    """The whole, and where each piece's speech begins in it."""

    samples: np.ndarray
    starts: list[int]


def join(parts: Sequence[np.ndarray], pauses: Sequence[float], sample_rate: int) -> Joined:
    """float32 pieces with `pauses[i]` seconds between the speech of i and that of i + 1."""
    edges = [_edges(part, sample_rate) for part in parts]
    kept = int(KEPT_SECONDS * sample_rate)
    shortest = int(SHORTEST_FADE_SECONDS * sample_rate)
    gaps = [round(pause * sample_rate) for pause in pauses[: len(parts) - 1]]
    placed: list[_Placed] = []
    speech_at = edges[0][0] if edges else 0  # in the whole, of the piece at hand
    starts = []
    for number, (part, (first, last)) in enumerate(zip(parts, edges, strict=True)):
        before = min(kept, gaps[number - 1]) if number else first
        after = min(kept, gaps[number]) if number < len(gaps) else len(part) - last
        begin, end = max(0, first - before), min(len(part), last + after)
        fade_in = first - begin if number else 0
        fade_out = end - last if number < len(gaps) else 0
        samples = _faded(part[begin:end], max(fade_in, shortest), max(fade_out, shortest))
        placed.append(_Placed(samples, speech_at - (first - begin)))
        starts.append(speech_at)
        speech_at += last - first + (gaps[number] if number < len(gaps) else 0)
    return Joined(_mixed(placed), starts)


def limited(samples: np.ndarray) -> np.ndarray:
    """The sound, turned down as a whole if its highest peak is above `PEAK_LIMIT`."""
    peak = float(np.abs(samples).max(initial=0.0))
    return samples if peak <= PEAK_LIMIT else samples * np.float32(PEAK_LIMIT / peak)


def _edges(part: np.ndarray, sample_rate: int) -> tuple[int, int]:
    """Where speech begins and ends in a piece; all of it, when nothing stands out."""
    first, last = speech_edges(part, sample_rate)
    return (first, last) if last > first else (0, len(part))


def _faded(part: np.ndarray, fade_in: int, fade_out: int) -> np.ndarray:
    """With a quarter of a sine at each end: what fades in and what fades out keep their power."""
    faded = np.array(part, np.float32)
    fade_in, fade_out = min(fade_in, len(part)), min(fade_out, len(part))
    faded[:fade_in] *= _rise(fade_in)
    faded[len(part) - fade_out :] *= _rise(fade_out)[::-1]
    return faded


def _rise(length: int) -> np.ndarray:
    return np.sin(np.arange(length, dtype=np.float32) * np.float32(np.pi / 2 / max(length, 1)))


def _mixed(placed: Sequence[_Placed]) -> np.ndarray:
    length = max((piece.start + len(piece.samples) for piece in placed), default=0)
    whole = np.zeros(length, np.float32)
    for piece in placed:
        whole[piece.start : piece.start + len(piece.samples)] += piece.samples
    return whole
