"""Common Voice: a table of recordings (`validated.tsv`, else `train.tsv`) and `clips/*.mp3`.

Of its columns, `path` names the recording, `sentence` is what was read, `client_id` who read it and
`locale` in which language; the others (votes, age, accent) are not needed. Fields are separated by
tabs and not quoted.
"""

from __future__ import annotations

from pathlib import Path

from myxtts.data.corpora.clip import ONLY_SPEAKER, Clip, Listing, Refused
from myxtts.data.corpora.inside import Inside, MustNotBeRead, without_suffix
from myxtts.data.corpora.text_lines import Line, read_lines
from myxtts.errors import UserError

TABLES = ("validated.tsv", "train.tsv")
"""Best first: `validated` holds every recording that listeners approved, `train` a part of it."""

_CLIPS = "clips"
_CANTONESE = "zh-HK"  # Common Voice's one locale whose language is not its first part


def recognises(folder: Path) -> bool:
    """Whether the folder has this form."""
    return any((folder / name).exists() for name in TABLES)


def read(folder: Path) -> Listing:
    """Every line of the table as a clip, or as refused."""
    source = folder / next(name for name in TABLES if (folder / name).exists())
    inside = Inside(folder)
    listing = Listing("Common Voice", [], [])
    columns: list[str] = []
    for line in read_lines(inside.required(source.name)):
        if not columns:
            columns = line.text.split("\t")
            if line.problem or not {"path", "sentence"} <= set(columns):
                raise UserError(
                    f"{source}, line 1: {line.problem or 'it must name the columns of the table'}",
                    received=line.beginning,
                    remedy="client_id, path, sentence, locale, … separated by tabs",
                )
        elif line.text.strip():
            listing.add(_clip(line, columns, inside, source))
    return listing


def _clip(line: Line, columns: list[str], inside: Inside, source: Path) -> Clip | Refused:
    if line.problem:
        return Refused(source, line.number, line.problem, line.beginning, line.remedy)
    values = line.text.split("\t")
    fields = {name: value.strip() for name, value in zip(columns, values, strict=False)}
    name = fields.get("path", "")
    if not name or len(values) > len(columns):
        rule = f"a line must have {len(columns)} fields and name its recording in `path`"
        return Refused(source, line.number, rule, line.beginning, "separate the fields by tabs")
    try:
        audio = inside.audio(name, (_CLIPS,))
    except MustNotBeRead as refusal:
        remedy = f"put the file itself into {source.parent / _CLIPS}"
        return Refused(source, line.number, str(refusal), name, remedy)
    return Clip(
        id=without_suffix(name),
        audio=audio,
        text=fields.get("sentence", ""),
        speaker=fields.get("client_id") or ONLY_SPEAKER,
        language=_language(fields.get("locale", "")),
        line=line.number,
        source=source,
    )


def _language(locale: str) -> str | None:
    """`fa` is fa, `zh-CN` is zh."""
    return locale if locale == _CANTONESE else locale.split("-")[0] or None
