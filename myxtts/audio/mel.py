"""Log-mel spectrograms: what the model learns and the vocoders read.

Magnitudes (not power) on the Slaney mel scale with Slaney's area normalisation, as librosa's
defaults and as the published vocoders for 22,050 Hz expect. This module works on one clip, in
NumPy; batches on a device are not its business.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.fft
import scipy.signal


@dataclass(frozen=True)
class MelSettings:
    """Everything that changes the numbers of a spectrogram."""

    sample_rate: int = 22050
    """Hz."""
    n_fft: int = 1024
    """Samples in one analysis window."""
    hop: int = 256
    """Samples from one frame to the next."""
    n_mels: int = 80
    fmin: float = 0.0
    """Hz, lower edge of the first filter."""
    fmax: float = 8000.0
    """Hz, upper edge of the last filter."""
    floor: float = 1e-5
    """The smallest magnitude, so that silence has a logarithm."""


FILTERS_PER_BAND = 8
FRAMES_AT_ONCE = 64
WIDEST_SINGLE_RANGE = 3e4
"""Frames whose loudest mel is more than this times their quietest need double precision."""

# Slaney's scale: linear to 1 kHz, 15 mels there; then 27 mels for each factor of 6.4.
_HZ_PER_MEL = 200.0 / 3
_BREAK_HZ = 1000.0
_BREAK_MEL = _BREAK_HZ / _HZ_PER_MEL
_LOG_STEP = np.log(6.4) / 27.0


def _hz_to_mel(hz: float) -> float:
    if hz < _BREAK_HZ:
        return hz / _HZ_PER_MEL
    return float(_BREAK_MEL + np.log(hz / _BREAK_HZ) / _LOG_STEP)


def _mel_to_hz(mel: np.ndarray) -> np.ndarray:
    above = _BREAK_HZ * np.exp(_LOG_STEP * (mel - _BREAK_MEL))
    return np.where(mel < _BREAK_MEL, mel * _HZ_PER_MEL, above)


@lru_cache(maxsize=8)
def mel_filterbank(settings: MelSettings) -> np.ndarray:
    """Triangles of equal area, float32 [n_mels, n_fft // 2 + 1]. Shared: do not write to it."""
    bins = np.linspace(0.0, settings.sample_rate / 2, settings.n_fft // 2 + 1)
    low, high = _hz_to_mel(settings.fmin), _hz_to_mel(settings.fmax)
    edges = _mel_to_hz(np.linspace(low, high, settings.n_mels + 2))  # [n_mels + 2] in Hz
    lower, centre, upper = (edges[i : i + settings.n_mels, None] for i in range(3))
    rising = (bins - lower) / (centre - lower)
    falling = (upper - bins) / (upper - centre)
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    filters = (triangles * 2.0 / (upper - lower)).astype(np.float32)
    filters.setflags(write=False)
    return filters


@lru_cache(maxsize=8)
def _bands(settings: MelSettings) -> tuple[tuple[slice, slice, np.ndarray], ...]:
    """The filterbank cut into neighbours, each with only the bins it touches.

    Most of the whole matrix is zero: one product with it costs several times more, and is large
    enough for BLAS to start threads that fight with those preparing other clips.
    """
    filters = mel_filterbank(settings)
    bands = []
    for first in range(0, settings.n_mels, FILTERS_PER_BAND):
        rows = slice(first, min(first + FILTERS_PER_BAND, settings.n_mels))
        touched = np.flatnonzero(filters[rows].any(axis=0))
        bins = slice(int(touched[0]), int(touched[-1]) + 1) if len(touched) else slice(0, 0)
        bands.append((rows, bins, np.ascontiguousarray(filters[rows, bins].T)))
    return tuple(bands)


@lru_cache(maxsize=8)
def analysis_window(n_fft: int) -> np.ndarray:
    """The periodic Hann window, float32 [n_fft]. Shared: do not write to it."""
    window = _exact_window(n_fft).astype(np.float32)
    window.setflags(write=False)
    return window


@lru_cache(maxsize=8)
def _exact_window(n_fft: int) -> np.ndarray:
    """The same in double precision."""
    window = np.asarray(scipy.signal.get_window("hann", n_fft, fftbins=True))
    window.setflags(write=False)
    return window


def stft(signal: np.ndarray, settings: MelSettings) -> np.ndarray:
    """Spectra of an already padded signal, complex64 [frames, n_fft // 2 + 1]."""
    frames = np.lib.stride_tricks.sliding_window_view(signal, settings.n_fft)[:: settings.hop]
    return scipy.fft.rfft(frames * analysis_window(settings.n_fft), axis=1)


def padded(samples: np.ndarray, settings: MelSettings) -> np.ndarray:
    """The signal continued at both ends, so that the first and last frames have whole windows."""
    padding = (settings.n_fft - settings.hop) // 2
    # A reflection needs one sample more than it copies; a shorter clip is continued by silence.
    if len(samples) <= padding:
        return np.pad(samples, padding)
    before, after = samples[padding:0:-1], samples[-2 : -padding - 2 : -1]
    return np.concatenate([before, samples, after])


def log_mel(samples: np.ndarray, settings: MelSettings) -> np.ndarray:
    """Natural logarithm of the mel magnitudes, float32 [len(samples) // hop, n_mels]."""
    signal = np.asarray(samples, np.float32)
    if signal.ndim != 1:
        raise ValueError(f"log_mel expects one mono signal [samples], received {signal.shape}")
    if len(signal) < settings.hop:
        return np.zeros((0, settings.n_mels), np.float32)
    return log_mel_of_padded(padded(signal, settings), settings)


def log_mel_of_padded(signal: np.ndarray, settings: MelSettings) -> np.ndarray:
    """The same from a signal that `padded` continued already, float32 [frames, n_mels].

    A few frames at a time, so that they stay in the cache. In single precision, a third of the
    time of double, except where that shows: rounding is relative to a frame's loudest bin, and the
    logarithm makes it visible in the quiet ones.
    """
    frames = np.lib.stride_tricks.sliding_window_view(signal, settings.n_fft)[:: settings.hop]
    mel = _mels(frames, settings, analysis_window(settings.n_fft))
    bins = mel.T.copy()  # reductions along the short axis are several times slower
    wide = np.flatnonzero(bins.max(axis=0) > np.float32(WIDEST_SINGLE_RANGE) * bins.min(axis=0))
    if len(wide):
        mel[wide] = _mels(frames[wide], settings, _exact_window(settings.n_fft))
    return np.log(mel, out=mel)


def _mels(frames: np.ndarray, settings: MelSettings, window: np.ndarray) -> np.ndarray:
    """Mel magnitudes of `frames [n, n_fft]`, float32 [n, n_mels]; FFT in the window's precision."""
    bands = _bands(settings)
    used = max(bins.stop for _, bins, _ in bands)  # no filter looks at the bins above
    magnitudes = np.empty((len(frames), used), np.float32)
    windowed = np.empty((FRAMES_AT_ONCE, settings.n_fft), window.dtype)
    for first in range(0, len(frames), FRAMES_AT_ONCE):
        some = frames[first : first + FRAMES_AT_ONCE]
        spectra = scipy.fft.rfft(np.multiply(some, window, out=windowed[: len(some)]), axis=1)
        np.abs(spectra[:, :used], out=magnitudes[first : first + FRAMES_AT_ONCE])
    mel = np.empty((len(frames), settings.n_mels), np.float32)
    for filters, bins, weights in bands:
        np.matmul(magnitudes[:, bins], weights, out=mel[:, filters])
    return np.maximum(mel, np.float32(settings.floor), out=mel)
