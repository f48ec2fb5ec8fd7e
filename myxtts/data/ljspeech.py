"""Readers of corpora on disk: `metadata.csv` and the audio beside it.

Three forms are known: LJSpeech's `id|text[|normalised text]` without a header, and, with a header
line that names the columns, `audio_file|text|speaker_name` and `id|text|speaker|language`. A
reader says which clips there are; whether their audio can be used is found out by `prepare`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING

from myxtts.config import DataConfig
from myxtts.errors import UserError

if TYPE_CHECKING:
    from myxtts.data.prepare import PreparedCorpus

METADATA = "metadata.csv"
ONLY_SPEAKER = "default"
"""The speaker of clips that name none."""

_FORMATS = (".wav", ".flac", ".ogg", ".mp3")
_COLUMNS = {
    "id": "audio",
    "audio_file": "audio",
    "text": "text",
    "normalised": "normalised",
    "normalized": "normalised",
    "speaker": "speaker",
    "speaker_name": "speaker",
    "language": "language",
}
_FORMS = "id|text, audio_file|text|speaker_name or id|text|speaker|language"


@dataclass(frozen=True)
class Clip:
    """One line of the metadata."""

    id: str
    audio: Path
    text: str
    speaker: str
    language: str | None
    """A code such as `fa`; None when the corpus does not say."""
    line: int
    """Line number in the metadata, from 1."""


class LJSpeechDataset:
    """A corpus folder and what it is read with."""

    def __init__(self, folder: Path | str, data: DataConfig) -> None:
        self.folder = Path(folder)
        self.data = data

    def clips(self) -> list[Clip]:
        """The clips that the metadata lists."""
        return read_corpus(self.folder)

    def prepare(self, progress: Callable[[str, int, int], None] | None = None) -> PreparedCorpus:
        """Text to token ids and audio to mels, computed or from the cache."""
        from myxtts.data.prepare import prepare

        return prepare(self.folder, self.data, progress)


def read_corpus(folder: Path) -> list[Clip]:
    """The clips of a corpus folder, in the order of its metadata."""
    folder = Path(folder)
    lines = _read_lines(folder)
    columns = _header(lines[0]) if lines else None
    find_audio = _audio_finder(folder)
    clips = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or (number == 1 and columns):
            continue
        fields = _named(line, columns) if columns else _ljspeech(line)
        name = fields.get("audio", "")
        if not name:
            raise UserError(
                f"{folder / METADATA}, line {number}: the first column must name the clip",
                received=line[:80],
                remedy=f"one clip a line: {_FORMS}",
            )
        clips.append(
            Clip(
                id=_identifier(name),
                audio=find_audio(name, number),
                text=fields.get("normalised") or fields.get("text", ""),
                speaker=fields.get("speaker") or ONLY_SPEAKER,
                language=fields.get("language") or None,
                line=number,
            )
        )
    if not clips:
        raise UserError(
            f"{folder / METADATA} lists no clip",
            remedy=f"one clip a line ({_FORMS}), or myxtts demo-corpus {folder}",
        )
    return clips


def _read_lines(folder: Path) -> list[str]:
    path = folder / METADATA
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        what = "has no metadata.csv" if folder.is_dir() else "does not exist"
        raise UserError(
            f"{folder} is no corpus: it {what}",
            follows="a corpus is a folder with metadata.csv and the audio in wavs/",
            remedy=f"check the path, or make a corpus to try: myxtts demo-corpus {folder}",
        ) from None
    except OSError as error:
        raise UserError(f"{path} cannot be read", received=error.strerror) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{path}, line {line}: the metadata must be UTF-8",
            received=repr(content[error.start : error.start + 8]),
            remedy="save the file as UTF-8",
        ) from None
    # Not splitlines(): a transcript may hold U+2028 or a vertical tab.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _header(line: str) -> list[str] | None:
    """What the columns mean, when the line is a header; None when it is a clip."""
    names = [name.strip().lower() for name in line.split("|")]
    if "text" not in names or _COLUMNS.get(names[0]) != "audio":
        return None
    return [_COLUMNS.get(name, name) for name in names]


def _named(line: str, columns: list[str]) -> dict[str, str]:
    """Fields by the header's names. Pipes beyond the header's belong to the transcript."""
    values = _split(line, len(columns))
    surplus = len(values) - len(columns)
    at = columns.index("text")
    if surplus > 0:
        values[at : at + surplus + 1] = [" ".join(values[at : at + surplus + 1])]
    return dict(zip(columns, values, strict=False))


def _ljspeech(line: str) -> dict[str, str]:
    """`id|text` or `id|text|normalised`; a pipe inside both texts cuts each into equal parts."""
    name, *texts = _split(line, 3)
    half = len(texts) // 2
    if len(texts) > 2 and len(texts) % 2 == 0:
        return {"audio": name, "text": " ".join(texts[:half]), "normalised": " ".join(texts[half:])}
    return dict(zip(("audio", "text", "normalised"), [name, *texts], strict=False))


def _split(line: str, expected: int) -> list[str]:
    """The columns, without the empty ones that pipes at the end of the line add."""
    values = [value.strip() for value in line.split("|")]
    while len(values) > expected and not values[-1]:
        values.pop()
    return values


def _identifier(name: str) -> str:
    """A clip's name without the suffix of an audio file."""
    stem, dot, suffix = name.rpartition(".")
    return stem if dot + suffix.lower() in _FORMATS else name


def _audio_finder(folder: Path) -> Callable[[str, int], Path]:
    """A function (name, line) -> path: as given, or in `wavs`, with or without a suffix.

    Folders are listed once each: asking the file system about every spelling of every clip would
    take longer than all the rest of a start from the cache.
    """
    root = normpath(folder.absolute())

    @cache
    def listing(directory: str) -> frozenset[str]:
        try:
            return frozenset(path.name for path in Path(directory).iterdir())
        except OSError:
            return frozenset()

    def find(name: str, line: int) -> Path:
        given = normpath(name if name.startswith("/") else f"{root}/{name}")
        if not given.startswith(root + "/"):
            raise UserError(
                f"{folder / METADATA}, line {line}: audio must lie inside the corpus folder",
                received=name,
                remedy=f"move the file into {folder / 'wavs'} and name it from there",
            )
        in_wavs = normpath(f"{root}/wavs/{name}")
        suffixed = _identifier(name) != name
        for candidate in (given, in_wavs):
            directory, _, base = candidate.rpartition("/")
            known = listing(directory)
            for suffix in ("",) if suffixed else _FORMATS:
                if base + suffix in known:
                    return Path(directory, base + suffix)
        return Path(given if suffixed else in_wavs + ".wav")  # not there: prepare reports it

    return find
