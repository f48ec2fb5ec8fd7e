"""The pitch of a voice, frame by frame, and how far the pitch of two recordings is apart.

The tracker is YIN (de Cheveigné and Kawahara, 2002): the shortest shift at which the signal is
nearly its own copy is its period. A frame is voiced when the copy is good, the frame is not
silent, and its pitch does not jump away from its neighbours'. Frames are those of `audio.mel`: the
same hop, the same centres, the same number.
"""

from __future__ import annotations

import numpy as np
import scipy.fft

LOWEST_HZ = 60.0
HIGHEST_HZ = 500.0
CENTS_PER_OCTAVE = 1200.0

_GOOD_COPY = 0.15  # the first dip below this is taken, even if a deeper one follows an octave lower
_VOICED = 0.35  # what differs from the copy; above it there is no period worth the name
_SILENCE_DB = -40.0  # below the loudest frame
_NEIGHBOURS = 4  # frames on either side
_LARGEST_JUMP = 0.4  # octaves from the neighbours' median: trackers slip by a whole one


def track(samples: np.ndarray, sample_rate: int, hop: int) -> np.ndarray:
    """Pitch in Hz of every frame, float64 [len(samples) // hop]; 0 where there is no voice."""
    frames = len(samples) // hop
    if frames == 0:
        return np.zeros(0)
    shortest, longest = int(sample_rate / HIGHEST_HZ), int(np.ceil(sample_rate / LOWEST_HZ))
    segments = _segments(np.asarray(samples, np.float64), frames, hop, 3 * longest)
    differing = _difference_to_copies(segments, longest + 1)
    period = _dip(differing, shortest, longest)
    rows = np.arange(frames)
    power = np.square(segments).mean(axis=1)
    loud = power > max(float(power.max()) * 10 ** (_SILENCE_DB / 10), 1e-10)
    voiced = loud & (differing[rows, period] < _VOICED)
    return _steady(np.where(voiced, sample_rate / _between_samples(differing, period), 0.0))


def pitch_errors(a: np.ndarray, b: np.ndarray, path: np.ndarray) -> tuple[float | None, float]:
    """Along a path [length, 2] of pairs of frames: root mean square in cents, and voicing error.

    The first is over pairs voiced on both sides, None when there is no such pair; a slip of an
    octave counts in full. The second is the share of pairs with a voice on one side only.
    """
    first, second = a[path[:, 0]], b[path[:, 1]]
    both = (first > 0) & (second > 0)
    voicing = float(((first > 0) != (second > 0)).mean())
    if not both.any():
        return None, voicing
    cents = CENTS_PER_OCTAVE * np.log2(first[both] / second[both])
    return float(np.sqrt((cents**2).mean())), voicing


def _segments(samples: np.ndarray, frames: int, hop: int, length: int) -> np.ndarray:
    """What is around the middle of each frame, [frames, length]; silence beyond the ends."""
    signal = np.pad(samples, (length // 2, length))
    return np.lib.stride_tricks.sliding_window_view(signal, length)[hop // 2 :: hop][:frames]


def _difference_to_copies(segments: np.ndarray, shifts: int) -> np.ndarray:
    """YIN's normalised difference for shifts 0 to `shifts`, [frames, shifts + 1].

    The window is all of a segment but the last `shifts` samples; 0 is a perfect copy, and 1 is the
    mean of all shorter shifts.
    """
    length = segments.shape[1]
    window = length - shifts
    size = scipy.fft.next_fast_len(length, real=True)
    spectra = scipy.fft.rfft(segments, size, axis=1)
    of_window = scipy.fft.rfft(segments[:, :window], size, axis=1)
    products = scipy.fft.irfft(spectra * of_window.conj(), size, axis=1)[:, : shifts + 1]
    summed = np.cumsum(np.pad(segments**2, ((0, 0), (1, 0))), axis=1)
    energy = summed[:, window : window + shifts + 1] - summed[:, : shifts + 1]
    difference = np.maximum(energy[:, :1] + energy - 2.0 * products, 0.0)
    difference[:, 0] = 0.0
    shift = np.arange(shifts + 1)
    mean = np.cumsum(difference, axis=1) / np.maximum(shift, 1)
    normalised = difference / np.maximum(mean, 1e-12)
    normalised[:, 0] = 1.0
    return normalised


def _dip(differing: np.ndarray, shortest: int, longest: int) -> np.ndarray:
    """The period in whole samples, int [frames]: the first good dip, otherwise the deepest."""
    inside = differing[:, shortest : longest + 1]
    before = differing[:, shortest - 1 : longest]
    after = differing[:, shortest + 1 : longest + 2]
    good = (inside < _GOOD_COPY) & (inside <= before) & (inside < after)
    return shortest + np.where(good.any(axis=1), good.argmax(axis=1), inside.argmin(axis=1))


def _between_samples(differing: np.ndarray, period: np.ndarray) -> np.ndarray:
    """The lowest point of the parabola through a dip and its neighbours, in samples."""
    rows = np.arange(len(period))
    before, at, after = (differing[rows, period + step] for step in (-1, 0, 1))
    bend = before - 2.0 * at + after
    shift = np.where(bend > 0, 0.5 * (before - after) / np.where(bend > 0, bend, 1.0), 0.0)
    return period + np.clip(shift, -1.0, 1.0)


def _steady(pitch: np.ndarray) -> np.ndarray:
    """The same without frames that jump away from the voiced ones around them."""
    voiced = np.flatnonzero(pitch)
    octaves = np.full(len(pitch) + 2 * _NEIGHBOURS, np.nan)
    octaves[voiced + _NEIGHBOURS] = np.log2(pitch[voiced])
    around = np.lib.stride_tricks.sliding_window_view(octaves, 2 * _NEIGHBOURS + 1)[voiced]
    jump = np.abs(octaves[voiced + _NEIGHBOURS] - np.nanmedian(around, axis=1))
    steady = pitch.copy()
    steady[voiced[jump > _LARGEST_JUMP]] = 0.0
    return steady
