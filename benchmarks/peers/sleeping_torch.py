"""PyTorch's DataLoader: one worker process that sleeps, `prefetch_factor` batches ahead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sleeping import Prepared, nap
from torch.utils.data import DataLoader, Dataset


class Naps(Dataset):
    def __init__(self, naps: Sequence[float]) -> None:
        self._naps = naps

    def __len__(self) -> int:
        return len(self._naps)

    def __getitem__(self, step: int) -> Prepared:
        return step, nap(self._naps[step])


class Torch:
    def batches(self, naps: Sequence[float], depth: int) -> Iterator[Prepared]:
        # Python numbers and no tensors: nothing but the hand-over is left to pay for.
        yield from DataLoader(Naps(naps), batch_size=None, num_workers=1, prefetch_factor=depth)
