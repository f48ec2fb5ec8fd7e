"""The mels of a corpus on disk: shards of raw float16 frames, memory-mapped.

A shard is two files. `shard-00007-1a2b3c4d.f16` holds the frames [n, n_mels] of up to 256 clips,
little-endian float16, one clip after the other; its name carries its checksum. `shard-00007.json`
names it and says which clips it holds, what they were made from, how long they are, and the sums
from which mean and deviation follow. The JSON is written last and replaces the old one in one
step, so a shard is whole or not there.

Integrity: sizes are checked when a store is opened. Every clip has a CRC-32, checked the first
time a process reads it (about 30 microseconds for 100 kB) and never again; `verify` checks all.
This module reads and writes shards; which clips must be computed is `feature_writer`'s business.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from myxtts.audio.mel import MelSettings
from myxtts.data.batch_memory import BatchMemory
from myxtts.data.checked_file import Damaged, quarantine, read_json, write_json
from myxtts.errors import UserError
from myxtts.files import write_atomically

FORMAT = 1
SHARD_CLIPS = 256
STORED = np.dtype("<f2")

_COLUMNS = ("id", "size", "mtime_ns", "digest", "frames", "crc32", "reason")


@dataclass(frozen=True)
class StoredClip:
    """One clip of a shard, and the audio file it was made from."""

    id: str
    size: int
    """Bytes of the audio file; -1 when there was none."""
    mtime_ns: int
    digest: str
    """SHA-256 of the audio file, in hexadecimal; empty when there was none."""
    frames: int
    crc32: int
    reason: str
    """Why the clip has no frames; empty when it has."""


@dataclass(frozen=True)
class Shard:
    """What a shard's JSON says."""

    data: Path
    clips: tuple[StoredClip, ...]
    total: np.ndarray
    """float64 [n_mels], sum over all frames."""
    squares: np.ndarray
    """float64 [n_mels], sum of squares over all frames."""

    @property
    def frames(self) -> int:
        return sum(clip.frames for clip in self.clips)


def sidecar(folder: Path, index: int) -> Path:
    """The JSON of a shard."""
    return folder / f"shard-{index:05d}.json"


def checksum(mel: np.ndarray) -> int:
    """CRC-32 of a clip's frames."""
    return zlib.crc32(mel.data)


def write_shard(
    folder: Path,
    index: int,
    stored: Sequence[tuple[StoredClip, np.ndarray]],
    settings: MelSettings,
) -> Shard:
    """Write clips and their float16 [frames, n_mels]; the same clips give the same bytes."""
    clips, mels = zip(*stored, strict=True)
    content = b"".join(np.ascontiguousarray(mel, STORED).tobytes() for mel in mels)
    total = np.zeros(settings.n_mels)
    squares = np.zeros(settings.n_mels)
    for mel in mels:  # clip after clip, so that rounding does not depend on who computed them
        exact = mel.astype(np.float64)
        total += exact.sum(axis=0)
        squares += np.square(exact).sum(axis=0)
    crc32 = zlib.crc32(content)
    data = folder / f"shard-{index:05d}-{crc32:08x}.f16"
    write_atomically(data, content)
    body = {
        "format": FORMAT,
        "settings": asdict(settings),
        "data": data.name,
        "crc32": crc32,
        "clips": {name: [getattr(clip, name) for clip in clips] for name in _COLUMNS},
        "sum": total.tolist(),
        "sum_of_squares": squares.tolist(),
    }
    write_json(sidecar(folder, index), body)
    return Shard(data, tuple(clips), total, squares)


def read_shard(path: Path) -> Shard:
    """The shard of this JSON, its data file's size checked; `Damaged` when either is not whole."""
    body = read_json(path)
    try:
        columns = [body["clips"][name] for name in _COLUMNS]
        clips = tuple(StoredClip(*values) for values in zip(*columns, strict=True))
        shard = Shard(
            path.parent / Path(body["data"]).name,
            clips,
            np.array(body["sum"]),
            np.array(body["sum_of_squares"]),
        )
        bytes_expected = shard.frames * body["settings"]["n_mels"] * STORED.itemsize
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(path, "not the description of a shard") from error
    if not shard.data.is_file():
        raise Damaged(path, f"its data file {shard.data.name} is missing")
    if shard.data.stat().st_size != bytes_expected:
        raise Damaged(shard.data, f"{shard.data.stat().st_size:,} of {bytes_expected:,} bytes")
    return shard


