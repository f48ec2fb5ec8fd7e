"""Checkpoints: weights, optimiser state and position, whole or not there, never a pickle.

    checkpoints/step-00000400/
        model.npz  optimizer.npz  …  arrays, numbered in their owner's order
        checkpoint.json              position, settings, and a SHA-256 of each file

A folder is written beside its final name and renamed when everything is on the disk. A reader
checks every hash before it believes a number. What the arrays mean is the model's business.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from myxtts.errors import UserError
from myxtts.files import explained, sync_folder, write_atomically

FORMAT = 1
REQUIRED = ("model", "optimizer", "references")
"""Groups of arrays that every checkpoint has; others depend on the run."""
_NAME = re.compile(r"step-(\d{8})")
_GROUP = re.compile(r"([a-z_]+)\.npz")


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read and found whole."""

    path: Path
    step: int
    info: dict[str, Any]
    arrays: dict[str, list[np.ndarray]]
    """By group: `REQUIRED`, and what `training.state` adds."""

    @property
    def weights(self) -> list[np.ndarray]:
        """The weights to speak with: the averaged ones where the run kept them."""
        return self.arrays.get("ema", self.arrays["model"])

    @property
    def mel_statistics(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation per mel bin that the model was trained with."""
        mean, std = (np.asarray(self.info[name], np.float32) for name in ("mel_mean", "mel_std"))
        return mean, std


def save(
    folder: Path,
    step: int,
    arrays: Mapping[str, Sequence[np.ndarray]],
    info: Mapping[str, Any],
    keep: int,
    best: int | None = None,
) -> Path:
    """Write the checkpoint of `step`, then remove all but the newest `keep` and that of `best`."""
    final = path_of(folder, step)
    unfinished = folder / f".{final.name}.unfinished"
    with explained(final):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        try:
            hashes = {
                f"{group}.npz": _write_arrays(unfinished / f"{group}.npz", members)
                for group, members in arrays.items()
            }
            manifest = {"format": FORMAT, "step": step, "sha256": hashes, **info}
            text = json.dumps(manifest, indent=1, ensure_ascii=False)
            write_atomically(unfinished / "checkpoint.json", text.encode())
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        if final.exists():
            shutil.rmtree(final)
        unfinished.rename(final)
        sync_folder(folder)
    for old in list_checkpoints(folder)[:-keep]:
        if best is None or old != path_of(folder, best):
            shutil.rmtree(old)
    return final


def path_of(folder: Path, step: int) -> Path:
    """Where the checkpoint of a step is, or would be."""
    return folder / f"step-{step:08d}"


def step_of(path: Path) -> int:
    """The step that a checkpoint's name says."""
    return int(path.name.removeprefix("step-"))


def list_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, oldest first; unfinished ones do not count."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))


def find(path: Path) -> Path:
    """The checkpoint meant by a path: itself, or the newest below a run's folder."""
    if (path / "checkpoint.json").is_file():
        return path
    for folder in (path, path / "checkpoints"):
        found = list_checkpoints(folder)
        if found:
            return found[-1]
    raise UserError(
        f"There is no checkpoint in {path}",
        received=os.fspath(path),
        remedy="name a run's folder (runs/latest) or one of its checkpoints; "
        "train_main.py or myxtts demo makes one",
    )


def load(path: Path) -> Checkpoint:
    """Read a checkpoint, checking every byte of it."""
    path = find(path)
    try:
        info = json.loads((path / "checkpoint.json").read_text(encoding="utf-8"))
        if info["format"] != FORMAT:
            raise _damaged(path, f"its format is {info['format']}, this version reads {FORMAT}")
        files = info["sha256"]
        arrays = {
            group[1]: _read_arrays(path / group[0], files[group[0]])
            for group in filter(None, map(_GROUP.fullmatch, files))
        }
        if missing := [group for group in REQUIRED if group not in arrays]:
            raise _damaged(path, f"it has no {missing[0]}.npz")
        return Checkpoint(path, int(info["step"]), info, arrays)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise _damaged(path, str(error) or type(error).__name__) from error


def _damaged(path: Path, reason: str) -> UserError:
    others = [other.name for other in list_checkpoints(path.parent) if other != path]
    return UserError(
        f"The checkpoint {path} is damaged: {reason}",
        follows="it is not used: wrong weights would give wrong speech without a word",
        remedy=f"use another one: {', '.join(others)}" if others else "train again from the start",
    )


def _write_arrays(path: Path, arrays: Sequence[np.ndarray]) -> str:
    buffer = io.BytesIO()
    np.savez(buffer, **{f"{i:05d}": array for i, array in enumerate(arrays)})  # type: ignore[arg-type]
    content = buffer.getvalue()
    with path.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    return hashlib.sha256(content).hexdigest()


def _read_arrays(path: Path, expected: str) -> list[np.ndarray]:
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != expected:
        raise ValueError(f"{path.name} does not match its checksum")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return [archive[name] for name in sorted(archive.files)]
