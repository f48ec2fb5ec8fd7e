"""Transcripts to tokens: ours in one process, in several and from the cache, and phonemizer.

phonemizer with espeak does less: it neither spells numbers nor numbers symbols nor keeps anything.
Both sides use the same espeak-ng. Every measurement has a fresh process; imports are not counted,
loading espeak-ng is.
"""

from __future__ import annotations

import os
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from clips import WORKERS, test_data
from fresh import in_fresh_process

from myxtts.config import DataConfig
from myxtts.data import buckets as shapes
from myxtts.data import text_cache
from myxtts.data.demo_sentences import sentences
from myxtts.text.tokenizer import Tokenizer

TRANSCRIPTS = 13_100
FROM_CACHE = "ours, from the cache"
OURS_SHARED = f"ours, {WORKERS} processes"
OURS_4X = "ours, 4 x the text"
OURS_4X_SHARED = f"ours, 4 x the text, {WORKERS} processes"
PHONEMIZER_SHARED = f"phonemizer, {WORKERS} jobs"
ENDINGS = ("", " Yes.", " No.", " Then.")
"""Tell four copies of a transcript apart: equal ones would be read once."""


@dataclass
class Speeds:
    """Seconds, one for each round."""

    transcripts: int
    seconds: dict[str, list[float]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def median(self, name: str) -> float | None:
        values = self.seconds.get(name)
        return statistics.median(values) if values else None

    def best(self, *names: str) -> float | None:
        """The smallest median of these ways."""
        medians = [median for name in names if (median := self.median(name)) is not None]
        return min(medians, default=None)


def transcripts(count: int) -> list[str]:
    """LJSpeech's, when the folder of real data is there; otherwise sentences of our own."""
    data = test_data()
    if data is None:
        return list(islice(sentences("en", seed=1, held_out=False), count))
    lines = (data / "ljspeech-transcripts.csv").read_text(encoding="utf-8").splitlines()
    return [line.split("|")[1] for line in lines][:count]


def measure(texts: Sequence[str], scratch: Path, rounds: int, say: Callable[[str], None]) -> Speeds:
    """All ways in turn, `rounds` times."""
    many = [text + ending for ending in ENDINGS for text in texts]
    ways: dict[str, Callable[[], float]] = {
        "ours": lambda: _emptied(scratch, texts, 1),
        OURS_SHARED: lambda: _emptied(scratch / "shared", texts, WORKERS),
        FROM_CACHE: lambda: in_fresh_process(_ours, texts, scratch, 1),
        "phonemizer": lambda: in_fresh_process(_phonemizer, texts, 1),
        PHONEMIZER_SHARED: lambda: in_fresh_process(_phonemizer, texts, WORKERS),
        OURS_4X: lambda: _emptied(scratch / "4x", many, 1),
        OURS_4X_SHARED: lambda: _emptied(scratch / "4x", many, WORKERS),
    }
    speeds = Speeds(len(texts))
    for number in range(rounds):
        for name, way in ways.items():
            if name in speeds.missing:
                continue
            try:
                seconds = way()
            except ImportError as error:
                speeds.missing[name] = f"not installed ({error})"
                continue
            speeds.seconds.setdefault(name, []).append(seconds)
            say(f"round {number + 1}/{rounds}  text, {name}: {seconds:.2f} s")
    return speeds


def useful_frames(texts: Sequence[str], scratch: Path) -> dict[str, Any] | None:
    """Frames of speech / frames computed: a few shapes against one; None without real lengths."""
    data = test_data()
    if data is None:
        return None
    lines = (data / "ljspeech-frames-estimated.csv").read_text(encoding="utf-8").splitlines()
    frames = np.array([int(line.split("|")[1]) for line in lines], np.int32)[: len(texts)]
    tokens = np.diff(_tokenize(texts, scratch, 1).offsets).astype(np.int32)
    outcome: dict[str, Any] = {}
    for kind in ("buckets", "single"):
        config = DataConfig(max_buckets=8, static_shapes=kind)
        chosen = shapes.choose(tokens, frames, config)
        assignment = shapes.assign(tokens, frames, chosen)
        outcome[kind] = {
            "useful": shapes.useful_share(frames, assignment, chosen),
            "shapes": [[b.batch_size, b.text_length, b.mel_frames] for b in chosen],
        }
    return outcome


def _emptied(scratch: Path, texts: Sequence[str], processes: int) -> float:
    shutil.rmtree(scratch, ignore_errors=True)
    return in_fresh_process(_ours, texts, scratch, processes)


def _ours(texts: Sequence[str], folder: Path, processes: int) -> float:
    begin = time.perf_counter()
    _tokenize(texts, folder, processes)
    return time.perf_counter() - begin


def _tokenize(texts: Sequence[str], folder: Path, processes: int) -> text_cache.TokenizedTexts:
    return text_cache.tokenize(
        texts,
        ["en"] * len(texts),
        ["en"],
        Tokenizer("phonemes"),
        folder,
        lambda _done: None,
        processes,
    )


def _phonemizer(texts: Sequence[str], jobs: int) -> float:
    import espeakng_loader
    from phonemizer.backend import EspeakBackend

    # By the environment, so that its jobs find the library too.
    os.environ["PHONEMIZER_ESPEAK_LIBRARY"] = espeakng_loader.get_library_path()
    os.environ["ESPEAK_DATA_PATH"] = espeakng_loader.get_data_path()
    begin = time.perf_counter()
    backend = EspeakBackend("en-us", preserve_punctuation=True, with_stress=True)
    phonemes = backend.phonemize(list(texts), njobs=jobs)
    seconds = time.perf_counter() - begin
    if jobs > 1:
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown()  # its workers would wait 5 minutes for more
    if len(phonemes) != len(texts) or not all(phonemes):
        raise RuntimeError("phonemizer left transcripts out")
    return seconds
