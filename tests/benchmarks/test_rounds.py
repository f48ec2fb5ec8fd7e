"""A pass counts only when every clip came out of it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from clips import BATCH
from rounds import measured


class Contender:
    def __init__(self, clips: int, batches: int) -> None:
        self._rows = np.arange(batches * BATCH) % clips
        self.prepared = 0

    def ready(self) -> None:
        self.prepared += 1

    def batches(self) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self._rows), BATCH):
            yield {"clips": self._rows[start : start + BATCH]}


def test_a_whole_pass_is_measured():
    contender = Contender(2 * BATCH, 2)
    one = measured(contender, 2 * BATCH)
    assert one.clips == 2 * BATCH and 0 < one.first_batch <= one.seconds
    assert contender.prepared == 1


@pytest.mark.parametrize(("clips", "batches"), [(BATCH, 2), (2 * BATCH, 1), (BATCH, 1)])
def test_a_pass_that_loses_or_repeats_clips_is_an_error(clips: int, batches: int):
    with pytest.raises(RuntimeError, match="clips came out"):
        measured(Contender(clips, batches), 2 * BATCH)