def map_shard(shard: Shard, n_mels: int) -> np.ndarray:
    """The frames of a shard, float16 [frames, n_mels], memory-mapped and read-only."""
    if shard.frames == 0:  # an empty file cannot be mapped
        return np.zeros((0, n_mels), STORED)
    mapped = np.memmap(shard.data, STORED, mode="r", shape=(shard.frames, n_mels))
    # A plain view: slicing a np.memmap takes microseconds, a third of the time of a batch.
    return mapped.view(np.ndarray)


class FeatureStore:
    """Random access to the mels of clips by their position. Safe to read from threads."""

    def __init__(self, shards: Sequence[Shard], n_mels: int, in_memory: bool = False) -> None:
        self.n_mels = n_mels
        self._shards = tuple(shards)
        self._frames_of = [map_shard(shard, n_mels) for shard in shards]
        clips = [clip for shard in shards for clip in shard.clips]
        self.frames = np.array([clip.frames for clip in clips], np.int32)
        """int32 [n], frames of each clip."""
        self.checksums = np.array([clip.crc32 for clip in clips], np.uint32)
        """uint32 [n], CRC-32 of each clip's frames."""
        self._shard_of = np.repeat(np.arange(len(shards)), [len(s.clips) for s in shards])
        self._start = np.concatenate(
            [np.cumsum([0, *(clip.frames for clip in shard.clips)])[:-1] for shard in shards]
            or [np.zeros(0, np.int64)]
        )
        # One byte per clip, written by whichever thread checked it: a race checks twice, no harm.
        self._checked = np.zeros(len(clips), bool)
        self._memory = BatchMemory()
        if in_memory:
            self._frames_of = [np.array(mapped) for mapped in self._frames_of]

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def nbytes(self) -> int:
        """Bytes of all frames."""
        return sum(mapped.nbytes for mapped in self._frames_of)

    def select(self, positions: np.ndarray) -> FeatureStore:
        """A store of these clips only, in this order, on the same shards."""
        chosen = object.__new__(FeatureStore)
        chosen.n_mels = self.n_mels
        chosen._shards, chosen._frames_of = self._shards, self._frames_of
        chosen.frames = self.frames[positions]
        chosen.checksums = self.checksums[positions]
        chosen._shard_of = self._shard_of[positions]
        chosen._start = self._start[positions]
        chosen._checked = self._checked[positions]
        chosen._memory = self._memory
        return chosen

    def mel(self, row: int) -> np.ndarray:
        """One clip, float16 [frames, n_mels], read-only."""
        frames = self._slice(row)
        if not self._checked[row]:
            self._check(row, frames)
        return frames

    def gather(self, rows: np.ndarray, length: int, starts: np.ndarray | None = None) -> np.ndarray:
        """A padded batch, float16 [len(rows), length, n_mels]: frames from `starts`, then zeros.

        One copy per clip straight from the mapped file into the batch; the GIL is free meanwhile.
        """
        batch = self._memory.empty((len(rows), length, self.n_mels), STORED)
        for i, row in enumerate(rows):
            frames = self.mel(row)
            if starts is not None:
                frames = frames[starts[i] :]
            count = min(len(frames), length)
            batch[i, :count] = frames[:count]
            batch[i, count:] = 0
        return batch

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each bin over all shards, float32 [n_mels] each."""
        count = max(1, sum(shard.frames for shard in self._shards))
        total = sum((shard.total for shard in self._shards), np.zeros(self.n_mels))
        squares = sum((shard.squares for shard in self._shards), np.zeros(self.n_mels))
        mean = total / count
        deviation = np.sqrt(np.maximum(squares / count - mean**2, 0.0))
        # A bin that never changes (silence) would otherwise divide by zero.
        return mean.astype(np.float32), np.maximum(deviation, 1e-3).astype(np.float32)

    def verify(self) -> list[str]:
        """Check every clip; one sentence for each that is damaged."""
        problems = []
        for row in range(len(self)):
            try:
                self._compare(row, self._slice(row))
            except Damaged as damaged:
                problems.append(f"{damaged} (clip number {row})")
        return problems

    def _slice(self, row: int) -> np.ndarray:
        start = self._start[row]
        return self._frames_of[self._shard_of[row]][start : start + self.frames[row]]

    def _compare(self, row: int, frames: np.ndarray) -> None:
        if checksum(frames) != self.checksums[row]:
            raise Damaged(self._shards[self._shard_of[row]].data, "checksum does not match")

    def _check(self, row: int, frames: np.ndarray) -> None:
        try:
            self._compare(row, frames)
        except Damaged as damaged:
            quarantine(damaged)
            raise UserError(
                f"The feature store is damaged: {damaged}",
                follows=f"{damaged.path.name} was moved aside; the run cannot go on with it",
                remedy="run the same command again: only the damaged shard is computed again",
            ) from damaged
        self._checked[row] = True
