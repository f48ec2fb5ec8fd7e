"""The languages: one table, the model's number for each, and detection among the configured ones.

The order of the table is part of every checkpoint (it indexes the language embedding): add new
languages at the end only.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from myxtts.errors import UsageError

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


@dataclass(frozen=True)
class Language:
    """What the other modules of this room need to know about a language."""

    code: str
    """ISO 639-1, as users write it."""
    name: str
    espeak_voice: str
    num2words: str | None
    """The name of its number speller, or None: then espeak reads the digits itself."""
    right_to_left: bool


# num2words does not know hi and zh, and writes Japanese numbers in kanji, which espeak cannot
# read; espeak reads the digits of all three.
LANGUAGES: dict[str, Language] = {
    language.code: language
    for language in (
        Language("en", "English", "en-us", "en", False),
        Language("fa", "Persian", "fa", "fa", True),
        Language("ar", "Arabic", "ar", "ar", True),
        Language("cs", "Czech", "cs", "cs", False),
        Language("de", "German", "de", "de", False),
        Language("es", "Spanish", "es", "es", False),
        Language("fr", "French", "fr", "fr", False),
        Language("hi", "Hindi", "hi", None, False),
        Language("hu", "Hungarian", "hu", "hu", False),
        Language("it", "Italian", "it", "it", False),
        Language("ja", "Japanese", "ja", None, False),
        Language("ko", "Korean", "ko", "ko", False),
        Language("nl", "Dutch", "nl", "nl", False),
        Language("pl", "Polish", "pl", "pl", False),
        Language("pt", "Portuguese", "pt", "pt", False),
        Language("ru", "Russian", "ru", "ru", False),
        Language("tr", "Turkish", "tr", "tr", False),
        Language("zh", "Chinese", "cmn", None, False),
    )
}

_TELLING_LETTERS = 16  # in a sentence, for its language to be told from them alone
_IDS = {code: number for number, code in enumerate(LANGUAGES)}


def language(code: str) -> Language:
    """The table's row for a code; an unknown code is the user's mistake."""
    try:
        return LANGUAGES[code]
    except KeyError:
        raise _unknown(code) from None


def language_id(code: str) -> int:
    """The position in the table: the index of the model's language embedding."""
    return _IDS[language(code).code]


def detect(text: str, candidates: Sequence[str]) -> str:
    """The most probable of the candidate languages; with one candidate there is no question."""
    codes = tuple(dict.fromkeys(language(code).code for code in candidates))
    if not codes:
        raise UsageError("at least one language is needed", received=list(candidates))
    if len(codes) == 1:
        return codes[0]
    found: str = _identifier(codes).classify(text)[0]
    return found


def detect_each(sentences: Sequence[str], candidates: Sequence[str]) -> list[str]:
    """The language of every sentence of one text.

    A word or two say little: a short sentence is taken for the language of all that the text
    writes in the same script, and one without letters for that of the sentence before it.
    """
    scripts = [_script(sentence) for sentence in sentences]
    written: dict[str, list[str]] = {}
    for sentence, script in zip(sentences, scripts, strict=True):
        written.setdefault(script, []).append(sentence)
    of_script = {script: detect(" ".join(said), candidates) for script, said in written.items()}
    found: list[str] = []
    for sentence, script in zip(sentences, scripts, strict=True):
        if sum(map(str.isalpha, sentence)) >= _TELLING_LETTERS:
            found.append(detect(sentence, candidates))
        elif script or not found:
            found.append(of_script[script])
        else:
            found.append(found[-1])
    return found


def _script(text: str) -> str:
    """The script of most letters, as Unicode names it: LATIN, ARABIC, CYRILLIC, …; or nothing."""
    names = Counter(unicodedata.name(c, "").partition(" ")[0] for c in text if c.isalpha())
    return names.most_common(1)[0][0] if names else ""


@lru_cache(maxsize=8)
def _identifier(codes: tuple[str, ...]) -> LanguageIdentifier:
    """A classifier of its own for each set of languages: restricting one is global to it."""
    identifier = copy(_full_identifier())
    identifier.set_languages(list(codes))
    return identifier


@cache
def _full_identifier() -> LanguageIdentifier:
    """The model of all languages; reading it takes most of a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def _unknown(code: str) -> UsageError:
    names = {row.name.casefold(): row.code for row in LANGUAGES.values()}
    wanted = code.casefold()
    base = wanted.replace("_", "-").split("-")[0]
    near = get_close_matches(wanted, [*LANGUAGES, *names], n=1, cutoff=0.5)
    nearest = base if base in LANGUAGES else names.get(near[0], near[0]) if near else None
    return UsageError(
        "there is no such language",
        received=code,
        remedy=(f"{nearest} ({LANGUAGES[nearest].name}); " if nearest else "")
        + f"known: {' '.join(LANGUAGES)}",
    )
