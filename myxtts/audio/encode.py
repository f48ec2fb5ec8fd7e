"""Samples to files, whole or not there; the format follows the ending of the name."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import soundfile

from myxtts.audio.decode import wav_bytes
from myxtts.errors import UsageError
from myxtts.files import write_atomically

SUFFIXES = (".wav", ".flac", ".ogg")

_SAMPLES_AT_ONCE = 1 << 16


def check_suffix(path: Path) -> None:
    """Refuse a name whose ending is no format that can be written."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"Sound is written as {', '.join(SUFFIXES)}",
            received=path.name,
            remedy=f"-o {path.stem or 'speech'}.wav",
        )


def encoded(samples: np.ndarray, sample_rate: int, suffix: str) -> bytes:
    """Float samples [n] in [-1, 1] as the content of a file: 16-bit PCM or FLAC, or Vorbis."""
    if suffix.lower() == ".wav":
        return wav_bytes(samples, sample_rate)
    kind = ("FLAC", "PCM_16") if suffix.lower() == ".flac" else ("OGG", "VORBIS")
    content = io.BytesIO()
    with soundfile.SoundFile(content, "w", sample_rate, 1, kind[1], format=kind[0]) as file:
        # libsndfile's Vorbis encoder keeps a whole write on its stack, and minutes overflow it.
        for first in range(0, len(samples), _SAMPLES_AT_ONCE):
            file.write(np.clip(samples[first : first + _SAMPLES_AT_ONCE], -1.0, 1.0))
    return content.getvalue()


def write_sound(path: Path, samples: np.ndarray, sample_rate: int) -> None:
    """Write a WAV, FLAC or OGG file."""
    check_suffix(path)
    write_atomically(path, encoded(samples, sample_rate, path.suffix))
