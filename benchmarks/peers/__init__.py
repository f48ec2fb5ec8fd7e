"""The contenders: our loader in its states, and the ways other people load the same clips.

Every module imports its library at the top, and is itself imported only in the process that runs
it: a library that is not installed is a missing contender, not an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from clips import Workload


@dataclass(frozen=True)
class Job:
    """What a contender is given."""

    workload: Workload
    npy: list[Path]
    """The same mels as .npy files, clip by clip."""
    scratch: Path
    """A folder of its own."""
    store: Path
    """Our cache of the workload, prepared."""


class Contender(Protocol):
    """One way to load the workload's clips."""

    def ready(self) -> None:
        """What comes before a pass and is not measured."""

    def batches(self) -> Iterator[dict[str, Any]]:
        """One pass over all clips: `clips`, `tokens`, `token_lengths`, `mels`, `mel_lengths`."""
        ...


@dataclass(frozen=True)
class Entry:
    """A contender by name."""

    title: str
    module: str
    factory: str
    kind: str
    """ours, live (computes mels from audio), stored (reads them), limit."""


ENTRIES = {
    "cold": Entry("MyXTTS, first epoch, store being written", "ours", "Cold", "ours"),
    "warm": Entry("MyXTTS, from the store, every checksum checked", "ours", "Warm", "ours"),
    "later": Entry("MyXTTS, later epochs of the same process", "ours", "Later", "ours"),
    "dali": Entry("NVIDIA DALI on the CPU", "dali", "Dali", "live"),
    "torch": Entry("PyTorch DataLoader + soundfile + torch.stft", "pytorch", "Stft", "live"),
    "librosa": Entry("PyTorch DataLoader + soundfile + librosa", "librosa_mel", "Librosa", "live"),
    "tfdata": Entry("plain tf.data: decode_wav + stft in map", "tfdata", "TfData", "live"),
    "npy": Entry("PyTorch DataLoader + mels cached as .npy", "pytorch", "Npy", "stored"),
    "memcpy": Entry("the limit: a bare memcpy of the same bytes", "memcpy", "Memcpy", "limit"),
}


def create(name: str, job: Job) -> Contender:
    """The contender of this name; `ImportError` when its library is missing."""
    entry = ENTRIES[name]
    factory = getattr(import_module(f"peers.{entry.module}"), entry.factory)
    contender: Contender = factory(job)
    return contender
