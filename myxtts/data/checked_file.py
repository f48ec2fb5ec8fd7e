"""JSON that knows its own checksum, and what happens to a file that is damaged.

The caches of a corpus are built on this: a small checked JSON names the raw data file beside it and
that file's checksum. The JSON is written last, so what it names is complete.
"""

from __future__ import annotations

import json
import logging
import zlib
from pathlib import Path
from typing import Any

from myxtts.files import explained, write_atomically

log = logging.getLogger(__name__)


class Damaged(Exception):
    """A file of a cache is not what was written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def write_json(path: Path, body: dict[str, Any]) -> None:
    """Write `body` with its checksum, atomically."""
    text = _canonical(body)
    write_atomically(path, f'{{"checksum":{_checksum(text)},"body":{text}}}\n'.encode())


def read_json(path: Path) -> dict[str, Any]:
    """The body that was written; `Damaged` when it is not."""
    try:
        document = json.loads(path.read_bytes())
        body, expected = document["body"], document["checksum"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Damaged(path, f"not readable ({type(error).__name__})") from error
    if not isinstance(body, dict) or _checksum(_canonical(body)) != expected:
        raise Damaged(path, "checksum does not match")
    return body


def quarantine(damaged: Damaged) -> None:
    """Move the file aside as `*.damaged` and say so; what needs it is rebuilt."""
    aside = damaged.path.with_name(damaged.path.name + ".damaged")
    with explained(damaged.path):
        if damaged.path.exists():
            damaged.path.replace(aside)
    log.warning("%s; moved to %s and rebuilt", damaged, aside.name)


def _canonical(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode())
