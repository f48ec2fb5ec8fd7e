"""Random numbers that are a function of a seed and a place, and of nothing else.

A generator with a state would give other numbers after a compilation, a validation or a resume; one
that is drawn for a whole array gives a clip other numbers in a larger bucket or another row. Here
every number is a hash of its row's seed, its frame and its bin.
"""

from __future__ import annotations

import math

from keras import ops

from myxtts.models.layers import Tensor

_STRIDE = 0x9E3779B9  # 2**32 over the golden ratio: neighbours start far apart


def normal(seeds: Tensor, frames: int, bins: int) -> Tensor:
    """Standard normal numbers: `seeds int32[B]` -> `float32 [B, frames, bins]`."""
    rows = _scrambled(ops.cast(seeds, "uint32"))  # [B]
    of_frames = _scrambled(rows[:, None] + _places(frames))  # [B, frames]
    of_bins = _scrambled(of_frames[:, :, None] + _places(bins))  # [B, frames, bins]
    return math.sqrt(2.0) * ops.erfinv(2.0 * _unit(of_bins) - 1.0)


def uniform(seeds: Tensor) -> Tensor:
    """One number in (0, 1) of each row: `seeds int32[B]` -> `float32 [B]`."""
    # Twice scrambled: `normal` starts from a row's seed scrambled once.
    return _unit(_scrambled(_scrambled(ops.cast(seeds, "uint32"))))


def _places(count: int) -> Tensor:
    """`uint32 [count]`, not starting at 0, whose scrambled value is 0."""
    return ops.cast(ops.arange(1, count + 1), "uint32") * ops.cast(_STRIDE, "uint32")


def _scrambled(bits: Tensor) -> Tensor:
    """Each `uint32` to another one (a permutation): every bit in depends on every bit out."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        bits = ops.bitwise_xor(bits, ops.right_shift(bits, ops.cast(shift, "uint32")))
        bits = bits * ops.cast(factor, "uint32")
    return ops.bitwise_xor(bits, ops.right_shift(bits, ops.cast(16, "uint32")))


def _unit(bits: Tensor) -> Tensor:
    """`uint32` -> float32 in (0, 1): 23 bits and a half, which float32 holds without rounding."""
    top = ops.cast(ops.right_shift(bits, ops.cast(9, "uint32")), "float32")
    return (top + 0.5) * 2.0**-23
