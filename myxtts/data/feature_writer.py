"""Audio files to shards of the feature store: only what is missing, in parallel, resumable.

Clips go into shards of 256 in the corpus's order. A shard whose clips are unchanged is kept; in
another, unchanged clips are copied and the rest computed. Each shard appears on disk whole, so a
killed run loses at most the shards in flight, and the bytes at the end are always the same.

Threads, not processes: decoding, hashing and FFT release the GIL, so threads keep the cores as busy
as processes do, start at once, and need nothing of the caller's main module.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from myxtts.audio.decode import AudioError
from myxtts.data.checked_file import Damaged, quarantine
from myxtts.data.recipe import Recipe
from myxtts.data.shards import (
    SHARD_CLIPS,
    Content,
    Moments,
    Shard,
    StoredClip,
    checksum,
    map_shard,
    read_shard,
    sidecar,
    write_shard,
)

_SHARDS_IN_FLIGHT = 2  # one is computed while the one before it is written
_NO_FILE = -1


@dataclass(frozen=True)
class Source:
    """A clip that the store must hold."""

    id: str
    audio: Path


@dataclass(frozen=True)
class Built:
    """The shards of a store that is up to date."""

    shards: list[Shard]
    computed: int
    """Clips whose audio was decoded; the others were there already."""


@dataclass(frozen=True)
class _Previous:
    """Where an earlier run stored a clip."""

    clip: StoredClip
    shard: Shard
    start: int


@dataclass(frozen=True)
class _Result:
    content: Content
    computed: bool


def build(
    folder: Path,
    sources: Sequence[Source],
    recipe: Recipe,
    workers: int,
    advanced: Callable[[int], None],
) -> Built:
    """Bring the shards in `folder` up to date; they hold `sources` in this order.

    `advanced` is called in this thread with the number of clips that are done.
    """
    existing = _read_existing(folder)
    previous = _locate(existing.values())
    groups = [sources[i : i + SHARD_CLIPS] for i in range(0, len(sources), SHARD_CLIPS)]
    stats = [[_stat(source.audio) for source in group] for group in groups]
    submitted: dict[int, list[Future[_Result]]] = {}
    shards: list[Shard] = []
    done = computed = 0
    pool = ThreadPoolExecutor(workers, thread_name_prefix="features")
    try:
        for index, group in enumerate(groups):
            for near in range(index, min(index + _SHARDS_IN_FLIGHT, len(groups))):
                kept = _unchanged(existing.get(near), groups[near], stats[near])
                if not kept and near not in submitted:
                    submitted[near] = [
                        pool.submit(_content, source, stat, previous.get(source.id), recipe)
                        for source, stat in zip(groups[near], stats[near], strict=True)
                    ]
            if index in submitted:
                contents = []
                for number, future in enumerate(submitted.pop(index), start=1):
                    result = future.result()
                    contents.append(result.content)
                    computed += result.computed
                    advanced(done + number)
                shards.append(write_shard(folder, index, contents, recipe))
            else:
                shards.append(existing[index])
            done += len(group)
            advanced(done)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    _remove_leftovers(folder, shards)
    return Built(shards, computed)


def _read_existing(folder: Path) -> dict[int, Shard]:
    """The whole shards of earlier runs by their number; damaged ones are moved aside."""
    shards = {}
    for path in sorted(folder.glob("shard-*.json")):
        number = path.stem.removeprefix("shard-")
        try:
            shards[int(number)] = read_shard(path)
        except Damaged as damaged:
            quarantine(damaged)
    return shards


def _locate(shards: Iterable[Shard]) -> dict[str, _Previous]:
    found = {}
    for shard in shards:
        start = 0
        for clip in shard.clips:
            found[clip.id] = _Previous(clip, shard, start)
            start += shard.recipe.rows(clip.frames)
    return found


def _stat(path: Path) -> tuple[int, int]:
    """(bytes, modification time in ns), or (-1, 0) when there is no such file."""
    try:
        status = path.stat()
    except OSError:
        return _NO_FILE, 0
    return status.st_size, status.st_mtime_ns


def _unchanged(
    shard: Shard | None, group: Sequence[Source], stats: Sequence[tuple[int, int]]
) -> bool:
    if shard is None or any(_worth_another_try(clip) for clip in shard.clips):
        return False
    stored = [(clip.id, clip.size, clip.mtime_ns) for clip in shard.clips]
    return stored == [(source.id, *stat) for source, stat in zip(group, stats, strict=True)]


def _worth_another_try(clip: StoredClip) -> bool:
    """The file was there but could not even be read: rights change without a trace in its times."""
    return clip.size != _NO_FILE and not clip.digest


def _content(
    source: Source, stat: tuple[int, int], previous: _Previous | None, recipe: Recipe
) -> _Result:
    """A clip's rows, copied when its audio did not change."""
    size, mtime_ns = stat
    if size == _NO_FILE:
        return _without_frames(source, stat, "", "the file does not exist", recipe)
    if previous is not None and _worth_another_try(previous.clip):
        previous = None
    if previous is not None and (previous.clip.size, previous.clip.mtime_ns) == stat:
        digest = previous.clip.digest
    else:
        try:
            with source.audio.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            return _without_frames(source, stat, "", error.strerror or str(error), recipe)
    if previous is not None and previous.clip.digest == digest:
        copied = _copy(previous)
        if copied is not None:
            clip = replace(previous.clip, size=size, mtime_ns=mtime_ns)
            return _Result(_with_moments(clip, copied, recipe), computed=False)
    try:
        rows = recipe.compute(source.audio)
    except AudioError as error:
        return _without_frames(source, stat, digest, error.reason, recipe)
    if len(rows) == 0:
        return _without_frames(source, stat, digest, "shorter than one frame", recipe)
    frames = len(rows) - recipe.overlap
    clip = StoredClip(source.id, size, mtime_ns, digest, frames, checksum(rows), "")
    return _Result(_with_moments(clip, rows, recipe), computed=True)


def _with_moments(clip: StoredClip, rows: np.ndarray, recipe: Recipe) -> Content:
    return Content(clip, rows, Moments.of(recipe.mels(rows)))


def _copy(previous: _Previous) -> np.ndarray | None:
    """The stored rows, or None when they cannot be trusted."""
    rows = map_shard(previous.shard)
    count = previous.shard.recipe.rows(previous.clip.frames)
    copied = np.array(rows[previous.start : previous.start + count])
    return copied if checksum(copied) == previous.clip.crc32 else None


def _without_frames(
    source: Source, stat: tuple[int, int], digest: str, reason: str, recipe: Recipe
) -> _Result:
    nothing = recipe.nothing()
    clip = StoredClip(source.id, *stat, digest, 0, checksum(nothing), reason)
    return _Result(_with_moments(clip, nothing, recipe), computed=bool(digest))


def _remove_leftovers(folder: Path, shards: Sequence[Shard]) -> None:
    """Delete shards that nothing names any more, and what a killed run left half-written."""
    wanted = {shard.data.name for shard in shards}
    wanted |= {sidecar(folder, index).name for index in range(len(shards))}
    for path in [*folder.glob("shard-*"), *folder.glob(".shard-*")]:
        if path.name not in wanted and path.suffix != ".damaged":
            path.unlink(missing_ok=True)
