"""The front of this room: a corpus folder in, a prepared corpus out.

The readers themselves are in `corpora`, one for each form; their names are also here, where users
of the older layout look for them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from myxtts.config import DataConfig
from myxtts.data.corpora import read_corpus
from myxtts.data.corpora.clip import ONLY_SPEAKER, Clip
from myxtts.data.corpora.metadata_csv import METADATA

if TYPE_CHECKING:
    from myxtts.data.prepare import PreparedCorpus

__all__ = ["METADATA", "ONLY_SPEAKER", "Clip", "LJSpeechDataset", "read_corpus"]


class LJSpeechDataset:
    """A corpus folder and what it is read with."""

    def __init__(self, folder: Path | str, data: DataConfig) -> None:
        self.folder = Path(folder)
        self.data = data

    def clips(self) -> list[Clip]:
        """The clips that the corpus lists."""
        return read_corpus(self.folder)

    def prepare(self, progress: Callable[[str, int, int], None] | None = None) -> PreparedCorpus:
        """Text to token ids and audio to mels, computed or from the cache."""
        from myxtts.data.prepare import prepare

        return prepare(self.folder, self.data, progress)
