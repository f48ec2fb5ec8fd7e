"""The features of a corpus: random access to the clips of memory-mapped shards.

Integrity: sizes are checked when a shard is opened. Every clip has a CRC-32, checked the first
time a process reads it (about 30 microseconds for 100 kB) and never again; `verify` checks all.
The files are `shards`' business, what a row holds is the `recipe`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from myxtts.data.batch_memory import BatchMemory
from myxtts.data.checked_file import Damaged, quarantine
from myxtts.data.recipe import Recipe
from myxtts.data.shards import Moments, Shard, checksum, map_shard
from myxtts.errors import UserError

_PAGE = 4096
"""Bytes that a page of memory has at least; touching one byte of it reads it all."""


@dataclass
class _Index:
    """Where the clips of a store lie; arrays [n], one entry for each clip."""

    shard: np.ndarray
    start: np.ndarray
    """First row of the stored clip in its shard."""
    stored: np.ndarray
    """Frames of the stored clip."""
    first: np.ndarray
    """First frame that belongs to the clip: 0, unless it is a piece of the stored one."""
    checked: np.ndarray
    """Written by whichever thread checked the clip: a race checks twice, no harm."""


class FeatureStore:
    """Random access to the features of clips by their position. Safe to read from threads."""

    def __init__(self, shards: Sequence[Shard], recipe: Recipe, in_memory: bool = False) -> None:
        self.recipe = recipe
        self._shards = tuple(shards)
        self._rows_of = [map_shard(shard) for shard in shards]
        clips = [clip for shard in shards for clip in shard.clips]
        self.frames = np.array([clip.frames for clip in clips], np.int32)
        """int32 [n], frames of each clip."""
        self.checksums = np.array([clip.crc32 for clip in clips], np.uint32)
        """uint32 [n], CRC-32 of the rows of each stored clip."""
        starts = [
            np.cumsum([0, *(recipe.rows(clip.frames) for clip in shard.clips)])[:-1]
            for shard in shards
        ]
        self._index = _Index(
            shard=np.repeat(np.arange(len(shards)), [len(shard.clips) for shard in shards]),
            start=np.concatenate(starts or [np.zeros(0, np.int64)]),
            stored=self.frames,
            first=np.zeros(len(clips), np.int32),
            checked=np.zeros(len(clips), bool),
        )
        self._memory = BatchMemory()
        self._in_memory = in_memory
        if in_memory:
            self._rows_of = [np.array(mapped) for mapped in self._rows_of]

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def nbytes(self) -> int:
        """Bytes of all rows."""
        return sum(mapped.nbytes for mapped in self._rows_of)

    @property
    def first_frames(self) -> np.ndarray:
        """int32 [n], where each clip begins in the stored one: 0, unless it is a piece of it."""
        return self._index.first

    def select(
        self,
        positions: np.ndarray,
        first_frames: np.ndarray | None = None,
        frames: np.ndarray | None = None,
    ) -> FeatureStore:
        """A store of these clips only, in this order, on the same shards.

        `first_frames` and `frames` (int32 [n]) make each a piece of the clip at its position.
        """
        chosen = object.__new__(FeatureStore)
        chosen.recipe = self.recipe
        chosen._shards, chosen._rows_of = self._shards, self._rows_of
        chosen.frames = self.frames[positions] if frames is None else frames
        chosen.checksums = self.checksums[positions]
        first = np.zeros(len(positions), np.int32) if first_frames is None else first_frames
        chosen._index = _Index(
            shard=self._index.shard[positions],
            start=self._index.start[positions],
            stored=self._index.stored[positions],
            first=self._index.first[positions] + first,
            checked=self._index.checked[positions],
        )
        chosen._memory = self._memory
        chosen._in_memory = self._in_memory
        return chosen

    def rows(self, row: int) -> np.ndarray:
        """One clip as it is stored, [rows, width], read-only."""
        whole = self._whole(row)
        if not self._index.checked[row]:
            self._check(row, whole)
        first = self._index.first[row]
        return whole[first : first + self.recipe.rows(self.frames[row])]

    def mel(self, row: int) -> np.ndarray:
        """The log-mels of one clip, float16 [frames, n_mels], read-only."""
        return self.recipe.mels(self.rows(row))

    def gather(self, rows: np.ndarray, length: int, starts: np.ndarray | None = None) -> np.ndarray:
        """A padded batch of `length` frames, [len(rows), length + overlap, width].

        The frames of each clip from `starts` on, then zeros. One copy per clip straight from the
        mapped file into the batch; the GIL is free meanwhile.
        """
        shape = (len(rows), self.recipe.rows(length), self.recipe.width)
        batch = self._memory.empty(shape, self.recipe.dtype)
        for i, row in enumerate(rows):
            fill(batch[i], self.rows(row), 0 if starts is None else starts[i])
        return batch

    def fetch(self, rows: np.ndarray) -> int:
        """Have the disk read every page of these clips; bytes, none where they are in memory."""
        if self._in_memory:
            return 0
        clips = [self._whole(row) for row in rows]
        for clip in clips:
            clip.reshape(-1).view(np.uint8)[::_PAGE].max(initial=0)
        return sum(clip.nbytes for clip in clips)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each bin over all shards, float32 [n_mels] each."""
        count = max(1, sum(shard.frames for shard in self._shards))
        sums = Moments.sum([shard.moments for shard in self._shards], self.recipe.mel.n_mels)
        mean = sums.total / count
        deviation = np.sqrt(np.maximum(sums.squares / count - mean**2, 0.0))
        # A bin that never changes (silence) would otherwise divide by zero.
        return mean.astype(np.float32), np.maximum(deviation, 1e-3).astype(np.float32)

    def verify(self) -> list[str]:
        """Check every clip; one sentence for each that is damaged."""
        problems = []
        for row in range(len(self)):
            try:
                self._compare(row, self._whole(row))
            except Damaged as damaged:
                problems.append(f"{damaged} (clip number {row})")
        return problems

    def _whole(self, row: int) -> np.ndarray:
        """The rows of the stored clip that this one is, or is a piece of."""
        start = self._index.start[row]
        stop = start + self.recipe.rows(self._index.stored[row])
        return self._rows_of[self._index.shard[row]][start:stop]

    def _compare(self, row: int, whole: np.ndarray) -> None:
        if checksum(whole) != self.checksums[row]:
            raise Damaged(self._shards[self._index.shard[row]].data, "checksum does not match")

    def _check(self, row: int, whole: np.ndarray) -> None:
        try:
            self._compare(row, whole)
        except Damaged as damaged:
            quarantine(damaged)
            raise UserError(
                f"The feature store is damaged: {damaged}",
                follows=f"{damaged.path.name} was moved aside; the run cannot go on with it",
                remedy="run the same command again: only the damaged shard is computed again",
            ) from damaged
        self._index.checked[row] = True


def fill(target: np.ndarray, rows: np.ndarray, start: int) -> None:
    """Copy `rows` from `start` on into `target`, and zeros into what they leave of it."""
    count = max(0, min(len(rows) - start, len(target)))
    target[:count] = rows[start : start + count]
    target[count:] = 0
