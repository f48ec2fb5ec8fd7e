"""Memory for batches, used again as soon as nobody holds the batch any more.

A new array of some megabytes costs more in page faults than filling it does. And TensorFlow takes
an array as it is, without a copy, only when it begins at a multiple of 64 bytes. Both are the same
few lines here; what is in a batch is not this module's business.
"""

from __future__ import annotations

from collections import deque
from math import prod

import numpy as np
from numpy.typing import DTypeLike

_ALIGNMENT = 64  # bytes


class BatchMemory:
    """Arrays on blocks of memory that come back by themselves. Safe in threads.

    It holds as many blocks as were ever in use at the same time.
    """

    def __init__(self) -> None:
        self._free: dict[int, deque[np.ndarray]] = {}

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        """An array with arbitrary content. Its memory is its own until its last view is gone."""
        dtype = np.dtype(dtype)
        # Powers of two: the few shapes of a run share blocks; pages never touched cost nothing.
        size = 1 << max(_ALIGNMENT, prod(shape) * dtype.itemsize - 1).bit_length()
        free = self._free.setdefault(size, deque())
        try:
            block = free.pop()  # the one used last: most of it may still be in the cache
        except IndexError:
            block = _aligned(size)
        return np.asarray(_Lease(block, free, shape, dtype))


class _Lease:
    """What NumPy keeps alive while any view of the array exists."""

    def __init__(
        self, block: np.ndarray, free: deque[np.ndarray], shape: tuple[int, ...], dtype: np.dtype
    ) -> None:
        self._block = block
        self._free = free
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (block.ctypes.data, False),
        }

    def __del__(self) -> None:
        self._free.append(self._block)


def _aligned(size: int) -> np.ndarray:
    """uint8 [size], beginning at a multiple of the alignment."""
    raw = np.empty(size + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + size]
