"""Shards: the files of a feature store.

A shard is two files. `shard-00007-1a2b3c4d.f16` holds the rows of up to 256 clips, little-endian,
one clip after the other; its name carries its checksum. `shard-00007.json` names it and says which
clips it holds, what they were made from and by which recipe, how long they are, and the sums from
which mean and deviation of the mels follow. The JSON is written last and replaces the old one in
one step, so a shard is whole or not there. What a row is, mels or PCM, is the `recipe`'s business;
which clips must be computed is `feature_writer`'s; random access is `feature_store`'s.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from myxtts.data.checked_file import Damaged, read_json, write_json
from myxtts.data.recipe import FORMAT, Recipe
from myxtts.files import write_atomically

SHARD_CLIPS = 256

_COLUMNS = ("id", "size", "mtime_ns", "digest", "frames", "crc32", "reason")


@dataclass(frozen=True)
class StoredClip:
    """One clip of a shard, and the audio file it was made from."""

    id: str
    size: int
    """Bytes of the audio file; -1 when there was none."""
    mtime_ns: int
    digest: str
    """SHA-256 of the audio file, in hexadecimal; empty when there was none."""
    frames: int
    crc32: int
    reason: str
    """Why the clip has no frames; empty when it has."""


@dataclass(frozen=True)
class Moments:
    """Sums over the frames of a clip or of a shard."""

    total: np.ndarray
    """float64 [n_mels], sum of the mels."""
    squares: np.ndarray
    """float64 [n_mels], sum of their squares."""

    @classmethod
    def of(cls, mels: np.ndarray) -> Moments:
        """The moments of [frames, n_mels]."""
        exact = mels.astype(np.float64)
        return cls(exact.sum(axis=0), np.square(exact).sum(axis=0))

    @classmethod
    def sum(cls, parts: Sequence[Moments], n_mels: int) -> Moments:
        """One after the other, so that rounding does not depend on who computed them."""
        total, squares = np.zeros(n_mels), np.zeros(n_mels)
        for part in parts:
            total += part.total
            squares += part.squares
        return cls(total, squares)


@dataclass(frozen=True)
class Content:
    """What one clip puts into a shard."""

    clip: StoredClip
    rows: np.ndarray
    """[rows, width] as the recipe says."""
    moments: Moments


@dataclass(frozen=True)
class Shard:
    """What a shard's JSON says."""

    data: Path
    recipe: Recipe
    clips: tuple[StoredClip, ...]
    moments: Moments

    @property
    def frames(self) -> int:
        return sum(clip.frames for clip in self.clips)

    @property
    def rows(self) -> int:
        return sum(self.recipe.rows(clip.frames) for clip in self.clips)


def sidecar(folder: Path, index: int) -> Path:
    """The JSON of a shard."""
    return folder / f"shard-{index:05d}.json"


def checksum(rows: np.ndarray) -> int:
    """CRC-32 of a clip's rows."""
    return zlib.crc32(rows.data)


def write_shard(folder: Path, index: int, contents: Sequence[Content], recipe: Recipe) -> Shard:
    """Write clips with their rows; the same clips give the same bytes."""
    content = b"".join(np.ascontiguousarray(c.rows, recipe.dtype).tobytes() for c in contents)
    moments = Moments.sum([c.moments for c in contents], recipe.mel.n_mels)
    clips = tuple(c.clip for c in contents)
    crc32 = zlib.crc32(content)
    data = folder / f"shard-{index:05d}-{crc32:08x}.{recipe.suffix}"
    write_atomically(data, content)
    body = {
        "format": FORMAT,
        "recipe": recipe.description,
        "data": data.name,
        "crc32": crc32,
        "clips": {name: [getattr(clip, name) for clip in clips] for name in _COLUMNS},
        "sum": moments.total.tolist(),
        "sum_of_squares": moments.squares.tolist(),
    }
    write_json(sidecar(folder, index), body)
    return Shard(data, recipe, clips, moments)


def read_shard(path: Path) -> Shard:
    """The shard of this JSON, its data file's size checked; `Damaged` when either is not whole."""
    body = read_json(path)
    try:
        recipe = Recipe.from_description(body["recipe"])
        columns = [body["clips"][name] for name in _COLUMNS]
        shard = Shard(
            path.parent / Path(body["data"]).name,
            recipe,
            tuple(StoredClip(*values) for values in zip(*columns, strict=True)),
            Moments(np.array(body["sum"]), np.array(body["sum_of_squares"])),
        )
        bytes_expected = shard.rows * recipe.width * recipe.dtype.itemsize
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(path, "not the description of a shard") from error
    if not shard.data.is_file():
        raise Damaged(path, f"its data file {shard.data.name} is missing")
    if shard.data.stat().st_size != bytes_expected:
        raise Damaged(shard.data, f"{shard.data.stat().st_size:,} of {bytes_expected:,} bytes")
    return shard


def map_shard(shard: Shard) -> np.ndarray:
    """The rows of a shard, [rows, width], memory-mapped and read-only."""
    if shard.rows == 0:  # an empty file cannot be mapped
        return shard.recipe.nothing()
    shape = (shard.rows, shard.recipe.width)
    mapped = np.memmap(shard.data, shard.recipe.dtype, mode="r", shape=shape)
    # A plain view: slicing a np.memmap takes microseconds, a third of the time of a batch.
    return mapped.view(np.ndarray)
