"""What is asked of a speaker, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from myxtts.errors import UsageError

PAUSE_SECONDS = 0.3
"""Between two sentences; every other pause is a share of it."""
LONGEST_PAUSE = 10.0
SLOWEST, FASTEST = 0.5, 2.0

Clips = Path | Sequence[Path]
"""A recording of a voice, or several of the same one."""


@dataclass(frozen=True)
class Request:
    """What to say, and how."""

    text: str
    language: str | None = None
    """None: detected, sentence by sentence, among the checkpoint's languages."""
    reference: Clips | None = None
    """None: a voice of the corpus."""
    speaker: str | None = None
    """Whose voice of the corpus; None: whoever says the most in the language."""
    speed: float = 1.0
    """2 is twice as fast, pauses too."""
    pause: float = PAUSE_SECONDS
    """Seconds between two sentences at speed 1."""

    def __post_init__(self) -> None:
        if not SLOWEST <= self.speed <= FASTEST:
            raise UsageError(
                f"The speed must be between {SLOWEST} and {FASTEST}",
                received=self.speed,
                remedy="--speed 1.0",
            )
        if not 0 <= self.pause <= LONGEST_PAUSE:
            raise UsageError(
                f"The pause between sentences must be between 0 and {LONGEST_PAUSE:g} seconds",
                received=self.pause,
                remedy=f"--pause {PAUSE_SECONDS}",
            )
        if self.reference is not None and self.speaker is not None:
            raise UsageError(
                "A voice comes from a clip or from the corpus, not from both",
                received=f"reference {self.reference} and speaker {self.speaker}",
                remedy="give --reference or --speaker",
            )


@dataclass(frozen=True)
class Sentence:
    """A piece of a text as it was said."""

    text: str
    language: str
    start: float
    """Seconds from the beginning of the sound."""


@dataclass(frozen=True, eq=False)
class Speech:
    """A text as it was said."""

    samples: np.ndarray
    """float32 [n]."""
    sample_rate: int
    sentences: list[Sentence]
    notices: list[str]
    """What a listener may miss, and why."""

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate
