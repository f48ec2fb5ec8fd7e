"""VCTK: a folder for each speaker, a text file for each sentence, English.

Version 0.92 has `wav48_silence_trimmed/p225/p225_001_mic1.flac` (and `_mic2`), older ones
`wav48/p225/p225_001.wav`; the sentence is in `txt/p225/p225_001.txt`. `speaker-info.txt` tells ages
and accents, which nothing here needs. Sentences without audio and audio without a sentence both
become clips: preparing names what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from myxtts.data.corpora.clip import Clip, Listing, Refused
from myxtts.data.corpora.inside import AUDIO_FORMATS, Inside, MustNotBeRead, without_suffix
from myxtts.data.corpora.text_lines import LONGEST_LINE, read_lines

_AUDIO = ("wav48_silence_trimmed", "wav48")
_TEXTS = "txt"
_MICROPHONE = re.compile(r"_mic\d+$")


def recognises(folder: Path) -> bool:
    """Whether the folder has this form."""
    return (folder / _TEXTS).is_dir() and any((folder / name).is_dir() for name in _AUDIO)


def read(folder: Path) -> Listing:
    """One clip for each sentence of each speaker, from the first microphone that recorded it."""
    spoken = next(name for name in _AUDIO if (folder / name).is_dir())
    suffix = ".wav" if spoken == "wav48" else "_mic1.flac"
    inside = Inside(folder)
    listing = Listing("VCTK", [], [])
    for speaker in sorted(inside.names(spoken) | inside.names(_TEXTS)):
        audio = _first_microphones(inside.names(f"{spoken}/{speaker}"))
        texts = inside.names(f"{_TEXTS}/{speaker}")
        written = {name.removesuffix(".txt") for name in texts if name.endswith(".txt")}
        for sentence in sorted(written.union(audio)):
            recording = f"{spoken}/{speaker}/{audio.get(sentence, sentence + suffix)}"
            listing.add(_clip(inside, folder, sentence, speaker, recording))
    return listing


def _first_microphones(names: Iterable[str]) -> dict[str, str]:
    """sentence -> file name; microphone 1 where there is one."""
    chosen: dict[str, str] = {}
    for name in sorted(names):
        if name.lower().endswith(AUDIO_FORMATS):
            chosen.setdefault(_MICROPHONE.sub("", without_suffix(name)), name)
    return chosen


def _clip(
    inside: Inside, folder: Path, sentence: str, speaker: str, recording: str
) -> Clip | Refused:
    source = folder / _TEXTS / speaker / f"{sentence}.txt"
    try:
        audio = inside.audio(recording, ("",))
        text = inside.file(f"{_TEXTS}/{speaker}/{sentence}.txt")
    except MustNotBeRead as refusal:
        return Refused(source, 1, str(refusal), recording, "put the file itself into the corpus")
    said = "" if text is None else _sentence(text)
    if isinstance(said, Refused):
        return said
    return Clip(sentence, audio, said, speaker, "en", 1, source)


def _sentence(source: Path) -> str | Refused:
    """The lines of a sentence's file as one; few have more than one."""
    said = ""
    for line in read_lines(source):
        if line.problem:
            return Refused(source, line.number, line.problem, line.beginning, line.remedy)
        said = f"{said} {line.text.strip()}"
        if len(said) > LONGEST_LINE:
            rule = f"the text is longer than {LONGEST_LINE:,} characters"
            return Refused(source, line.number, rule, line.beginning, "one sentence a file")
    return said.strip()
