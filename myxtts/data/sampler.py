"""Which clips make up batch number N: a pure function of (seed, step).

The position of a run is one integer. No shuffle buffer, no iterator state: workers, buffer depth
and devices cannot change the order. This module knows row numbers only, no files and no arrays.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from myxtts.data.buckets import Bucket

# Independent streams of random numbers, counted in Philox's key beside the epoch.
_ORDER, _BATCHES, _REFERENCES, _POSITIONS = range(4)


@dataclass(frozen=True)
class BatchPlan:
    """The rows of one batch."""

    step: int
    epoch: int
    bucket: int
    rows: np.ndarray
    """int64 [B], row numbers of the prepared corpus."""
    weights: np.ndarray
    """float32 [B], 1 for a clip, 0 for a filler row of an epoch's last batch."""
    references: np.ndarray
    """int64 [B], another clip of the same speaker, when there is one."""
    reference_positions: np.ndarray
    """float32 [B] in [0, 1), where in the reference its crop lies."""
    noise_seeds: np.ndarray
    """int32 [B], what the model draws each row's noise from; other ones in every epoch."""


@dataclass(frozen=True)
class _Epoch:
    order: np.ndarray
    """int64 [n], rows, bucket after bucket."""
    batches: np.ndarray
    """int64 [batches], which batch of the fixed list comes when."""
    references: np.ndarray
    """int64 [n], by row."""
    positions: np.ndarray
    """float32 [n], by row."""
    noise_seeds: np.ndarray
    """int32 [n], by row, not negative."""


class Sampler:
    """Every clip exactly once an epoch, in batches of one bucket each. Safe in threads."""

    def __init__(
        self,
        assignment: np.ndarray,
        buckets: Sequence[Bucket],
        speaker: np.ndarray,
        seed: int,
        shuffle: bool = True,
    ) -> None:
        self._seed = seed
        self._shuffle = shuffle
        self._members = [np.flatnonzero(assignment == index) for index in range(len(buckets))]
        self._sizes = [bucket.batch_size for bucket in buckets]
        self._spans = self._cut_into_batches()
        self._speaker_order = np.argsort(speaker, kind="stable")
        counts = np.bincount(speaker) if len(speaker) else np.zeros(0, np.int64)
        self._speaker_count = counts[speaker]  # by row: clips of this row's speaker
        first = np.concatenate(([0], np.cumsum(counts)))[:-1]
        self._speaker_first = first[speaker]
        self._epochs: dict[int, _Epoch] = {}
        self._lock = threading.Lock()

    @property
    def batches_per_epoch(self) -> int:
        """Steps of one pass over the corpus."""
        return len(self._spans)

    def plan(self, step: int) -> BatchPlan:
        """The batch of this step, counted from 0 over all epochs."""
        number, position = divmod(step, self.batches_per_epoch)
        epoch = self._epoch(number if self._shuffle else 0)
        bucket, start, stop = self._spans[epoch.batches[position]]
        size = self._sizes[bucket]
        rows = epoch.order[start:stop]
        weights = np.zeros(size, np.float32)
        weights[: len(rows)] = 1.0
        rows = np.concatenate((rows, np.repeat(rows[:1], size - len(rows))))
        return BatchPlan(
            step,
            number,
            bucket,
            rows,
            weights,
            epoch.references[rows],
            epoch.positions[rows],
            epoch.noise_seeds[rows],
        )

    def _cut_into_batches(self) -> list[tuple[int, int, int]]:
        """(bucket, start, stop) of every batch in the concatenated members."""
        spans, begin = [], 0
        for bucket, (members, size) in enumerate(zip(self._members, self._sizes, strict=True)):
            end = begin + len(members)
            spans += [(bucket, at, min(at + size, end)) for at in range(begin, end, size)]
            begin = end
        return spans

    def _epoch(self, number: int) -> _Epoch:
        with self._lock:
            if number not in self._epochs:
                # Loading ahead crosses an epoch's end, so the previous epoch is still asked for.
                self._epochs = {n: e for n, e in self._epochs.items() if abs(n - number) <= 1}
                self._epochs[number] = self._make_epoch(number)
            return self._epochs[number]

    def _make_epoch(self, number: int) -> _Epoch:
        count = len(self._speaker_order)
        order = np.concatenate([*self._members, np.zeros(0, np.int64)])
        batches = np.arange(len(self._spans))
        if self._shuffle:
            draw = self._draw(number, _ORDER, count)
            order = np.concatenate([m[np.argsort(draw[m], kind="stable")] for m in self._members])
            batches = np.argsort(self._draw(number, _BATCHES, len(batches)), kind="stable")
        # One draw serves two: its top 24 bits, so that no float32 rounds up to 1, and its low 31.
        draw = self._draw(number, _POSITIONS, count)
        positions = ((draw >> np.uint64(40)) * 2.0**-24).astype(np.float32)
        noise_seeds = (draw & np.uint64(2**31 - 1)).astype(np.int32)
        return _Epoch(order, batches, self._references(number), positions, noise_seeds)

    def _references(self, number: int) -> np.ndarray:
        """For each row another row of its speaker: a step of 1 to count - 1 around the speaker."""
        count = len(self._speaker_order)
        others = np.maximum(self._speaker_count - 1, 1).astype(np.uint64)
        stride = 1 + (self._draw(number, _REFERENCES, count) % others).astype(np.int64)
        place = np.empty(count, np.int64)
        place[self._speaker_order] = np.arange(count)
        within = (place - self._speaker_first + stride) % np.maximum(self._speaker_count, 1)
        return self._speaker_order[self._speaker_first + within]

    def _draw(self, epoch: int, stream: int, count: int) -> np.ndarray:
        """uint64 [count]. Raw Philox output: NumPy keeps it the same in every version."""
        key = np.array([self._seed, epoch * 4 + stream], np.uint64)
        return np.random.Philox(key=key).random_raw(count)
