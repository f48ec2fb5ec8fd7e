"""A spectrogram as a PNG, without a plotting library."""

from __future__ import annotations

import struct
import zlib

import numpy as np

# Dark blue over magenta and orange to pale yellow: equal steps look equal, also in grey.
_COLOURS = np.array(
    [[4, 4, 24], [66, 15, 106], [146, 37, 103], [220, 80, 57], [251, 165, 10], [252, 255, 196]],
    np.float32,
)


def spectrogram_png(log_mel: np.ndarray, scale: int = 2) -> bytes:
    """`[frames, mels]` natural-log mels as an image: time to the right, pitch upwards."""
    low, high = np.percentile(log_mel, [2, 99.5])
    level = np.clip((log_mel.T[::-1] - low) / max(high - low, 1e-6), 0, 1) * (len(_COLOURS) - 1)
    level = level.repeat(scale, 0).repeat(scale, 1)
    floor = np.minimum(level.astype(int), len(_COLOURS) - 2)
    share = (level - floor)[..., None]
    return png((_COLOURS[floor] * (1 - share) + _COLOURS[floor + 1] * share).astype(np.uint8))


def png(rgb: np.ndarray) -> bytes:
    """`uint8[height, width, 3]` as a PNG file."""
    height, width, _ = rgb.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), rgb.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 6))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))
