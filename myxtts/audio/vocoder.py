"""From mel spectrograms to sound: what every vocoder is, and which there are.

A vocoder is made for the settings of the spectrograms it will get. One that was trained with other
settings is refused, with the settings that differ: it would speak, and it would be wrong. To add
one, write a file with a class like `GriffinLim` and a line in `_MAKERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Protocol

import numpy as np

from myxtts.audio.mel import MelSettings
from myxtts.errors import UsageError, UserError

DEFAULT = "griffin-lim"


class Vocoder(Protocol):
    """Turns spectrograms into samples; calls may come from several threads at once."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> MelSettings:
        """How the spectrograms must have been made."""

    def __call__(self, log_mel: np.ndarray) -> np.ndarray:
        """Natural-log mels, float32 [frames, n_mels] -> float32 [frames * hop] about [-1, 1]."""


Maker = Callable[[MelSettings, int], Vocoder]
"""Settings of the spectrograms and a seed for what is random -> a vocoder."""


def _griffin_lim(settings: MelSettings, seed: int) -> Vocoder:
    from myxtts.audio.griffin_lim import GriffinLim

    return GriffinLim(settings, seed)


# Each imports its file when it is called: a vocoder nobody asked for costs nothing.
_MAKERS: dict[str, Maker] = {DEFAULT: _griffin_lim}


def names() -> list[str]:
    """The vocoders there are, the default first."""
    return list(_MAKERS)


def make(name: str, settings: MelSettings, seed: int = 0) -> Vocoder:
    """The vocoder called `name` for spectrograms of these settings, if it fits them."""
    maker = _MAKERS.get(name)
    if maker is None:
        raise UsageError(
            f"There is no vocoder called {name}",
            received=name,
            remedy=f"--vocoder {DEFAULT}; there are: {', '.join(names())}",
        )
    made = maker(settings, seed)
    differing = [
        f"{key} {value} where the model has {asdict(settings)[key]}"
        for key, value in asdict(made.settings).items()
        if value != asdict(settings)[key]
    ]
    if differing:
        raise UserError(
            f"The vocoder {name} does not fit this model's spectrograms",
            received=f"it was made for {', '.join(differing)}",
            follows="it would speak, and it would be wrong",
            remedy=f"--vocoder {DEFAULT}, which fits every model",
        )
    return made
