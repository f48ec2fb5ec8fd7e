"""A corpus to try everything with: English and Persian sentences spoken by espeak-ng.

The same arguments give the same bytes. It is for demonstrations, tests and rehearsals; a voice
worth listening to needs recordings of a person.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from itertools import islice
from math import gcd
from pathlib import Path

import numpy as np
import scipy.signal

from myxtts.audio.decode import write_wav
from myxtts.data.checked_file import write_json
from myxtts.data.demo_sentences import sentences
from myxtts.data.demo_speaker import FreshSpeaker
from myxtts.data.ljspeech import METADATA
from myxtts.errors import UsageError, UserError
from myxtts.files import explained, write_atomically
from myxtts.text import espeak
from myxtts.text.languages import LANGUAGES

VOICES = ("rob", "f2", "m7")
"""Variants of espeak-ng's voices; each is one speaker, in every language."""

SAMPLE_RATE = 22050
WORDS_PER_MINUTE = 150
"""How fast every voice speaks."""

_DESCRIPTION = "demo-corpus.json"
_BYTES_PER_CLIP = 160_000  # 3 to 4 seconds of 16-bit mono


def make(
    folder: Path,
    *,
    clips: int,
    seed: int,
    voices: Sequence[str] = VOICES,
    languages: Sequence[str] = ("en", "fa"),
    progress: Callable[[str, int, int], None] | None = None,
) -> Path:
    """Write `clips` spoken sentences into `folder`, languages and voices taking turns.

    `progress("speech", done, clips)` is called after every clip. Returns the folder.
    """
    folder = Path(folder)
    if clips < 1 or not voices or not languages:
        raise UsageError(
            "A corpus needs at least one clip, one voice and one language",
            received=f"{clips} clips, voices {list(voices)}, languages {list(languages)}",
        )
    source = {language: sentences(language, seed, held_out=False) for language in languages}
    spoken_by = {
        (language, voice): espeak_voice(language, voice)
        for language in languages
        for voice in voices
    }
    _check_folder(folder, clips)
    lines = ["id|text|speaker|language"]
    with FreshSpeaker(seed) as speaker:
        for number in range(clips):
            turn, at = divmod(number, len(languages))
            language, voice = languages[at], voices[turn % len(voices)]
            name, text = f"{language}-{number:05d}", next(source[language])
            speech = speaker.say(text, spoken_by[language, voice], WORDS_PER_MINUTE)
            _write(folder / "wavs" / f"{name}.wav", *speech)
            lines.append(f"{name}|{text}|{voice}|{language}")
            if progress is not None:
                progress("speech", number + 1, clips)
    write_atomically(folder / METADATA, "\n".join([*lines, ""]).encode())
    return folder


def held_out(seed: int, n: int, language: str) -> list[str]:
    """`n` sentences that no demonstration corpus contains."""
    return list(islice(sentences(language, seed, held_out=True), n))


def _check_folder(folder: Path, clips: int) -> None:
    """Leave other people's corpora alone; mark the folder as ours before the first clip."""
    if (folder / METADATA).exists() and not (folder / _DESCRIPTION).exists():
        raise UserError(
            f"{folder} already holds a corpus that is not a demonstration",
            follows="nothing was written",
            remedy="name another folder",
        )
    with explained(folder):
        (folder / "wavs").mkdir(parents=True, exist_ok=True)
    free, needed = shutil.disk_usage(folder).free, clips * _BYTES_PER_CLIP
    if free < needed:
        raise UserError(
            f"The disk is full: {clips} clips need about {needed / 1e6:,.0f} MB",
            received=f"{free / 1e6:,.0f} MB free at {folder}",
            remedy="free some space, or ask for fewer clips",
        )
    write_json(folder / _DESCRIPTION, {"made_by": "myxtts demo-corpus"})


def espeak_voice(language: str, variant: str) -> str:
    """espeak's name of a voice; a voice it lacks is a `UserError`, before anything is written."""
    voice = f"{LANGUAGES[language].espeak_voice}+{variant}"
    espeak.phonemes("", voice)
    return voice


def _write(path: Path, samples: np.ndarray, sample_rate: int) -> None:
    signal = samples.astype(np.float32) / 32768.0
    if sample_rate != SAMPLE_RATE:
        common = gcd(SAMPLE_RATE, sample_rate)
        signal = scipy.signal.resample_poly(signal, SAMPLE_RATE // common, sample_rate // common)
    with explained(path):
        write_wav(path, signal, SAMPLE_RATE)
