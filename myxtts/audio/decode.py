"""Files to samples: any format, rate, width and number of channels to float32 mono, and back.

Used while a corpus is prepared and for reference clips; training reads the feature store instead.
What cannot be used is an `AudioError` with a plain reason: the caller decides whether to skip the
clip or to stop.
"""

from __future__ import annotations

import io
from math import gcd
from pathlib import Path

import numpy as np
import scipy.signal
import soundfile

from myxtts.audio.wav import WavLayout, wav_layout
from myxtts.files import write_atomically

LOWEST_RATE, HIGHEST_RATE = 4_000, 768_000
"""Hz. A header may claim any rate, and resampling from one of a few Hz would fill the memory."""


class AudioError(Exception):
    """This file does not give usable samples."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def decode(path: Path, sample_rate: int) -> np.ndarray:
    """Read an audio file as float32 mono [samples] in [-1, 1] at `sample_rate`."""
    path = Path(path)
    layout = _checked_layout(path)
    if layout is not None and layout.plain:
        source_rate, channels = layout.sample_rate, layout.read(path) * np.float32(2.0**-15)
    else:
        source_rate, channels = _read(path)
    if len(channels) == 0:
        raise AudioError(path, "no samples")
    if not LOWEST_RATE <= source_rate <= HIGHEST_RATE:
        raise AudioError(path, f"a sample rate of {source_rate:,} Hz")
    samples = channels.mean(axis=1) if channels.shape[1] > 1 else channels[:, 0]
    if source_rate == sample_rate:
        return samples
    return np.clip(resample(samples, source_rate, sample_rate), -1.0, 1.0)


def resample(samples: np.ndarray, source_rate: int, sample_rate: int) -> np.ndarray:
    """The same sound at another rate, float32 [samples]."""
    if source_rate == sample_rate:
        return np.ascontiguousarray(samples, np.float32)
    common = gcd(source_rate, sample_rate)
    resampled = scipy.signal.resample_poly(samples, sample_rate // common, source_rate // common)
    return resampled.astype(np.float32, copy=False)


def _read(path: Path) -> tuple[int, np.ndarray]:
    """The sample rate, and float32 [samples, channels] in [-1, 1], by libsndfile."""
    try:
        with soundfile.SoundFile(path) as file:
            promised, source_rate = file.frames, file.samplerate
            channels = file.read(dtype="float32", always_2d=True)
    except (soundfile.SoundFileError, RuntimeError) as error:
        raise AudioError(path, f"damaged, or not audio ({_plain(error)})") from error
    if 0 < len(channels) < promised:
        raise AudioError(path, f"truncated: {len(channels):,} of {promised:,} samples")
    if not np.isfinite(channels).all():
        raise AudioError(path, "NaN or infinite samples")
    return source_rate, np.clip(channels, -1.0, 1.0)


def _plain(error: Exception) -> str:
    """The cause alone: libsndfile puts the path in front of it, and we do that ourselves."""
    return (getattr(error, "error_string", "") or str(error)).rstrip(". ")


def _checked_layout(path: Path) -> WavLayout | None:
    """A WAV's layout; finds what libsndfile would pass over: an empty file, or one cut short."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            layout = wav_layout(file)
    except OSError as error:
        raise AudioError(path, error.strerror or str(error)) from error
    if size == 0:
        raise AudioError(path, "zero bytes")
    if layout is not None and layout.length is not None and layout.start + layout.length > size:
        promised = layout.start + layout.length
        raise AudioError(path, f"truncated: {size:,} of {promised:,} bytes")
    return layout


def write_wav(path: Path, samples: np.ndarray, sample_rate: int) -> None:
    """Write float samples [n] in [-1, 1] as 16-bit PCM; the file appears whole or not at all."""
    write_atomically(Path(path), wav_bytes(samples, sample_rate))


def wav_bytes(samples: np.ndarray, sample_rate: int) -> bytes:
    """Float samples [n] in [-1, 1] as the content of a 16-bit PCM file."""
    clipped = np.clip(np.asarray(samples, np.float32), -1.0, 1.0)
    pcm = np.round(clipped * 32767.0).astype(np.int16)
    content = io.BytesIO()
    soundfile.write(content, pcm, sample_rate, format="WAV", subtype="PCM_16")
    return content.getvalue()
