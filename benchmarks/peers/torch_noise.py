"""The refiner's noise in PyTorch: drawn as a PyTorch user draws it, or ours to the bit."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def drawn(seeds: Tensor, frames: int, bins: int) -> tuple[Tensor, Tensor]:
    """PyTorch's own generator: other numbers than ours, and cheaper ones."""
    batch = len(seeds)
    return torch.randn(batch, frames, bins), torch.rand(batch)


def hashed(seeds: Tensor, frames: int, bins: int) -> tuple[Tensor, Tensor]:
    """`myxtts.models.noise`: to compare losses."""
    rows = _scrambled(seeds.long() & _MASK)
    of_frames = _scrambled(rows[:, None] + _places(frames))
    of_bins = _scrambled(of_frames[:, :, None] + _places(bins))
    return math.sqrt(2.0) * torch.erfinv(2.0 * _unit(of_bins) - 1.0), _unit(_scrambled(rows))


_MASK = 0xFFFFFFFF
_STRIDE = 0x9E3779B9


def _places(count: int) -> Tensor:
    return torch.arange(1, count + 1) * _STRIDE & _MASK


def _scrambled(bits: Tensor) -> Tensor:
    bits = bits & _MASK
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        bits = bits ^ (bits >> shift)
        bits = bits * factor & _MASK
    return bits ^ (bits >> 16)


def _unit(bits: Tensor) -> Tensor:
    return ((bits >> 9).float() + 0.5) * 2.0**-23
