"""Lines of text files that somebody else wrote: any line ending, any length, any bytes.

A line that cannot be text is returned with the reason, so that one bad line never costs the others;
nothing is read into memory beyond the longest line that makes sense.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from myxtts.errors import UserError

LONGEST_LINE = 65_536
"""Characters; no transcript of a clip is longer."""

_SHOWN = 80


@dataclass(frozen=True)
class Line:
    """One line; `problem` says why it must not be used."""

    number: int
    text: str
    problem: str = ""
    remedy: str = ""

    @property
    def beginning(self) -> str:
        """What can be shown of it on a terminal."""
        shown = self.text[:_SHOWN]
        return shown if shown.isprintable() else repr(shown)


def read_lines(path: Path, what: str = "the metadata") -> Iterator[Line]:
    """The lines of a UTF-8 file; `what` it is called where a line is refused."""
    try:
        # Universal line ends, but not those of str.splitlines: a transcript may hold U+2028.
        # Bytes that are not UTF-8 come out as lone surrogates, to be found line by line.
        with path.open(encoding="utf-8-sig", errors="surrogateescape") as stream:
            number = 0
            while piece := stream.readline(LONGEST_LINE + 1):
                number += 1
                if len(piece) > LONGEST_LINE and not piece.endswith("\n"):
                    yield _too_long(number, piece)
                    while piece and not piece.endswith("\n"):
                        piece = stream.readline(LONGEST_LINE)
                else:
                    yield _checked(number, piece.rstrip("\n"), what)
    except OSError as error:
        raise UserError(f"{path} cannot be read", received=error.strerror) from error


def _too_long(number: int, piece: str) -> Line:
    return Line(
        number,
        piece,
        f"the line is longer than {LONGEST_LINE:,} characters",
        "one clip a line; is this file what its name says?",
    )


def _checked(number: int, text: str, what: str) -> Line:
    if "\0" in text:
        return Line(number, text, "the line holds NUL bytes", "save the file as UTF-8 text")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return Line(number, text, f"{what} must be UTF-8", "save the file as UTF-8")
    return Line(number, text)
