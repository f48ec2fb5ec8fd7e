"""One training of a benchmark, and the model speaking afterwards: what a user would run."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fresh import in_fresh_process

from myxtts.audio.decode import write_wav
from myxtts.config import Config
from myxtts.training.progress import Report, Silent


def train(corpus: Path, run: Path, settings: dict[str, Any]) -> float:
    """Train in a process of its own; seconds from its start to its last checkpoint."""
    begin = time.perf_counter()
    in_fresh_process(_train, corpus, run, settings)
    return time.perf_counter() - begin


def _train(corpus: Path, run: Path, settings: dict[str, Any]) -> None:
    from myxtts.training.run import train as run_training

    own = {"data.train_data": str(corpus), "training.output_dir": str(run)}
    run_training(Config().replaced({**own, **settings}), _Lines())


class _Lines(Silent):
    """The figures of every interval, on standard error."""

    def say(self, text: str) -> None:
        print(f"          {text}", file=sys.stderr, flush=True)

    def reported(self, report: Report) -> None:
        self.say(report.line())


def speak(
    run: Path,
    texts: Sequence[str],
    references: Sequence[Path],
    languages: Sequence[str],
    paths: Sequence[Path],
) -> None:
    """Let the model say every text into its file, in a process of its own."""
    in_fresh_process(_speak, run, list(texts), list(references), list(languages), list(paths))


def _speak(
    run: Path, texts: list[str], references: list[Path], languages: list[str], paths: list[Path]
) -> None:
    from myxtts.synthesis import Speaker

    speaker = Speaker.load(run)
    for path, samples in zip(paths, speaker.say_many(texts, references, languages), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_wav(path, samples, speaker.mel.sample_rate)
