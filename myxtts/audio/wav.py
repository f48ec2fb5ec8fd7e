"""The layout of a WAV file, and the samples of the plainest kind without a decoder.

Most corpora are 16-bit PCM: their samples lie in the file as they are needed. Every other kind is
`decode`'s business, and so is what to do about a file that is cut short.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

# A WAV written to a pipe cannot know its length and says this.
_LENGTH_UNKNOWN = 0xFFFFFFFF
_PCM = 1


@dataclass(frozen=True)
class WavLayout:
    """Where the samples of a WAV lie, and of which kind they are."""

    sample_rate: int
    channels: int
    plain: bool
    """16-bit PCM by the shortest header; others need a decoder."""
    start: int
    """Offset of the first sample in bytes."""
    length: int | None
    """Bytes of samples that the file promises; None when it does not say."""

    def read(self, path: Path) -> np.ndarray:
        """The samples of a plain file, int16 [samples, channels]."""
        assert self.length is not None
        count = self.length // (2 * self.channels) * self.channels
        return np.fromfile(path, "<i2", count, offset=self.start).reshape(-1, self.channels)


def wav_layout(file: BinaryIO) -> WavLayout | None:
    """What the header of an open file says; None when it is not a WAV."""
    form, _, kind = struct.unpack("<4sI4s", file.read(12).ljust(12, b"\0"))
    if form not in (b"RIFF", b"RF64") or kind != b"WAVE":
        return None
    rate = channels = 0
    plain = False
    long_length = None  # RF64 keeps a length of 64 bits in a chunk of its own
    while len(header := file.read(8)) == 8:
        name, length = struct.unpack("<4sI", header)
        start = file.tell()
        if name == b"fmt ":
            values = struct.unpack("<HHIIHH", file.read(16).ljust(16, b"\0"))
            tag, channels, rate, _, block, bits = values
            plain = (tag, bits, block) == (_PCM, 16, 2 * channels) and channels > 0 and rate > 0
        if name == b"ds64":
            _, long_length = struct.unpack("<QQ", file.read(16).ljust(16, b"\0"))
        if name == b"data":
            known = long_length if length == _LENGTH_UNKNOWN else length
            return WavLayout(rate, channels, plain and known is not None, start, known)
        file.seek(start + length + length % 2)  # chunks are padded to even lengths
    return None
