"""The dimensions of each model size, by name.

Owns numbers only: the layers that use them are in `layers`, `attention`, `speaker`, `refiner` and
`xtts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from myxtts.errors import UsageError


@dataclass(frozen=True)
class ModelSize:
    """Every dimension of one model. `dataclasses.replace(size, width=32)` makes a smaller one."""

    name: str

    block: Literal["convolution", "attention"]
    """What the text encoder and the decoder are stacked from."""

    width: int
    """Channels of the text encoder, of the decoder and of the voice vector."""

    kernel: int
    """Taps of every convolution."""

    encoder_blocks: int

    decoder_blocks: int

    duration_width: int
    """Channels inside the duration predictor."""

    duration_blocks: int

    frames_stacked: int
    """Mel frames that the decoder and the refiner handle as one position; every frame axis is a
    multiple of it."""

    refiner_blocks: int
    """Attention blocks of the refiner; 0: the coarse mel is the mel."""

    refiner_width: int

    refiner_steps: int
    """Euler steps of the refiner in synthesis, unless told otherwise."""

    voice_blocks: int
    """Convolution blocks of the voice encoder, after its two strided convolutions."""

    voice_latents: int
    """Latents of the voice encoder's Perceiver; 0: a mean over time instead."""

    voice_layers: int
    """Layers of that Perceiver."""


SIZES: dict[str, ModelSize] = {
    "tiny": ModelSize(
        name="tiny",
        block="convolution",
        width=128,
        kernel=5,
        encoder_blocks=4,
        decoder_blocks=6,
        duration_width=64,
        duration_blocks=2,
        frames_stacked=2,
        refiner_blocks=0,
        refiner_width=128,
        refiner_steps=6,
        voice_blocks=0,
        voice_latents=0,
        voice_layers=0,
    ),
    "small": ModelSize(
        name="small",
        block="attention",
        width=256,
        kernel=3,
        encoder_blocks=4,
        decoder_blocks=4,
        duration_width=128,
        duration_blocks=2,
        frames_stacked=2,
        refiner_blocks=6,
        refiner_width=256,
        refiner_steps=6,
        voice_blocks=3,
        voice_latents=0,
        voice_layers=0,
    ),
    "normal": ModelSize(
        name="normal",
        block="attention",
        width=384,
        kernel=3,
        encoder_blocks=6,
        decoder_blocks=4,
        duration_width=192,
        duration_blocks=2,
        frames_stacked=2,
        refiner_blocks=12,
        refiner_width=384,
        refiner_steps=6,
        voice_blocks=2,
        voice_latents=32,
        voice_layers=2,
    ),
    "big": ModelSize(
        name="big",
        block="attention",
        width=512,
        kernel=3,
        encoder_blocks=8,
        decoder_blocks=6,
        duration_width=256,
        duration_blocks=2,
        frames_stacked=2,
        refiner_blocks=16,
        refiner_width=640,
        refiner_steps=6,
        voice_blocks=2,
        voice_latents=32,
        voice_layers=3,
    ),
}
"""Every size of the family, smallest first."""


def size_named(name: str) -> ModelSize:
    """The size called `name`; a `UsageError` when there is none."""
    if name in SIZES:
        return SIZES[name]
    raise UsageError(
        f"no model size is called {name!r}",
        received=name,
        follows=f"the sizes are {', '.join(SIZES)}",
        remedy=f"--model-size {next(iter(SIZES))}",
    )
