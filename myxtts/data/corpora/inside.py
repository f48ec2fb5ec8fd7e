"""The files inside a corpus folder: found by name, and never outside of it.

A corpus comes from strangers. Neither `..`, nor an absolute path, nor a symbolic link may make us
read a file that is not in the folder, and no pipe or device may make us wait. Folders are listed
once each: asking the file system about every spelling of every clip would take longer than all the
rest of a start from the cache.
"""

from __future__ import annotations

import os
from os.path import normpath, realpath
from pathlib import Path

from myxtts.errors import UserError

AUDIO_FORMATS = (".wav", ".flac", ".ogg", ".mp3")


class MustNotBeRead(ValueError):
    """A name that leads out of the folder or to no plain file; the message says which."""


def without_suffix(name: str) -> str:
    """A clip's name without the suffix of an audio file."""
    stem, dot, suffix = name.rpartition(".")
    return stem if dot + suffix.lower() in AUDIO_FORMATS else name


class Inside:
    """The files of one corpus folder."""

    def __init__(self, folder: Path) -> None:
        self._root = normpath(folder.absolute())
        self._real_root = realpath(folder)
        self._listings: dict[str, dict[str, bool]] = {}

    def names(self, directory: str) -> set[str]:
        """What lies in a folder of the corpus; nothing when it is not there."""
        return set(self._listing(self._path(directory)))

    def file(self, name: str) -> Path | None:
        """A file by its path in the corpus, or None; `MustNotBeRead` when it lies elsewhere."""
        return self._existing(self._path(name))

    def required(self, name: str) -> Path:
        """A file that the corpus cannot be read without."""
        try:
            found = self.file(name)
        except MustNotBeRead as refusal:
            raise UserError(str(refusal), received=f"{self._root}/{name}") from None
        if found is None:
            raise UserError(f"{self._root}/{name} does not exist or cannot be listed")
        return found

    def audio(self, name: str, places: tuple[str, ...]) -> Path:
        """The file of a clip in the first of `places` that has it, with or without its suffix.

        When none has it, where it should be. `MustNotBeRead` as for `file`.
        """
        whole = without_suffix(name) != name
        candidates = [self._path(name, place) for place in places]
        for candidate in candidates:
            for suffix in ("",) if whole else AUDIO_FORMATS:
                if found := self._existing(candidate + suffix):
                    return found
        return Path(candidates[0] if whole else candidates[-1] + AUDIO_FORMATS[0])

    def _path(self, name: str, place: str = "") -> str:
        path = normpath(name if name.startswith("/") else f"{self._root}/{place}/{name}")
        if not path.startswith(self._root + "/"):
            raise MustNotBeRead("its files must lie inside the corpus folder")
        return path

    def _existing(self, path: str) -> Path | None:
        directory, _, base = path.rpartition("/")
        doubtful = self._listing(directory).get(base)
        if doubtful is None:
            return None
        if doubtful:
            real = realpath(path)
            if not real.startswith(self._real_root + "/"):
                raise MustNotBeRead(
                    "its files must lie inside the corpus folder; this is a link out of it"
                )
            if Path(real).exists() and not Path(real).is_file():
                raise MustNotBeRead("it must be a plain file, not a folder, pipe or device")
        return Path(path)

    def _listing(self, directory: str) -> dict[str, bool]:
        """name -> whether it is more than a plain file."""
        if directory not in self._listings:
            self._listings[directory] = self._list(directory)
        return self._listings[directory]

    def _list(self, directory: str) -> dict[str, bool]:
        try:
            # A folder that is reached by a link puts everything in it in doubt.
            linked = realpath(directory) != self._real_root + directory.removeprefix(self._root)
            with os.scandir(directory) as entries:
                return {
                    entry.name: linked or not entry.is_file(follow_symlinks=False)
                    for entry in entries
                }
        except OSError:
            return {}
