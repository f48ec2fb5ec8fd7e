"""Written text to the words a reader would say: the one entrance, whatever the language.

English and Persian have rules of their own (`english`, `persian`). The other languages get their
numbers from num2words where it knows the language; otherwise espeak reads the digits. Here is what
all share: Unicode's composed form, dashes, quotation marks, brackets and spaces.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache

from myxtts.text.english import normalize_english
from myxtts.text.languages import language as language_row
from myxtts.text.persian import normalize_persian

NORMALIZER_VERSION = 2
"""Raise it with every change of what is said: caches and checkpoints compare it."""

_SAME_CHARACTER = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u02bc": "'", "`": "'", "\u00a0": " ", "\u202f": " ",
        "\u2011": "-", "\u2015": "—",
        **dict.fromkeys("\u00ad\u200b\u200d\u200e\u200f\u202a\u202b\u202c\u2060\ufeff", None),
    }
)  # fmt: skip
_SILENT = re.compile(r"[\"“”„«»‹›*_|~^\\<>#{}•·\u0640]|(?<!\w)'(?!\w)|(?<!\w)'|'(?!\w)")
_OUTER_BRACKET = re.compile(r"^[\s(\[（【「『]+|[\s)\]）】」』]+$")
_BRACKET = re.compile(r"\s*[()\[\]（）【】「」『』]\s*")
_DASH = re.compile(r"\s*(?:--+|[–—])\s*|\s+-+\s+")
# A comma that a bracket left beside another mark, or at the beginning
_IDLE_COMMA = re.compile(r"(?:[,،]\s*)+(?=[,،.?!;:؛؟—…])|(?<=[.?!;:؛؟—…])(?:\s*[,،])+|^[\s,،]+")
_SPACE_BEFORE = re.compile(r"\s+(?=[,.?!;:،؛؟…])")
# 1.234.567,89 in most of Europe; 1,234,567.89 where a point is the decimal mark
_COMMA_NUMBER = re.compile(r"(\d{1,3}(?:[.' ]\d{3})+(?!\d)|\d+)(?:,(\d+))?")
_POINT_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.(\d+))?")
_POINT_LANGUAGES = ("ar", "ko")
_DECIMALS_LEFT_TO_ESPEAK = ("ar", "it", "tr")  # num2words loses or garbles their decimals
_LONGEST_NUMBER = 12  # digits; longer ones are identifiers: digit by digit


def normalize(text: str, language: str) -> str:
    """The text in the words of its language, with its punctuation, on one line."""
    row = language_row(language)
    text = unicodedata.normalize("NFC", text).translate(_SAME_CHARACTER)
    text = text.replace("...", "…").replace("''", '"')
    if row.code == "en":
        text = normalize_english(text)
    elif row.code == "fa":
        text = normalize_persian(text)
    elif row.num2words:
        text = _spell_numbers(text, row.num2words)
    return _tidy(text, comma="،" if row.right_to_left else ",")


def _tidy(text: str, comma: str) -> str:
    """Quotation marks are not spoken; brackets and dashes are a pause."""
    text = _SILENT.sub("", text).replace("/", " ")
    text = _OUTER_BRACKET.sub("", text)
    text = _BRACKET.sub(f" {comma} ", text)
    text = _DASH.sub(" — ", text)
    text = _SPACE_BEFORE.sub("", text)
    text = _IDLE_COMMA.sub("", text)
    return " ".join(text.split())


def _spell_numbers(text: str, speller: str) -> str:
    pattern = _POINT_NUMBER if speller in _POINT_LANGUAGES else _COMMA_NUMBER

    def say(match: re.Match[str]) -> str:
        whole = re.sub(r"\D", "", match[1])
        return f" {_spell(whole, match[2] or '', speller)} "

    return pattern.sub(say, text)


@lru_cache(maxsize=4096)
def _spell(whole: str, fraction: str, speller: str) -> str:
    from num2words import num2words

    if fraction and speller in _DECIMALS_LEFT_TO_ESPEAK:
        return f"{whole}{'.' if speller in _POINT_LANGUAGES else ','}{fraction}"
    if len(whole) > _LONGEST_NUMBER or (len(whole) > 1 and whole.startswith("0")):
        digits = whole + fraction
        return " ".join(str(num2words(int(digit), lang=speller)) for digit in digits)
    number = Decimal(f"{whole}.{fraction}") if fraction else int(whole)
    return str(num2words(number, lang=speller))
