"""What can be heard about one audio file without knowing its transcript.

Runs in several threads at once: decoding and NumPy release the GIL.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from myxtts.audio.decode import AudioError, decode

_WINDOW = 0.025  # seconds over which loudness is taken
_FULL_SCALE = 0.99
_FLAT = 3  # samples in a row at full scale: a peak is rounder than this, a clipped one is flat
_QUIETEST = 1e-6


@dataclass(frozen=True)
class Recording:
    """Measures of a file; those of a file that cannot be used are zero."""

    reason: str = ""
    """Why it cannot be used; empty when it can."""
    missing: bool = False
    """There is no such file."""
    samples: int = 0
    """At the sample rate of the prepared audio."""
    loudest: float = 0.0
    """dB below full scale, of the loudest 25 ms."""
    clipped: float = 0.0
    """Share of the samples that lie in flat tops at full scale."""
    digest: bytes = b""
    """Equal for equal samples, whatever the file's format."""


def measure(path: Path, sample_rate: int) -> Recording:
    """Decode a file and measure it; what is wrong with it is in `reason`."""
    try:
        samples = decode(path, sample_rate)
    except AudioError as error:
        return Recording(reason=error.reason, missing=not path.exists())
    return Recording(
        samples=len(samples),
        loudest=_loudest(samples, sample_rate),
        clipped=_clipped(samples),
        digest=hashlib.sha256(samples.data).digest(),
    )


def _loudest(samples: np.ndarray, sample_rate: int) -> float:
    window = min(len(samples), max(1, round(_WINDOW * sample_rate)))
    whole = samples[: len(samples) // window * window].reshape(-1, window)
    power = float(np.einsum("ij,ij->i", whole, whole).max()) / window
    return 10.0 * float(np.log10(max(power, _QUIETEST**2)))


def _clipped(samples: np.ndarray) -> float:
    full = np.abs(samples) >= _FULL_SCALE
    if not full.any():
        return 0.0
    steps = np.diff(np.concatenate(([False], full, [False])).astype(np.int8))
    runs = np.flatnonzero(steps == -1) - np.flatnonzero(steps == 1)
    return float(runs[runs >= _FLAT].sum()) / len(samples)
