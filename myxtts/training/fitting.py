"""Work that does not fit into a device's memory is done in parts: which, and in how many.

A `Fitting` belongs to one device's work and to the thread that does it. It tries, and when the
memory is not enough it tries again with the batch cut in two, in four, …; what it learned of a
shape holds for every later batch of it, so that nothing fails twice. Parts of one batch have one
static shape, so that a cut costs one compilation. What a part computes is its owner's business.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import tensorflow as tf

from myxtts.errors import UserError

if TYPE_CHECKING:
    from myxtts.training.preprocess import Batch

Result = TypeVar("Result")
OutOfMemory = tf.errors.ResourceExhaustedError


@dataclass(frozen=True)
class Shortage:
    """A device had not enough memory for batches of one shape, and what is done instead."""

    work: str
    """What did not fit: training, validating, preprocess, upload or transfer."""
    device: str
    rows: int
    """Clips of the batch."""
    length: int
    """Frames of the batch's mels, or samples of its sound."""
    parts: int
    """In how many parts it is done from now on; 1: it is copied later, when its turn has come."""


Shortages = deque[Shortage]
"""Appended to by the thread that met one, emptied by the thread that tells of them."""


class Fitting:
    """Does one kind of work in as few parts as the device's memory allows."""

    def __init__(self, work: str, device: str, shortages: Shortages | None = None) -> None:
        self.shortages: Shortages = deque() if shortages is None else shortages
        self._work = work
        self._device = device
        self._parts: dict[tuple[int, int], int] = {}

    def do(self, batch: Batch, attempt: Callable[[int], Result]) -> Result:
        """`attempt(parts)` with as many parts as it takes; nothing may change when it fails."""
        rows, length = shape = shape_of(batch)
        known = parts = self._parts.get(shape, 1)
        while True:
            try:
                result = attempt(parts)
                break
            except OutOfMemory as error:
                if parts >= rows:
                    raise self._hopeless(length, error) from error
                parts = min(2 * parts, rows)
        if parts != known:
            self._parts[shape] = parts
            self.shortages.append(Shortage(self._work, self._device, rows, length, parts))
        return result

    def _hopeless(self, length: int, error: Exception) -> UserError:
        first_line = str(error).split("\n")[0]
        return UserError(
            f"The memory of {self._device} is not enough for a single clip ({self._work})",
            received=f"a clip of length {length}: {first_line}",
            follows="training stops; the checkpoints so far are unharmed",
            remedy="a smaller --model-size or data.max_mel_frames, data.pipeline_depth: 1, or a "
            "higher memory limit; then go on with --resume",
        )


def shape_of(batch: Batch) -> tuple[int, int]:
    """Rows of a batch, and the length of its sound, by which shapes are told apart."""
    sound = batch["mels"] if "mels" in batch else batch["samples"]
    return int(sound.shape[0]), int(sound.shape[1])


def cut(batch: Batch, parts: int, *, exactly: bool = False) -> list[Batch]:
    """At most `parts` batches of one shape, each where the whole batch is, in its order.

    The last one may end in fillers: its last row once more, with a weight of 0. Fewer parts may
    be enough for all rows; with `exactly`, the parts beyond them are fillers only.
    """
    rows, _ = shape_of(batch)
    size = -(-rows // parts)
    return [
        {name: _rows(name, array, start, size) for name, array in batch.items()}
        for start in range(0, size * parts if exactly else rows, size)
    ]


def joined(parts: Sequence[Batch], rows: int) -> Batch:
    """The batch that was cut into `parts`, without the fillers."""
    return {
        name: tf.concat([part[name] for part in parts], axis=0)[:rows]
        if parts[0][name].shape.rank
        else parts[0][name]
        for name in parts[0]
    }


def _rows(name: str, array: Any, start: int, size: int) -> Any:
    """Rows of a batch's array, on its own device; what has no rows belongs to every part."""
    if not len(array.shape):
        return array
    rows = np.arange(start, start + size)
    last = int(array.shape[0]) - 1
    taken = np.minimum(rows, last)
    inside = (rows <= last).astype(np.float32)
    if isinstance(array, np.ndarray):
        return array[taken] * inside if name == "weights" else array[taken]
    with tf.device(array.device):
        part = tf.gather(array, taken)
        return part * inside if name == "weights" else part
