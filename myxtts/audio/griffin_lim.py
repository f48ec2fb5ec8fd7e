"""Log-mel spectrograms back to sound, without a trained vocoder.

First the linear magnitudes are estimated from the mel magnitudes (non-negative least squares by
multiplicative updates), then their phase (Griffin and Lim's iteration with momentum). The start
is a fixed random phase: the same spectrogram always gives the same samples.
"""

from __future__ import annotations

import numpy as np
import scipy.fft

from myxtts.audio.mel import MelSettings, analysis_window, mel_filterbank, stft

_INVERSION_STEPS = 20
_PHASE_SEED = 0
_TINY = np.float32(1e-8)


def griffin_lim(
    log_mel: np.ndarray, settings: MelSettings, iterations: int = 32, momentum: float = 0.99
) -> np.ndarray:
    """Samples, float32 [frames * hop], for a spectrogram [frames, n_mels] made by `log_mel`."""
    frames = len(log_mel)
    if frames == 0:
        return np.zeros(0, np.float32)
    magnitudes = _linear_magnitudes(np.exp(np.asarray(log_mel, np.float32)), settings)
    overlap = _overlap_of_windows(frames, settings)
    turns = np.random.default_rng(_PHASE_SEED).random(magnitudes.shape, np.float32)
    spectra = magnitudes * np.exp(np.complex64(2j * np.pi) * turns)
    previous = np.zeros_like(spectra)
    for _ in range(iterations):
        consistent = stft(_inverse_stft(spectra, overlap, settings), settings)
        ahead = consistent + np.float32(momentum) * (consistent - previous)
        previous = consistent
        spectra = magnitudes * (ahead / np.maximum(np.abs(ahead), _TINY))
    padding = (settings.n_fft - settings.hop) // 2
    padded = _inverse_stft(spectra, overlap, settings)
    return padded[padding : padding + frames * settings.hop]


def _linear_magnitudes(mel: np.ndarray, settings: MelSettings) -> np.ndarray:
    """[frames, n_mels] to [frames, bins]: the least squares solution that is nowhere negative."""
    filters = mel_filterbank(settings)
    target = mel @ filters
    estimate = np.maximum(mel @ np.linalg.pinv(filters).T, np.float32(1e-6))
    for _ in range(_INVERSION_STEPS):
        estimate *= target / (estimate @ filters.T @ filters + _TINY)
    return estimate


def _inverse_stft(spectra: np.ndarray, overlap: np.ndarray, settings: MelSettings) -> np.ndarray:
    """The signal, with its padding, whose spectra are nearest to these."""
    pieces = scipy.fft.irfft(spectra, settings.n_fft, axis=1) * analysis_window(settings.n_fft)
    return _overlap_add(pieces, settings.hop) / overlap


def _overlap_of_windows(frames: int, settings: MelSettings) -> np.ndarray:
    squared = analysis_window(settings.n_fft) ** 2
    total = _overlap_add(np.tile(squared, (frames, 1)), settings.hop)
    # At both ends the windows fade out: there is nothing to divide by, and it is cut off later.
    return np.maximum(total, np.float32(1e-2))


def _overlap_add(pieces: np.ndarray, hop: int) -> np.ndarray:
    """[frames, n_fft] to [n_fft + (frames - 1) * hop]: each piece one hop after the last."""
    frames, length = pieces.shape
    blocks = -(-length // hop)
    padded = np.pad(pieces, ((0, 0), (0, blocks * hop - length))).reshape(frames, blocks, hop)
    total = np.zeros((frames + blocks - 1, hop), np.float32)
    for block in range(blocks):
        total[block : block + frames] += padded[:, block]
    return total.reshape(-1)[: length + (frames - 1) * hop]
