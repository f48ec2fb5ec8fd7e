"""Files to samples: any format, rate, width and number of channels to float32 mono, and back.

Used while a corpus is prepared and for reference clips; training reads the feature store instead.
What cannot be used is an `AudioError` with a plain reason: the caller decides whether to skip the
clip or to stop.
"""

from __future__ import annotations

import io
import struct
from math import gcd
from pathlib import Path
from typing import BinaryIO

import numpy as np
import scipy.signal
import soundfile

from myxtts.files import write_atomically

# A WAV written to a pipe cannot know its length and says this.
_LENGTH_UNKNOWN = 0xFFFFFFFF


class AudioError(Exception):
    """This file does not give usable samples."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def decode(path: Path, sample_rate: int) -> np.ndarray:
    """Read an audio file as float32 mono [samples] in [-1, 1] at `sample_rate`."""
    path = Path(path)
    _check_container(path)
    try:
        with soundfile.SoundFile(path) as file:
            promised, source_rate = file.frames, file.samplerate
            channels = _read(file)
    except (soundfile.SoundFileError, RuntimeError) as error:
        raise AudioError(path, f"damaged, or not audio ({_plain(error)})") from error
    if len(channels) == 0:
        raise AudioError(path, "no samples")
    if len(channels) < promised:
        raise AudioError(path, f"truncated: {len(channels):,} of {promised:,} samples")
    samples = channels.mean(axis=1) if channels.shape[1] > 1 else channels[:, 0]
    if not np.isfinite(samples).all():
        raise AudioError(path, "NaN or infinite samples")
    return np.clip(resample(samples, source_rate, sample_rate), -1.0, 1.0)


def _read(file: soundfile.SoundFile) -> np.ndarray:
    """float32 [samples, channels]."""
    if file.subtype == "PCM_16":
        # What libsndfile computes for such a file, in half the time.
        return file.read(dtype="int16", always_2d=True) * np.float32(2.0**-15)
    return file.read(dtype="float32", always_2d=True)


def resample(samples: np.ndarray, source_rate: int, sample_rate: int) -> np.ndarray:
    """The same sound at another rate, float32 [samples]."""
    if source_rate == sample_rate:
        return np.ascontiguousarray(samples, np.float32)
    common = gcd(source_rate, sample_rate)
    resampled = scipy.signal.resample_poly(samples, sample_rate // common, source_rate // common)
    return resampled.astype(np.float32, copy=False)


def _plain(error: Exception) -> str:
    """The cause alone: libsndfile puts the path in front of it, and we do that ourselves."""
    return (getattr(error, "error_string", "") or str(error)).rstrip(". ")


def _check_container(path: Path) -> None:
    """Find what libsndfile would pass over: an empty file, or a WAV cut short."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            promised = _wav_end(file)
    except OSError as error:
        raise AudioError(path, error.strerror or str(error)) from error
    if size == 0:
        raise AudioError(path, "zero bytes")
    if promised is not None and promised > size:
        raise AudioError(path, f"truncated: {size:,} of {promised:,} bytes")


def _wav_end(file: BinaryIO) -> int | None:
    """The offset at which a WAV says that its samples end; None when it does not say."""
    form, _, kind = struct.unpack("<4sI4s", file.read(12).ljust(12, b"\0"))
    if form not in (b"RIFF", b"RF64") or kind != b"WAVE":
        return None
    long_length = None  # RF64 keeps a length of 64 bits in a chunk of its own
    while len(header := file.read(8)) == 8:
        name, length = struct.unpack("<4sI", header)
        start = file.tell()
        if name == b"data":
            length = long_length if length == _LENGTH_UNKNOWN else length
            return None if length is None else start + length
        if name == b"ds64":
            _, long_length = struct.unpack("<QQ", file.read(16).ljust(16, b"\0"))
        file.seek(start + length + length % 2)  # chunks are padded to even lengths
    return None


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
