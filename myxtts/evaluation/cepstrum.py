"""Mel-cepstral distortion (MCD), in dB: how far the timbre of two recordings is apart.

Cepstrum of a frame: the DCT-II of its natural-log mel magnitudes x (as `audio.mel` makes them),
scaled so that x[n] = c[0] / 2 + Σ c[k] · cos(π k (2n + 1) / 2N). Coefficients 1 to 13 count:
number 0 is loudness, and the high ones follow the harmonics of the voice's pitch.
Distortion of two frames: 10 / ln 10 · sqrt(2 · Σ (c₁[k] − c₂[k])²). In this scale it is the root
mean square, over the mel bins, of the difference of the two smoothed spectra in dB. The mean is
over the pairs of the warping path, or over frames that belong together already.

Silence counts like speech. Programs with other filters or cepstra give other figures: compare ours
with ours. What the same recording gives after the vocoder alone is the floor.
"""

from __future__ import annotations

import numpy as np
import scipy.fft

from myxtts.evaluation.warping import warp

COEFFICIENTS = 13
DECIBELS = 10.0 / np.log(10.0) * np.sqrt(2.0)


def mel_cepstrum(log_mel: np.ndarray, coefficients: int = COEFFICIENTS) -> np.ndarray:
    """Of natural-log mels [frames, n_mels], numbers 1 to `coefficients`: float64 [frames, …]."""
    bins = log_mel.shape[1]
    cepstrum = scipy.fft.dct(np.asarray(log_mel, np.float64), type=2, axis=1) / bins
    return cepstrum[:, 1 : coefficients + 1]


def mcd(a: np.ndarray, b: np.ndarray, coefficients: int = COEFFICIENTS) -> float:
    """Distortion in dB between two log-mel spectrograms of any lengths, warped onto each other."""
    first, second = mel_cepstrum(a, coefficients), mel_cepstrum(b, coefficients)
    return distortion(first, second, warp(first, second))


def aligned_mcd(a: np.ndarray, b: np.ndarray, coefficients: int = COEFFICIENTS) -> float:
    """Distortion in dB between log-mels [frames, n_mels] whose frames belong together already."""
    if a.shape != b.shape or len(a) == 0:
        raise ValueError(f"aligned_mcd expects equal shapes, received {a.shape} and {b.shape}")
    straight = np.arange(len(a))[:, None].repeat(2, axis=1)
    return distortion(mel_cepstrum(a, coefficients), mel_cepstrum(b, coefficients), straight)


def distortion(a: np.ndarray, b: np.ndarray, path: np.ndarray) -> float:
    """Mean distortion in dB of two mel cepstra along a path [length, 2] of pairs of frames."""
    apart = a[path[:, 0]] - b[path[:, 1]]
    return float(DECIBELS * np.sqrt((apart**2).sum(axis=1)).mean())
