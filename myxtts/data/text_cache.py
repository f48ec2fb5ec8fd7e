"""Token ids of transcripts, kept on disk: computed once for each text, language and setting.

Two files: `text-<settings>-<checksum>.bin` holds plain arrays, `text-<settings>.json` names it and
says where each array lies. An entry's key is a hash of the transcript and of how its language is
found, so a changed transcript is one new entry; the file name carries the tokenizer's
fingerprint, so a changed setting is another cache. Equal transcripts are one entry.

Never threads: espeak-ng keeps global state, so they give wrong phonemes or wait for its lock. Very
many new transcripts are shared out to processes (`text_processes`); fewer are read in this one.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from myxtts.data.checked_file import Damaged, quarantine, read_json, write_json
from myxtts.data.text_processes import Text, encode_in_processes
from myxtts.files import write_atomically
from myxtts.text.languages import detect, language_id
from myxtts.text.tokenizer import Encoded, Tokenizer

FORMAT = 1
_KEY_BYTES = 16
_SAVED_EVERY = 10_000  # new entries; a killed run loses at most these
_WORTH_PROCESSES = 12_000  # new transcripts; with fewer, starting the processes eats the gain
_DTYPES = {"keys": "|u1", "offsets": "<i8", "tokens": "<i2", "language": "<i2"}


@dataclass(frozen=True)
class TokenizedTexts:
    """Token ids of n transcripts, flat."""

    tokens: np.ndarray
    """int16, all transcripts one after the other."""
    offsets: np.ndarray
    """int64 [n + 1]."""
    language: np.ndarray
    """int32 [n], language ids."""
    unknown: Counter[str]
    """Characters that the vocabulary lacks, over all n transcripts."""
    computed: int = 0
    """Different transcripts that were not in the cache."""

    @property
    def lengths(self) -> np.ndarray:
        """int64 [n], tokens of each transcript."""
        return np.diff(self.offsets)

    def select(self, rows: np.ndarray) -> TokenizedTexts:
        """The transcripts of these rows, in this order; what is unknown stays that of all."""
        lengths = self.lengths[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        flat = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return replace(
            self, tokens=self.tokens[flat], offsets=offsets, language=self.language[rows]
        )


@dataclass
class Entries:
    """What is known so far, by position; grows while texts are computed."""

    positions: dict[bytes, int]
    tokens: list[np.ndarray]
    language: list[int]
    unknown: dict[int, dict[str, int]]


def tokenize(
    texts: Sequence[str],
    languages: Sequence[str | None],
    candidates: Sequence[str],
    tokenizer: Tokenizer,
    folder: Path,
    advanced: Callable[[int], None],
    processes: int = 1,
    *,
    forget: bool = True,
) -> TokenizedTexts:
    """Token ids of `texts`, from the cache in `folder` or computed and added to it.

    A language of None is detected among `candidates`. `advanced` hears how many texts are done.
    With more than one of `processes`, many new texts are shared out.
    With `forget`, what is not among `texts` leaves the cache when something is added to it.
    """
    path = folder / f"text-{tokenizer.fingerprint[:16]}.json"
    ways = [language or "detect:" + ",".join(candidates) for language in languages]
    keys = [_key(text, way) for text, way in zip(texts, ways, strict=True)]
    entries = _load(path)
    missing = {
        key: row for row, key in enumerate(keys) if key not in entries.positions
    }  # equal texts collapse here
    done = len(texts) - len(missing)
    advanced(done)
    wanted = [
        (texts[row], languages[row] or detect(texts[row], candidates)) for row in missing.values()
    ]
    computed = zip(missing, wanted, _encode(wanted, tokenizer, processes), strict=True)
    for number, (key, (_, language), encoded) in enumerate(computed, start=1):
        position = len(entries.tokens)
        entries.positions[key] = position
        entries.tokens.append(np.asarray(encoded.ids, np.int16))
        entries.language.append(language_id(language))
        if encoded.unknown:
            entries.unknown[position] = dict(encoded.unknown)
        if number % _SAVED_EVERY == 0:
            _save(path, entries, list(entries.positions))
        if number % 100 == 0 or number == len(missing):
            advanced(done + number)
    if missing:
        _save(path, entries, list(dict.fromkeys(keys) if forget else entries.positions))
    rows = np.array([entries.positions[key] for key in keys], np.int64)
    return replace(_collect(entries, rows), computed=len(missing))


def _encode(wanted: Sequence[Text], tokenizer: Tokenizer, processes: int) -> Iterator[Encoded]:
    if processes > 1 and len(wanted) >= _WORTH_PROCESSES:
        yield from encode_in_processes(wanted, tokenizer, processes)
    else:
        yield from (tokenizer.encode(text, language) for text, language in wanted)


def _key(text: str, way: str) -> bytes:
    return hashlib.blake2b(f"{way}\0{text}".encode(), digest_size=_KEY_BYTES).digest()


def _collect(entries: Entries, positions: np.ndarray) -> TokenizedTexts:
    parts = [entries.tokens[position] for position in positions]
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    unknown: Counter[str] = Counter()
    for position in positions if entries.unknown else ():
        unknown.update(entries.unknown.get(int(position), {}))
    return TokenizedTexts(
        np.concatenate(parts) if parts else np.zeros(0, np.int16),
        offsets,
        np.array(entries.language, np.int32)[positions],
        unknown,
    )


def _save(path: Path, entries: Entries, keys: Sequence[bytes]) -> None:
    """Write the entries of `keys`, and forget on disk those of transcripts that are gone."""
    order = [entries.positions[key] for key in keys]
    kept = _collect(entries, np.array(order, np.int64))
    arrays = {
        "keys": np.frombuffer(b"".join(keys), np.uint8),
        "offsets": kept.offsets,
        "tokens": kept.tokens,
        "language": kept.language,
    }
    content = b"".join(arrays[name].astype(dtype).tobytes() for name, dtype in _DTYPES.items())
    checksum = zlib.crc32(content)
    data = path.with_name(f"{path.stem}-{checksum:08x}.bin")
    write_atomically(data, content)
    body = {
        "format": FORMAT,
        "data": data.name,
        "crc32": checksum,
        "entries": len(keys),
        "lengths": {name: len(arrays[name]) for name in _DTYPES},
        "unknown": {
            str(new): entries.unknown[old]
            for new, old in enumerate(order)
            if old in entries.unknown
        },
    }
    write_json(path, body)
    for other in [*path.parent.glob(f"{path.stem}-*.bin"), *path.parent.glob(".text-*")]:
        if other != data:
            other.unlink(missing_ok=True)


def _load(path: Path) -> Entries:
    if path.exists():
        try:
            return read(path)
        except Damaged as damaged:
            quarantine(damaged)
    return Entries({}, [], [], {})


def read(path: Path) -> Entries:
    """The entries of a cache; `Damaged` when a byte of it is not what was written."""
    body = read_json(path)
    try:
        data = path.parent / Path(body["data"]).name
        content = data.read_bytes()
        if zlib.crc32(content) != body["crc32"]:
            raise Damaged(data, "checksum does not match")
        arrays, at = {}, 0
        for name, dtype in _DTYPES.items():
            arrays[name] = np.frombuffer(content, dtype, body["lengths"][name], at)
            at += arrays[name].nbytes
        unknown = {int(position): counts for position, counts in body["unknown"].items()}
    except OSError as error:
        raise Damaged(path, f"its data file is not readable ({error.strerror})") from error
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(path, "not the description of a text cache") from error
    keys = arrays["keys"].tobytes()
    positions = {keys[i : i + _KEY_BYTES]: i // _KEY_BYTES for i in range(0, len(keys), _KEY_BYTES)}
    tokens = np.split(arrays["tokens"], arrays["offsets"][1:-1]) if positions else []
    return Entries(positions, tokens, arrays["language"].tolist(), unknown)
