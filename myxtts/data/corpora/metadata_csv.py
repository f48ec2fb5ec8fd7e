"""Corpora with `metadata.csv` and the audio beside it, columns separated by `|`.

Three forms are known: LJSpeech's `id|text[|normalised text]` without a header, and, with a header
line that names the columns, `audio_file|text|speaker_name` and `id|text|speaker|language`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from myxtts.data.corpora.clip import ONLY_SPEAKER, Clip, Listing, Refused
from myxtts.data.corpora.inside import Inside, MustNotBeRead, without_suffix
from myxtts.data.corpora.text_lines import Line, read_lines

METADATA = "metadata.csv"
FORMS = "id|text, audio_file|text|speaker_name or id|text|speaker|language"

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


def recognises(folder: Path) -> bool:
    """Whether the folder has this form."""
    return (folder / METADATA).exists()


def read(folder: Path) -> Listing:
    """Every line of the metadata as a clip, or as refused."""
    source = folder / METADATA
    inside = Inside(folder)
    listing = Listing(METADATA, [], [])
    columns: list[str] | None = None
    for line in read_lines(inside.required(METADATA)):
        if line.number == 1 and not line.problem:
            columns = _header(line.text)
            if columns:
                continue
        if line.text.strip():
            listing.add(_clip(line, columns, inside, source))
    return listing


def _clip(line: Line, columns: list[str] | None, inside: Inside, source: Path) -> Clip | Refused:
    if line.problem:
        return Refused(source, line.number, line.problem, line.beginning, line.remedy)
    fields = _named(line.text, columns) if columns else _ljspeech(line.text)
    name = fields.get("audio", "")
    if not name:
        rule = "the first column must name the clip"
        return Refused(source, line.number, rule, line.beginning, f"one clip a line: {FORMS}")
    try:
        path = inside.audio(name, ("", "wavs"))
    except MustNotBeRead as refusal:
        remedy = f"put the file itself into {source.parent / 'wavs'} and name it from there"
        return Refused(source, line.number, str(refusal), name, remedy)
    return Clip(
        id=without_suffix(name),
        audio=path,
        text=fields.get("normalised") or fields.get("text", ""),
        speaker=fields.get("speaker") or ONLY_SPEAKER,
        language=fields.get("language") or None,
        line=line.number,
        source=source,
    )


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
    """`id|text` or `id|text|normalised`; pipes inside the texts make more columns."""
    name, *texts = _split(line, 3)
    if len(texts) > 2:
        at = _middle(texts)
        texts = [" ".join(texts[:at]), " ".join(texts[at:])]
    return dict(zip(("audio", "text", "normalised"), [name, *texts], strict=False))


def _middle(parts: list[str]) -> int:
    """Where the second text begins: both say the same, so they share their pipes and words."""

    def alike(at: int) -> tuple[int, int]:
        left, right = " ".join(parts[:at]), " ".join(parts[at:])
        shared = Counter(left.split()) & Counter(right.split())
        return shared.total(), -abs(len(left) - len(right))

    return max({len(parts) // 2, (len(parts) + 1) // 2}, key=alike)


def _split(line: str, expected: int) -> list[str]:
    """The columns, without the empty ones that pipes at the end of the line add."""
    values = [value.strip() for value in line.split("|")]
    while len(values) > expected and not values[-1]:
        values.pop()
    return values
