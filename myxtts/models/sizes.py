"""The dimensions of each model size, by name.

Owns numbers only: the layers that use them are in `layers`, `speaker` and `xtts`.
"""

from __future__ import annotations

from dataclasses import dataclass

from myxtts.errors import UsageError

NAMES = ("tiny", "small", "normal", "big")
"""Every size of the family, smallest first. Those in `SIZES` can be built."""


@dataclass(frozen=True)
class ModelSize:
    """Every dimension of one model. `dataclasses.replace(size, width=32)` makes a smaller one."""

    name: str

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
    """Mel frames that the decoder handles as one position; every frame axis is a multiple of it."""


SIZES: dict[str, ModelSize] = {
    "tiny": ModelSize(
        name="tiny",
        width=128,
        kernel=5,
        encoder_blocks=4,
        decoder_blocks=6,
        duration_width=64,
        duration_blocks=2,
        frames_stacked=2,
    ),
}


def size_named(name: str) -> ModelSize:
    """The size called `name`; a `UsageError` when there is none, or none yet."""
    if name in SIZES:
        return SIZES[name]
    available = ", ".join(SIZES)
    if name in NAMES:
        raise UsageError(
            f"model size {name!r} is not available yet",
            received=name,
            follows=f"available: {available}",
            remedy=f"--model-size {next(iter(SIZES))}",
        )
    raise UsageError(
        f"no model size is called {name!r}",
        received=name,
        follows=f"the sizes are {', '.join(NAMES)}; available: {available}",
        remedy=f"--model-size {next(iter(SIZES))}",
    )
