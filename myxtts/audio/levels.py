"""Edges and level of a clip: silence cut off at both ends, one loudness for every clip.

Both are decided from the energy of short frames, relative to the clip's own loudest: a recording's
noise is not speech, however loud the recording. Used while a corpus is prepared and for reference
clips; pauses inside a clip are left alone.
"""

from __future__ import annotations

import numpy as np

FRAME_SECONDS = 0.02
SPEECH_RANGE_DB = 40.0
"""Frames this far below the loudest one are silence."""
KEPT_SECONDS = 0.05
"""Silence left at both ends: consonants begin softly."""
LARGEST_PEAK = 0.99
"""A gain stops here: a clipped clip is worse than a quiet one."""

_NOTHING = 1e-10  # power of digital silence, so that it has a level


def trim_silence(samples: np.ndarray, sample_rate: int) -> np.ndarray:
    """The clip without silence at its ends, float32; a clip that is silent throughout as it is."""
    start, stop = speech_edges(samples, sample_rate)
    if start == stop:
        return samples
    kept = int(KEPT_SECONDS * sample_rate)
    return samples[max(0, start - kept) : stop + kept]


def speech_edges(samples: np.ndarray, sample_rate: int) -> tuple[int, int]:
    """The samples from which and up to which there is speech; twice 0 when there is none."""
    frame = int(FRAME_SECONDS * sample_rate)
    speech = np.flatnonzero(_is_speech(samples, frame))
    if len(speech) == 0:
        return 0, 0
    return int(speech[0]) * frame, min(len(samples), (int(speech[-1]) + 1) * frame)


def loudness(samples: np.ndarray, sample_rate: int) -> float:
    """Mean level of the frames that hold speech, in dB below full scale; -inf for silence."""
    frame = int(FRAME_SECONDS * sample_rate)
    power = _power(samples, frame)[_is_speech(samples, frame)]
    return float(10 * np.log10(power.mean())) if len(power) else float("-inf")


def with_loudness(samples: np.ndarray, sample_rate: int, target: float) -> np.ndarray:
    """The clip at a loudness of `target` dB, or as near as its largest peak allows, float32."""
    level = loudness(samples, sample_rate)
    if level == float("-inf"):
        return samples
    gain = min(10 ** ((target - level) / 20), LARGEST_PEAK / float(np.abs(samples).max()))
    return samples * np.float32(gain)


def _is_speech(samples: np.ndarray, frame: int) -> np.ndarray:
    power = _power(samples, frame)
    if len(power) == 0 or power.max() <= _NOTHING:
        return np.zeros(len(power), bool)
    return power > max(_NOTHING, power.max() * 10 ** (-SPEECH_RANGE_DB / 10))


def _power(samples: np.ndarray, frame: int) -> np.ndarray:
    """Mean power of every frame, float64; a shorter one at the end counts with its own length."""
    if len(samples) == 0:
        return np.zeros(0)
    starts = np.arange(0, len(samples), frame)
    lengths = np.diff(np.append(starts, len(samples)))
    return np.add.reduceat(np.square(samples, dtype=np.float64), starts) / lengths
