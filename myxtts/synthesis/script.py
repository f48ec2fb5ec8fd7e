"""A request made ready for the model: its pieces, their language, tokens and voice.

What cannot be said is refused here, before anything is computed. A piece with more tokens than the
model was trained with is cut further, and so is one whose speech did not fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from myxtts.errors import UsageError
from myxtts.synthesis.mel_frames import Utterance
from myxtts.synthesis.request import Request
from myxtts.synthesis.voices import Voices
from myxtts.text.languages import detect_each
from myxtts.text.sentences import Break, Piece, halves, pieces
from myxtts.text.tokenizer import Tokenizer

# Shares of the pause between two sentences.
_PAUSES = {
    Break.CLAUSE: 0.5,
    Break.SENTENCE: 1.0,
    Break.QUESTION: 1.2,
    Break.ELLIPSIS: 1.6,
    Break.PARAGRAPH: 2.5,
}
_BETWEEN_WORDS = 0.04  # seconds: no pause that anybody hears, and room to cross-fade


@dataclass(eq=False)
class Part:
    """A piece on its way through model and vocoder; changed by the performing thread alone."""

    piece: Piece
    utterance: Utterance
    sound: Future[np.ndarray] | None = None
    cut: tuple[Part, ...] = ()
    """What it was cut into when it did not fit."""

    def said(self) -> Iterator[Part]:
        """Itself, or what it was cut into, in order."""
        if self.cut:
            for part in self.cut:
                yield from part.said()
        else:
            yield self


@dataclass(eq=False)
class Script:
    """A request that can be said."""

    request: Request
    parts: list[Part]
    notices: list[str] = field(default_factory=list)

    def said(self) -> list[Part]:
        """The parts whose sounds make up the whole, in order."""
        return [each for part in self.parts for each in part.said()]

    def pauses(self) -> list[float]:
        """Seconds after each of `said`."""
        pause, speed = self.request.pause, self.request.speed
        return [
            _BETWEEN_WORDS if part.piece.ends is Break.WORD
            else pause / speed * _PAUSES[part.piece.ends]
            for part in self.said()
        ]  # fmt: skip


class ScriptWriter:
    """Makes scripts for one checkpoint."""

    def __init__(self, tokenizer: Tokenizer, voices: Voices, most_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._voices = voices
        self._most_tokens = most_tokens

    def write(self, request: Request) -> Script:
        """The script of a request; a `UserError` when it cannot be said."""
        cut = pieces(request.text)
        if not cut:
            raise UsageError(
                "There is nothing to say",
                received=repr(request.text[:40]),
                remedy='myxtts say "Hello."',
            )
        languages = self._languages(request, [piece.text for piece in cut])
        unknown: Counter[str] = Counter()
        parts = [
            part
            for piece, language in zip(cut, languages, strict=True)
            for part in self._parts(piece, language, request, unknown)
        ]
        notices = []
        if unknown:
            listed = " ".join(symbol for symbol, _ in unknown.most_common(10))
            notices.append(f"not pronounced, the vocabulary lacks it: {listed}")
        return Script(request, parts, notices)

    def _languages(self, request: Request, texts: list[str]) -> list[str]:
        spoken = self._voices.languages
        if request.language is None:
            return detect_each(texts, spoken)
        if request.language not in spoken:
            raise UsageError(
                f"This checkpoint does not speak {request.language}",
                received=f"language {request.language}",
                remedy=f"choose one of: {', '.join(spoken)}",
            )
        return [request.language] * len(texts)

    def halved(self, part: Part, request: Request) -> tuple[Part, ...]:
        """A part that did not fit, cut near its middle; nothing when it is a single word."""
        cut = halves(part.piece)
        language = part.utterance.language
        return tuple(
            each for half in cut or () for each in self._parts(half, language, request, Counter())
        )

    def _parts(
        self, piece: Piece, language: str, request: Request, unknown: Counter[str]
    ) -> Iterator[Part]:
        encoded = self._tokenizer.encode(piece.text, language)
        cut = halves(piece) if len(encoded.ids) > self._most_tokens else None
        if cut:
            for half in cut:
                yield from self._parts(half, language, request, unknown)
            return
        unknown.update(encoded.unknown)
        # One word of more tokens than any was trained with: its beginning is said.
        ids = encoded.ids[: self._most_tokens]
        yield Part(piece, Utterance(ids, language, self._voice(request, language), request.speed))

    def _voice(self, request: Request, language: str) -> np.ndarray:
        if request.reference is None:
            return self._voices.of_corpus(language, request.speaker)
        clips = request.reference
        return self._voices.of_clips([clips] if isinstance(clips, (str, Path)) else clips)
