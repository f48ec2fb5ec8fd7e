"""Speakers whose every sentence can be had: flite's human voices and espeak-ng's variants.

A source says any text, so what the model says can be compared with what its teacher would have
said. flite is a Debian package (`make system-deps`); espeak-ng comes with the `phonemes` extra.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from clips import test_data

from myxtts.audio.decode import decode, resample, write_wav
from myxtts.data.demo_corpus import SAMPLE_RATE, WORDS_PER_MINUTE, espeak_voice
from myxtts.data.demo_sentences import sentences
from myxtts.data.demo_speaker import FreshSpeaker
from myxtts.data.ljspeech import METADATA

LONGEST = 75
SHORTEST = 30
"""Characters of a sentence: long enough to be understood from its context, short enough to train
on quickly."""


@dataclass(frozen=True)
class Source:
    """A speaker by name; `flite` or a variant of espeak-ng."""

    name: str
    flite: bool = False


@dataclass(frozen=True)
class Line:
    """What a source is to say."""

    id: str
    text: str
    source: Source
    language: str = "en"


def english(count: int, skip: int = 0) -> list[str]:
    """Different sentences: LJSpeech's when the folder of real data is there, else our own."""
    data = test_data()
    if data is None:
        return list(islice(sentences("en", seed=1, held_out=False), skip, skip + count))
    lines = (data / "ljspeech-transcripts.csv").read_text(encoding="utf-8").splitlines()
    texts = [line.split("|")[1] for line in lines]
    plain = [text for text in dict.fromkeys(texts) if SHORTEST <= len(text) <= LONGEST]
    return plain[skip : skip + count]


def persian(count: int, skip: int = 0) -> list[str]:
    """Different Persian sentences."""
    return list(islice(sentences("fa", seed=1, held_out=False), skip, skip + count))


def missing() -> str | None:
    """Why the sources cannot speak; None when they can."""
    return None if shutil.which("flite") else "flite is not installed (make system-deps)"


def speak(lines: Sequence[Line], folder: Path, say: Callable[[str], None]) -> list[Path]:
    """Every line as a WAV of 22,050 Hz in `folder`; flite in two processes at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{line.id}.wav" for line in lines]
    jobs = [(line, path) for line, path in zip(lines, paths, strict=True) if line.source.flite]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: _flite(*job), jobs))
    with FreshSpeaker(seed=1) as espeak:
        for line, path in zip(lines, paths, strict=True):
            if not line.source.flite:
                voice = espeak_voice(line.language, line.source.name)
                samples, rate = espeak.say(line.text, voice, WORDS_PER_MINUTE)
                write_wav(
                    path, resample(samples / np.float32(32768), rate, SAMPLE_RATE), SAMPLE_RATE
                )
    say(f"{len(paths)} sentences spoken by {len({line.source for line in lines})} voices")
    return paths


def _flite(line: Line, path: Path) -> None:
    raw = path.with_suffix(".flite")
    command = ["flite", "-voice", line.source.name, "-t", line.text, "-o", str(raw)]
    subprocess.run(command, check=True, capture_output=True)
    write_wav(path, decode(raw, SAMPLE_RATE), SAMPLE_RATE)
    raw.unlink()


def corpus(lines: Sequence[Line], folder: Path, say: Callable[[str], None]) -> Path:
    """A corpus of these lines, as training reads it."""
    speak(lines, folder / "wavs", say)
    rows = [f"{line.id}|{line.text}|{line.source.name}|{line.language}" for line in lines]
    content = "\n".join(["id|text|speaker|language", *rows, ""])
    (folder / METADATA).write_text(content, encoding="utf-8")
    return folder
