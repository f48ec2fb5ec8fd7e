"""Our own loader: cold (the store is being written), warm, and the epochs after that."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tensorflow  # noqa: F401  imported here so that no pass pays for it
from clips import data_config

from myxtts.data import buckets as shapes
from myxtts.data.loader import Loader
from myxtts.data.prepare import prepare
from myxtts.data.sampler import Sampler
from peers import Job

REFERENCE_FRAMES = 256
"""As in training: our batches carry a reference clip beside what the peers deliver."""


def open_loader(corpus: Path, cache: Path) -> Loader:
    """Prepare what is missing and open the rest."""
    data = data_config(cache)
    prepared = prepare(corpus, data)
    buckets = shapes.choose(prepared.token_lengths, prepared.frames, data)
    assignment = shapes.assign(prepared.token_lengths, prepared.frames, buckets)
    sampler = Sampler(assignment, buckets, prepared.speaker, seed=1)
    return Loader(prepared, buckets, sampler, data, REFERENCE_FRAMES)


class Cold:
    """A first run: metadata, text, decoding, mels, writing the store, then the batches."""

    def __init__(self, job: Job) -> None:
        self._corpus = job.workload.folder
        self._cache = job.scratch / "cache"

    def ready(self) -> None:
        shutil.rmtree(self._cache, ignore_errors=True)

    def batches(self) -> Iterator[dict[str, Any]]:
        loader = open_loader(self._corpus, self._cache)
        yield from loader.batches(0, loader.batches_per_epoch)
        loader.close()


class Warm:
    """The first pass of a process over a store that is there: every clip's CRC-32 is checked."""

    def __init__(self, job: Job) -> None:
        self._corpus = job.workload.folder
        self._cache = job.store
        self._loader = open_loader(self._corpus, self._cache)

    def ready(self) -> None:
        self._loader.close()
        self._loader = open_loader(self._corpus, self._cache)

    def batches(self) -> Iterator[dict[str, Any]]:
        yield from self._loader.batches(0, self._loader.batches_per_epoch)


class Later(Warm):
    """The passes after it: checked clips are not checked again."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        for _ in super().batches():
            pass

    def ready(self) -> None:
        pass
