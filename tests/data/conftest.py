"""Small real corpora: harmonic tones with noise, written as WAV files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from myxtts.audio.decode import write_wav
from myxtts.config import DataConfig

WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "while", "geese"]


def tone(seconds: float, pitch: float, seed: int) -> np.ndarray:
    """float32 samples at 22,050 Hz that differ for every seed."""
    time = np.arange(int(seconds * 22050)) / 22050
    voice = sum(np.sin(2 * np.pi * pitch * k * time) / k for k in range(1, 6))
    noise = np.random.default_rng(seed).normal(0, 0.05, len(time))
    return (0.2 * voice + noise).astype(np.float32)


@pytest.fixture
def data() -> DataConfig:
    """Characters instead of phonemes: these tests are not about espeak."""
    return DataConfig(text_units="characters", language="en", batch_size=4, num_workers=2)


@pytest.fixture
def make_corpus(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """make_corpus(clips=12, speakers=2) -> folder with metadata.csv and wavs/."""

    def make(clips: int = 12, speakers: int = 2, name: str = "corpus") -> Path:
        folder = tmp_path / name
        (folder / "wavs").mkdir(parents=True)
        lines = ["id|text|speaker|language"]
        for number in range(clips):
            seconds = 0.6 + 0.13 * (number % 11)
            write_wav(
                folder / "wavs" / f"c{number:03d}.wav",
                tone(seconds, 110 + 5 * number, number),
                22050,
            )
            words = [WORDS[(number * 3 + k) % len(WORDS)] for k in range(2 + number % 4)]
            lines.append(f"c{number:03d}|{' '.join(words)}.|s{number % speakers}|en")
        (folder / "metadata.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder

    yield make
