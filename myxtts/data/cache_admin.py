"""The cache folder of a corpus: its marker, and what `myxtts cache list|clear|verify` do.

Only folders that carry our marker are touched, only files with names that our writers give, and a
symbolic link is never followed. What the files mean is known to `text_cache` and `shards`.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from myxtts.data import text_cache
from myxtts.data.checked_file import Damaged, read_json, write_json
from myxtts.data.feature_store import FeatureStore
from myxtts.data.shards import read_shard
from myxtts.errors import UserError
from myxtts.files import explained

log = logging.getLogger(__name__)

FOLDER = ".myxtts"
MARKER = "cache.json"
KINDS = ("mels", "pcm")
"""Folders of feature stores, each with a folder for every recipe."""
_LOCK = "lock"
_SHARDS = "shard-*.json"
_OWN_FILE = re.compile(r"\.?(shard-\d{5}|text-[0-9a-f]+|cache\.json|lock)[-.\w]*")
_OWN_FOLDER = re.compile(rf"{'|'.join(KINDS)}|[0-9a-f]{{16}}")


@dataclass(frozen=True)
class CacheEntry:
    """One cache of a corpus."""

    name: str
    """`text …`, `mels …` or `pcm …` with the fingerprint of the settings."""
    path: Path
    bytes: int
    clips: int
    ok: bool
    """Its descriptions are readable and its files have their sizes (`verify` checks every byte)."""


def mark(folder: Path, corpus: Path) -> None:
    """Make `folder` a cache folder."""
    marker = folder / MARKER
    if not marker.exists():
        write_json(marker, {"format": 1, "corpus": str(corpus.absolute())})


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One process at a time prepares a corpus; the next waits, then finds the work done."""
    try:
        stream = (folder / _LOCK).open("a")
    except OSError:
        # A complete cache on a read-only disk can still be read; a write will say what is wrong.
        yield
        return
    with stream:  # closing it unlocks
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.warning("Another process prepares %s; waiting for it", folder)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def caches(folder: Path) -> list[CacheEntry]:
    """The caches of a corpus folder, of its cache folder, or of all corpora in a `--cache-dir`."""
    entries = []
    for root in _roots(Path(folder)):
        for path in sorted(root.glob("text-*.json")):
            entries.append(_text_entry(path))
        for path in _stores(root):
            entries.append(_store_entry(path))
    return entries


def clear(folder: Path) -> int:
    """Delete the caches of `folder`; the number of bytes that became free."""
    roots = _roots(Path(folder))
    if not roots:
        raise UserError(
            f"{folder} has no cache of ours",
            follows="nothing was deleted",
            remedy="name the corpus folder, or the folder given as --cache-dir",
        )
    return sum(_clear_one(root) for root in roots)


def verify(folder: Path) -> list[str]:
    """Read every byte of the caches of `folder`; one sentence for each problem."""
    problems = []
    for root in _roots(Path(folder)):
        for path in sorted(root.glob("text-*.json")):
            problems += _problem(path)
        for path in [path for store in _stores(root) for path in sorted(store.glob(_SHARDS))]:
            try:
                shard = read_shard(path)
            except Damaged as damaged:
                problems.append(str(damaged))
                continue
            problems += FeatureStore([shard], shard.recipe).verify()
    return problems


def _stores(root: Path) -> list[Path]:
    """The folders of the feature stores in a cache folder."""
    folders = [path for kind in KINDS for path in sorted((root / kind).glob("*"))]
    return [path for path in folders if path.is_dir() and not path.is_symlink()]


def _roots(folder: Path) -> list[Path]:
    """The marked cache folders that `folder` stands for."""
    candidates = [folder, folder / FOLDER]
    if folder.is_dir():
        candidates += sorted(path for path in folder.iterdir() if path.is_dir())
    return list(dict.fromkeys(path for path in candidates if _is_marked(path)))


def _is_marked(folder: Path) -> bool:
    if folder.is_symlink() or not (folder / MARKER).is_file():
        return False
    try:
        return "corpus" in read_json(folder / MARKER)
    except Damaged:
        return False


def _problem(text: Path) -> list[str]:
    try:
        text_cache.read(text)
    except Damaged as damaged:
        return [str(damaged)]
    return []


def _text_entry(path: Path) -> CacheEntry:
    files = [path, *path.parent.glob(f"{path.stem}-*.bin")]
    try:
        clips, ok = len(text_cache.read(path).positions), True
    except Damaged:
        clips, ok = 0, False
    return CacheEntry(path.stem.replace("-", " "), path, _bytes(files), clips, ok)


def _store_entry(folder: Path) -> CacheEntry:
    clips, ok = 0, True
    for path in folder.glob(_SHARDS):
        try:
            clips += sum(clip.frames > 0 for clip in read_shard(path).clips)
        except Damaged:
            ok = False
    name = f"{folder.parent.name} {folder.name}"
    return CacheEntry(name, folder, _bytes(list(folder.iterdir())), clips, ok)


def _bytes(files: list[Path]) -> int:
    return sum(path.lstat().st_size for path in files)


def _clear_one(root: Path) -> int:
    freed = 0
    with locked(root), explained(root):
        # Deepest first, so that folders are empty when their turn comes; walk follows no links.
        for directory, folders, files in os.walk(root, topdown=False):
            for name in files:
                path = Path(directory, name)
                own = _OWN_FILE.fullmatch(name) and _is_ours(root, Path(directory))
                if own and not path.is_symlink() and name not in (MARKER, _LOCK):
                    freed += path.lstat().st_size
                    path.unlink()
            for name in folders:
                path = Path(directory, name)
                if _is_ours(root, path) and not path.is_symlink() and not any(path.iterdir()):
                    path.rmdir()
    return freed


def _is_ours(root: Path, directory: Path) -> bool:
    """Whether our writers put files into this folder of a cache."""
    return all(_OWN_FOLDER.fullmatch(part) for part in directory.relative_to(root).parts)
