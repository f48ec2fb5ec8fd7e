"""Readers of corpora on disk: which clips there are, whatever the folder's form.

Each reader is a module with `recognises(folder)` and `read(folder)`. Nothing here opens audio:
whether it can be used is found out by `prepare` and `corpus_check`.
"""

from __future__ import annotations

from pathlib import Path

from myxtts.data.corpora import common_voice, metadata_csv, vctk
from myxtts.data.corpora.clip import Clip, Listing
from myxtts.errors import UserError

_READERS = (metadata_csv, vctk, common_voice)
_FORMS = (
    "a corpus is a folder with metadata.csv and the audio in wavs/, "
    "or VCTK (txt/ and wav48…/), or Common Voice (validated.tsv and clips/)"
)


def list_corpus(folder: Path) -> Listing:
    """Every clip of a corpus folder, in the order of its files, and every line that gives none."""
    folder = Path(folder)
    reader = next((reader for reader in _READERS if reader.recognises(folder)), None)
    if reader is None:
        raise _no_corpus(folder)
    listing = reader.read(folder)
    if not listing.clips and not listing.refused:
        raise UserError(
            f"{folder} lists no clip",
            remedy=f"one clip a line ({metadata_csv.FORMS}), or myxtts demo-corpus {folder}",
        )
    return listing


def read_corpus(folder: Path) -> list[Clip]:
    """The clips of a corpus folder; a line that gives none is an error."""
    listing = list_corpus(folder)
    if listing.refused:
        raise listing.refused[0].error(folder)
    return listing.clips


def _no_corpus(folder: Path) -> UserError:
    what = "has no metadata.csv" if folder.is_dir() else "does not exist"
    remedy = f"check the path, or make a corpus to try: myxtts demo-corpus {folder}"
    for inner in _folders_in(folder):
        if any(reader.recognises(inner) for reader in _READERS):
            remedy = f"there is one inside: {inner}"
            break
    return UserError(f"{folder} is no corpus: it {what}", follows=_FORMS, remedy=remedy)


def _folders_in(folder: Path) -> list[Path]:
    """Archives unpack into a folder of their own, which is easily left out of the path."""
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []
