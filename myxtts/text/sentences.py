"""A text of any length cut into pieces that can be spoken one by one.

First at paragraphs, then at the ends of sentences, and a sentence that is too long at its clauses,
or between words where it has none. The rules go by script and punctuation, not by language: this
happens before the language of each sentence is known. Nothing is lost or changed but the space
between pieces; zero-width non-joiners are letters here. A full stop that may belong to an
abbreviation does not cut: two sentences in one piece are heard as two, half a sentence is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from myxtts.text.sentence_words import BEGINNING, LEADING, NUMBERED, TRAILING

LONGEST_PIECE = 200
"""Characters; about what a speaker says in one breath, and what models are trained with."""

WRAPPED_LINE = 50
"""Characters; a line at least this long was broken by its width, a shorter one on purpose."""


class Break(Enum):
    """What parts a piece from the next one; the pause between them goes by it."""

    WORD = "word"
    CLAUSE = "clause"
    SENTENCE = "sentence"
    QUESTION = "question"
    """Also after an exclamation."""
    ELLIPSIS = "ellipsis"
    PARAGRAPH = "paragraph"


@dataclass(frozen=True)
class Piece:
    """A part of a text, and what follows it."""

    text: str
    ends: Break


_INVISIBLE = "\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CLOSING = rf"[\"'”’»›)\]}}」』】）{_INVISIBLE}]*"
_STOPS = ".!?؟…۔।॥"
_OPENING = re.compile(rf"[\s{_STOPS}\"'“‘«‹(\[{{「『【（¿¡—–{_INVISIBLE}-]*")
_WIDE_STOPS = "。！？"  # Chinese and Japanese write no space after them
_ARABIC = "\u0620-\u06d3\u200c"
_END = re.compile(
    rf"[{_STOPS}]+{_CLOSING}(?=\s)|[{_WIDE_STOPS}]+{_CLOSING}"
    # The space after a mark is often forgotten in Persian; one letter before it is an abbreviation.
    rf"|(?:(?<=[{_ARABIC}]{{2}})\.|[؟!]){_CLOSING}(?=[{_ARABIC}]{{2}})"
)
_LAST_WORD = re.compile(r"[\w'’\u200c](?:[\w'’.\u200c-]*[\w'’\u200c])?$")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_]{1,2})*")
_ENUMERATION = re.compile(r"\W*(?:\d{1,3}|[ivxIVX]{1,5})")

_CLAUSE = re.compile(rf"[,;:،؛、，；：…]{_CLOSING}(?=\s)|[、，；：]|[)\]»](?=\s)|\s*[—–](?!\d)")
_GAP = re.compile(r"\s+")
_CONTEXT = 40  # characters around a mark that say whether it ends a sentence
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_SPOKEN = re.compile(r"[^\W_]")


def pieces(text: str, longest: int = LONGEST_PIECE) -> list[Piece]:
    """The text in pieces of at most `longest` characters; none of a text without a word."""
    found: list[Piece] = []
    paragraphs = _BLANK_LINES.split(text.replace("\r\n", "\n").replace("\r", "\n").strip())
    for paragraph in paragraphs:
        spoken = [piece for part in _sentences(paragraph) for piece in _cut(part, longest)]
        if spoken:
            found += [*spoken[:-1], Piece(spoken[-1].text, Break.PARAGRAPH)]
    return found


def halves(piece: Piece) -> tuple[Piece, Piece] | None:
    """A piece cut near its middle, at a clause rather than between words; None: it has one word."""
    point = _cut_point(piece.text, len(piece.text) - 1, len(piece.text) / 2)
    if point is None:
        return None
    end, ends = point
    left, right = piece.text[:end].strip(), piece.text[end:].strip()
    if not (_SPOKEN.search(left) and _SPOKEN.search(right)):
        return None
    return Piece(left, ends), Piece(right, piece.ends)


def _sentences(paragraph: str) -> Iterator[str]:
    """The sentences of a paragraph; one without a word is left to the sentence before it."""
    kept = ""
    for line in _lines(paragraph):
        start = 0
        ends = [match.end() for match in _END.finditer(line) if _is_end(line, match)]
        for end in [*ends, len(line)]:
            part = line[start:end].strip()
            start = end
            if _SPOKEN.search(part):
                if kept:
                    yield kept
                kept = part
            elif kept and part:
                kept = f"{kept} {part}"
    if kept:
        yield kept


def _lines(paragraph: str) -> Iterator[str]:
    """Lines that were ended on purpose, each on one line; those that were wrapped are joined."""
    whole = ""
    for line in paragraph.split("\n"):
        whole = f"{whole} {line.strip()}".strip()
        if len(line.strip()) < WRAPPED_LINE:
            yield whole
            whole = ""
    yield whole


def _is_end(line: str, match: re.Match[str]) -> bool:
    """Whether a mark ends its sentence, by the words on both sides of it."""
    opened = _OPENING.match(line, match.end())
    start = opened.end() if opened else match.end()
    following = line[start : start + _CONTEXT]
    if following[:1].islower():  # "Why?" she asked. Well... perhaps.
        return False
    if not match[0].startswith(".") or match[0].startswith(".."):
        return True
    if _ENUMERATION.fullmatch(line, 0, match.start()):  # 1. Take the bread.
        return False
    before = line[max(0, match.start() - _CONTEXT) : match.start()]
    word = _LAST_WORD.search(before)
    return word is None or not _may_be_short(word[0], before[: word.start()], following)


def _may_be_short(word: str, before: str, following: str) -> bool:
    """Whether the full stop after `word` may belong to it."""
    plain = word.lower()
    if plain in LEADING or (plain in NUMBERED and following[:1].isdigit()):
        return True
    begins = re.match(r"\w+", following)
    if plain in TRAILING or ("." in word and _INITIALS.fullmatch(word)):  # U.S, p.m, Ph.D
        return begins is not None and begins[0] not in BEGINNING
    if len(word) > 1 or not word.isalpha():
        return False
    return word != "I" or not before.rstrip()[-1:].islower()  # J. Smith, but: So did I.


def _cut(sentence: str, longest: int) -> Iterator[Piece]:
    """A sentence in as few pieces as can be, about equally long."""
    rest = sentence
    while len(rest) > longest:
        count = -(-len(rest) // longest)
        point = _cut_point(rest, longest, len(rest) / count)
        end, ends = point or (_between_letters(rest, longest), Break.WORD)
        yield Piece(rest[:end].strip(), ends)
        rest = rest[end:].strip()
    if rest:
        yield Piece(rest, _ending(rest))


def _cut_point(text: str, longest: int, wanted: float) -> tuple[int, Break] | None:
    """Where to cut: the end of a clause near `wanted`, or the gap between words nearest to it."""
    for pattern, ends, reach in ((_CLAUSE, Break.CLAUSE, 0.6), (_GAP, Break.WORD, 1.0)):
        near = [
            match.end()
            for match in pattern.finditer(text, 0, longest + _CONTEXT)
            if match.end() <= longest and abs(match.end() - wanted) <= reach * wanted
        ]
        near = [end for end in near if _SPOKEN.search(text, 0, end) and _SPOKEN.search(text, end)]
        if near:
            return min(near, key=lambda end: abs(end - wanted)), ends
    return None


def _between_letters(text: str, longest: int) -> int:
    """Where to cut what has no gap: not before a sign that belongs to the letter in front of it."""
    end = longest
    while end > 1 and not text[end].isalnum():
        end -= 1
    return end


def _ending(sentence: str) -> Break:
    marks = re.sub(rf"{_CLOSING}$", "", sentence)[-3:]
    if marks.endswith("…") or marks == "...":
        return Break.ELLIPSIS
    return Break.QUESTION if marks[-1:] in tuple("?!؟？！") else Break.SENTENCE
