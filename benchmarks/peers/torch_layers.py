"""The parts of our tiny and small network in PyTorch, one for one.

Written for speed as a PyTorch user would: convolutions over channels that lie last in memory, the
library's fused layer normalisation and attention. Parts are called what ours are called in
`myxtts.models`, where their shapes are explained.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from myxtts.models.attention import FEED_FORWARD_FACTOR, ROTATION_BASE, UNHEARD, heads

EPSILON = 1e-3
"""Of Keras's layer normalisation."""


def sequence_mask(lengths: Tensor, size: int) -> Tensor:
    """`[B]` -> `[B, size, 1]`."""
    return (torch.arange(size) < lengths[:, None]).float()[:, :, None]


class Convolution(nn.Conv2d):
    """`[B, L, inputs]` -> `[B, ceil(L / stride), outputs]`, padded as Keras pads `same`.

    As an image one pixel high with channels last: oneDNN then takes `[B, L, C]` as it lies.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        super().__init__(inputs, outputs, (1, kernel), stride=(1, stride))
        self.to(memory_format=torch.channels_last)

    def forward(self, x: Tensor) -> Tensor:
        kernel, stride = self.kernel_size[1], self.stride[1]
        missing = max((-(-x.shape[1] // stride) - 1) * stride + kernel - x.shape[1], 0)
        left, right = missing // 2, missing - missing // 2
        image = x[:, None].permute(0, 3, 1, 2)
        if left != right:
            image, left = functional.pad(image, (left, right)), 0
        out = functional.conv2d(image, self.weight, self.bias, self.stride, (0, left))
        return out.permute(0, 2, 3, 1)[:, 0]


def normalized(x: Tensor) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:], eps=EPSILON)


class FilmBlock(nn.Module):
    """`layers.FilmBlock`."""

    modulations = 2

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.convolve = Convolution(width, width, kernel)
        self.project = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor, *film: Tensor) -> Tensor:
        heard = normalized(x)
        if film:
            heard = torch.addcmul(film[1], heard, 1 + film[0])
        return (x + self.project(self.convolve(heard * mask).relu_())) * mask


class SelfAttention(nn.Module):
    """`attention.SelfAttention`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.heads = heads(width)
        self.to_queries_keys_values = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = self.to_queries_keys_values(x).view(batch, length, 3, self.heads, -1)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(
            rotated(queries), rotated(keys), values, attn_mask=bias
        )
        return self.project(mixed.transpose(1, 2).reshape(batch, length, width))


def rotated(x: Tensor) -> Tensor:
    """`attention.rotated` without the scale, which the fused attention applies."""
    cosines, sines = _rotation(*x.shape[-2:])
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosines - second * sines, first * sines + second * cosines], dim=-1)


@lru_cache(maxsize=64)
def _rotation(length: int, channels: int) -> tuple[Tensor, Tensor]:
    frequencies = ROTATION_BASE ** (-np.arange(channels // 2) / (channels // 2))
    angles = torch.from_numpy(np.arange(length)[:, None] * frequencies)
    return angles.cos().float(), angles.sin().float()


class AttentionBlock(nn.Module):
    """`attention.AttentionBlock`."""

    modulations = 4

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        inner = int(FEED_FORWARD_FACTOR * width)
        self.attention = SelfAttention(width)
        self.convolve = Convolution(width, inner, kernel)
        self.project = nn.Linear(inner, width)

    def forward(self, x: Tensor, mask: Tensor, bias: Tensor, *film: Tensor) -> Tensor:
        scale, shift, local_scale, local_shift = film
        x = x + self.attention(torch.addcmul(shift, normalized(x), 1 + scale), bias)
        heard = torch.addcmul(local_shift, normalized(x), 1 + local_scale) * mask
        return (x + self.project(self.convolve(heard).relu_())) * mask


class FilmStack(nn.Module):
    """`layers.FilmStack`."""

    def __init__(
        self,
        count: int,
        width: int,
        voice_width: int,
        kernel: int,
        block: type[FilmBlock | AttentionBlock] = FilmBlock,
    ) -> None:
        super().__init__()
        self.attentive = block is AttentionBlock
        self.parts = block.modulations
        self.film = nn.Linear(voice_width, count * self.parts * width)
        self.blocks = [block(width, kernel) for _ in range(count)]
        for number, part in enumerate(self.blocks):
            self.add_module(f"block_{number}", part)

    def forward(self, x: Tensor, mask: Tensor, voice: Tensor) -> Tensor:
        # Padding's score, the same for all blocks and heads; finite, so that a row of padding
        # alone is a mean and not NaN.
        bias = [((mask[:, None, None, :, 0] - 1) * -UNHEARD)] if self.attentive else []
        film = self.film(voice)[:, None].chunk(self.parts * len(self.blocks), dim=-1)
        for number, block in enumerate(self.blocks):
            x = block(x, mask, *bias, *film[number * self.parts : (number + 1) * self.parts])
        return x


class VoiceEncoder(nn.Module):
    """`speaker.VoiceEncoder` without the Perceiver, which tiny and small do not have."""

    def __init__(self, n_mels: int, width: int, kernel: int, blocks: int) -> None:
        super().__init__()
        self.halve = Convolution(n_mels, width, kernel, stride=2)
        self.quarter = Convolution(width, width, kernel, stride=2)
        self.blocks = [FilmBlock(width, kernel) for _ in range(blocks)]
        for number, part in enumerate(self.blocks):
            self.add_module(f"block_{number}", part)
        self.project = nn.Linear(width, width)

    def forward(self, reference: Tensor, lengths: Tensor) -> Tensor:
        lengths = (lengths + 1) // 2
        heard = functional.gelu(self.halve(reference))
        heard = heard * sequence_mask(lengths, heard.shape[1])
        lengths = (lengths + 1) // 2
        heard = functional.gelu(self.quarter(heard))
        mask = sequence_mask(lengths, heard.shape[1])
        heard = heard * mask
        for block in self.blocks:
            heard = block(heard, mask)
        return self.project(heard.sum(1) / lengths.clamp(min=1)[:, None])
