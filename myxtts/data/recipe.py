"""What a store holds, and how an audio file becomes it: mels, or the PCM that mels come from.

A recipe is everything that decides a store's bytes, so its fingerprint names the store's folder.
Both kinds lie on disk in the same way: a clip is an array of rows, one for each frame.

- `mels`: a row is a frame's log-mels, float16 [n_mels].
- `pcm`: a row is one hop of 16-bit samples. The signal is kept as `audio.mel.padded` continues it
  (17 ms at each end), so a clip has a few rows more than frames, and the frames i to j of a clip
  need nothing but its rows i to j + `overlap`: a crop has the same mels as the whole.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from myxtts.audio import levels
from myxtts.audio.decode import decode
from myxtts.audio.mel import MelSettings, log_mel, log_mel_of_padded, padded
from myxtts.config import DataConfig

Kind = Literal["mels", "pcm"]

FORMAT = 3
FULL_SCALE = 32768.0
"""What 1.0 is in 16-bit samples: a 16-bit file keeps its very numbers."""

_STORED = {"mels": np.dtype("<f2"), "pcm": np.dtype("<i2")}
_SUFFIX = {"mels": "f16", "pcm": "i16"}


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the bytes of a store."""

    kind: Kind = "mels"
    mel: MelSettings = field(default_factory=MelSettings)
    """For `pcm` too: its shards carry the mean and deviation of the mels."""
    trim_silence: bool = False
    loudness: float | None = None
    """dB below full scale; none: as recorded."""

    @classmethod
    def of(cls, data: DataConfig) -> Recipe:
        """What a configuration asks for; the highest filter cannot lie above half the rate."""
        return cls(
            "pcm" if data.features == "live" else "mels",
            MelSettings(
                sample_rate=data.sample_rate,
                n_mels=data.n_mels,
                fmax=min(8000.0, data.sample_rate / 2),
            ),
            data.trim_silence,
            data.loudness,
        )

    @classmethod
    def from_description(cls, told: dict[str, Any]) -> Recipe:
        """The recipe that `description` described."""
        mel = MelSettings(**told["mel"])
        return cls(told["kind"], mel, told["trim_silence"], told["loudness"])

    @property
    def description(self) -> dict[str, Any]:
        """The recipe as plain values, for JSON."""
        return asdict(self)

    @property
    def fingerprint(self) -> str:
        """Changes with everything that changes a byte of the store."""
        told = json.dumps({"format": FORMAT, **self.description}, sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    @property
    def dtype(self) -> np.dtype:
        return _STORED[self.kind]

    @property
    def suffix(self) -> str:
        """Of data files."""
        return _SUFFIX[self.kind]

    @property
    def width(self) -> int:
        """Values in a row."""
        return self.mel.n_mels if self.kind == "mels" else self.mel.hop

    @property
    def overlap(self) -> int:
        """Rows that a clip has beyond its frames."""
        return 0 if self.kind == "mels" else self.mel.n_fft // self.mel.hop - 1

    def rows(self, frames: int) -> int:
        """Rows of a clip of so many frames."""
        return frames + self.overlap if frames else 0

    def nothing(self) -> np.ndarray:
        """The rows of a clip without frames."""
        return np.zeros((0, self.width), self.dtype)

    def samples(self, audio: Path) -> np.ndarray:
        """The clip as it is trained on, float32 mono [samples]; `AudioError` when unusable."""
        samples = decode(audio, self.mel.sample_rate)
        if self.trim_silence:
            samples = levels.trim_silence(samples, self.mel.sample_rate)
        if self.loudness is not None:
            samples = levels.with_loudness(samples, self.mel.sample_rate, self.loudness)
        return samples

    def compute(self, audio: Path) -> np.ndarray:
        """The rows of an audio file, [rows, width] of `dtype`."""
        samples = self.samples(audio)
        if self.kind == "mels":
            return log_mel(samples, self.mel).astype(self.dtype)
        frames = len(samples) // self.mel.hop
        if frames == 0:
            return self.nothing()
        signal = padded(samples, self.mel)[: self.rows(frames) * self.mel.hop]
        pcm = np.clip(np.round(signal * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1)
        return pcm.astype(self.dtype).reshape(-1, self.width)

    def mels(self, rows: np.ndarray) -> np.ndarray:
        """The log-mels of some rows, float16 [frames, n_mels]."""
        if self.kind == "mels" or len(rows) == 0:
            return rows if self.kind == "mels" else np.zeros((0, self.mel.n_mels), np.float16)
        signal = rows.reshape(-1).astype(np.float32) / np.float32(FULL_SCALE)
        return log_mel_of_padded(signal, self.mel).astype(np.float16)
