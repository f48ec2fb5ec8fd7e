"""Log-mel spectrograms back to sound, without a trained vocoder.

First the linear magnitudes are estimated from the mel magnitudes (non-negative least squares by
multiplicative updates), then their phase (Griffin and Lim's iteration with momentum). It starts
from a random phase of a fixed seed: the same spectrogram always gives the same samples. What holds
for every vocoder is in `vocoder`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.fft
import scipy.sparse

from myxtts.audio.mel import MelSettings, analysis_window, mel_filterbank, stft

ITERATIONS = 32
MOMENTUM = 0.99
_INVERSION_STEPS = 40
_TINY = np.float32(1e-8)


class GriffinLim:
    """The vocoder that always works: it fits every kind of mel spectrogram and has no weights."""

    name = "griffin-lim"

    def __init__(self, settings: MelSettings, seed: int = 0) -> None:
        self.settings = settings
        self._seed = seed

    def __call__(self, log_mel: np.ndarray) -> np.ndarray:
        """float32 [frames, n_mels] -> float32 [frames * hop]. May be called in any thread."""
        return griffin_lim(log_mel, self.settings, seed=self._seed)


def griffin_lim(
    log_mel: np.ndarray,
    settings: MelSettings,
    iterations: int = ITERATIONS,
    momentum: float = MOMENTUM,
    seed: int = 0,
) -> np.ndarray:
    """Samples, float32 [frames * hop], for a spectrogram [frames, n_mels] made by `log_mel`."""
    frames = len(log_mel)
    if frames == 0:
        return np.zeros(0, np.float32)
    magnitudes = _linear_magnitudes(np.exp(np.asarray(log_mel, np.float32)), settings)
    overlap = _overlap_of_windows(frames, settings)
    turns = np.random.default_rng(seed).random(magnitudes.shape, np.float32)

    # Bins that no filter looks at stay zero; the phase is sought for the others alone.
    spectra = np.zeros((frames, settings.n_fft // 2 + 1), np.complex64)
    heard = spectra[:, : magnitudes.shape[1]]
    heard[:] = magnitudes * np.exp(np.complex64(2j * np.pi) * turns)
    previous = np.zeros_like(heard)
    ahead, lengths, squares = np.empty_like(heard), np.empty_like(magnitudes), np.empty_like(turns)
    # Only the direction of x + m (x - p) counts: it is that of x - m / (1 + m) p.
    backward = np.float32(momentum / (1 + momentum))
    for _ in range(iterations):
        signal = _inverse_stft(spectra, overlap, settings)
        consistent = stft(signal, settings)[:, : magnitudes.shape[1]]
        np.multiply(previous, backward, out=ahead)
        np.subtract(consistent, ahead, out=ahead)
        previous = consistent
        np.square(ahead.real, out=lengths)  # several times faster than np.abs
        np.square(ahead.imag, out=squares)
        lengths += squares
        lengths += _TINY**2
        np.sqrt(lengths, out=lengths)
        np.divide(magnitudes, lengths, out=lengths)
        np.multiply(ahead, lengths, out=heard)
    padding = (settings.n_fft - settings.hop) // 2
    padded = _inverse_stft(spectra, overlap, settings)
    return padded[padding : padding + frames * settings.hop]


def _linear_magnitudes(mel: np.ndarray, settings: MelSettings) -> np.ndarray:
    """[frames, n_mels] to [frames, used bins]: least squares, nowhere negative."""
    filters, spread, inverse = _inversion(settings)
    target = spread @ np.ascontiguousarray(mel.T)  # [bins, frames]
    estimate = np.maximum(inverse @ mel.T, np.float32(1e-6))
    for _ in range(_INVERSION_STEPS):
        heard = spread @ (filters @ estimate)
        heard += _TINY
        np.divide(target, heard, out=heard)
        estimate *= heard
    return np.ascontiguousarray(estimate.T)


@lru_cache(maxsize=8)
def _inversion(
    settings: MelSettings,
) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array, np.ndarray]:
    """The filters [n_mels, used bins], their transpose, and their pseudo-inverse.

    A bin lies in two filters at most. As sparse matrices they cost a fraction of the dense product,
    and start no threads that would fight with those working on other sentences.
    """
    filters = mel_filterbank(settings)
    used = int(np.flatnonzero(filters.any(axis=0))[-1]) + 1
    filters = filters[:, :used]
    sparse = scipy.sparse.csr_array(filters)
    return sparse, scipy.sparse.csr_array(filters.T), np.linalg.pinv(filters)


def _inverse_stft(spectra: np.ndarray, overlap: np.ndarray, settings: MelSettings) -> np.ndarray:
    """The signal, with its padding, whose spectra are nearest to these."""
    pieces = scipy.fft.irfft(spectra, settings.n_fft, axis=1)
    pieces *= analysis_window(settings.n_fft)
    signal = _overlap_add(pieces, settings.hop)
    signal /= overlap
    return signal


def _overlap_of_windows(frames: int, settings: MelSettings) -> np.ndarray:
    squared = analysis_window(settings.n_fft) ** 2
    total = _overlap_add(np.tile(squared, (frames, 1)), settings.hop)
    # At both ends the windows fade out: there is nothing to divide by, and it is cut off later.
    return np.maximum(total, np.float32(1e-2))


def _overlap_add(pieces: np.ndarray, hop: int) -> np.ndarray:
    """[frames, n_fft] to [n_fft + (frames - 1) * hop]: each piece one hop after the last."""
    frames, length = pieces.shape
    blocks = -(-length // hop)
    if length % hop:
        pieces = np.pad(pieces, ((0, 0), (0, blocks * hop - length)))
    columns = pieces.reshape(frames, blocks, hop)
    total = np.zeros((frames + blocks - 1, hop), np.float32)
    for block in range(blocks):
        total[block : block + frames] += columns[:, block]
    return total.reshape(-1)[: length + (frames - 1) * hop]
