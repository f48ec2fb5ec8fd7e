"""What every reader of corpora gives: clips, and the lines that give none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from myxtts.errors import UserError

ONLY_SPEAKER = "default"
"""The speaker of clips that name none."""


@dataclass(frozen=True)
class Clip:
    """One recording and what is said in it."""

    id: str
    audio: Path
    text: str
    speaker: str
    language: str | None
    """A code such as `fa`; None when the corpus does not say."""
    line: int
    """Line number in `source`, from 1."""
    source: Path
    """The file that holds the transcript."""


@dataclass(frozen=True)
class Refused:
    """A line that gives no clip, and why."""

    source: Path
    line: int
    rule: str
    received: str
    remedy: str

    def error(self, folder: Path) -> UserError:
        """For those who cannot go on without this line."""
        return UserError(
            f"{self.source}, line {self.line}: {self.rule}",
            received=self.received,
            remedy=f"{self.remedy}; to see every problem at once: myxtts corpus check {folder}",
        )


@dataclass(frozen=True)
class Listing:
    """A corpus as its files describe it; no audio has been opened."""

    form: str
    """`metadata.csv`, `VCTK` or `Common Voice`."""
    clips: list[Clip]
    refused: list[Refused]

    def add(self, made: Clip | Refused) -> None:
        """Put a line's outcome where it belongs."""
        if isinstance(made, Clip):
            self.clips.append(made)
        else:
            self.refused.append(made)
