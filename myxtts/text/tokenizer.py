"""Text to the numbers that the model reads.

The vocabulary is one fixed table: it never grows from data, so a checkpoint and a cache mean the
same thing on every machine. What it does not know is counted and reported, not hidden.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from myxtts.errors import UsageError
from myxtts.text import espeak
from myxtts.text.normalize import NORMALIZER_VERSION, normalize
from myxtts.text.phonemes import PUNCTUATION, phonemize, plain_marks

Units = Literal["phonemes", "characters"]

PAD, BOS, EOS, UNKNOWN = range(4)

_SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")

# Every symbol that espeak writes for the languages of our table, and the rest of the IPA chart,
# so that a foreign word inside a sentence is known too.
_IPA = (
    "ˈˌːˑ" + "\u0303\u0329\u032a\u031d\u031e\u030a\u0325\u032f\u0348\u0361"
    "ʰʲʷˠˤᵝ¹²³⁴⁵"
    "abcdefhijklmnopqrstuvwxyz"
    "äæçðøħĩŋœũɐɑɒɔɕɖəɚɛɜɝɟɡɣɤɨɪɫɬɭɮɯɰɱɲɳɴɵɶɸɹɺɻɽɾʀʁʂʃʈʉʊʋʌʍʎʏʐʑʒʔʕʝʙʛʜʟʡʢβθχᵻ"
    "ɓɗɘɞɠɢɥɦɧⱱ"
)

_LETTERS = (
    "'-0123456789"
    "abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœ"
    "ąćčďěęğıłńňőřśşšťůűźżž"
    "абвгдежзийклмнопрстуфхцчшщъыьэюяё"
    "آابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیءئأؤإةكيىٱڤۀ"
    # Arabic vowel signs, superscript alef, and the zero-width non-joiner of Persian
    "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652\u0653\u0654\u0670\u200c"
)

_SCRIPTS = (
    range(0x0901, 0x093A),  # Devanagari letters
    range(0x093C, 0x094E),  # Devanagari vowel signs
    range(0x0958, 0x0960),  # Devanagari letters with nukta
    range(0x0966, 0x0970),  # Devanagari digits
    range(0x3041, 0x3097),  # hiragana
    range(0x30A1, 0x30FB),  # katakana
    range(0x30FC, 0x30FD),  # the kana length mark
    range(0x1100, 0x1113),  # Korean initial consonants
    range(0x1161, 0x1176),  # Korean vowels
    range(0x11A8, 0x11C3),  # Korean final consonants
)

_SCRIPT_LETTERS = "".join(chr(point) for script in _SCRIPTS for point in script)

VOCABULARY: tuple[str, ...] = tuple(
    dict.fromkeys((*_SPECIAL, " ", *PUNCTUATION, *_IPA, *_LETTERS, *_SCRIPT_LETTERS))
)


@dataclass(frozen=True)
class Encoded:
    """A sentence as numbers, and what of it the vocabulary lacks."""

    ids: np.ndarray
    """int16 [tokens], beginning with BOS and ending with EOS."""
    unknown: Counter[str]


def _characters(text: str, language: str) -> str:
    """Lower-case letters and marks; a Korean syllable as the two or three letters it is made of."""
    text = plain_marks(text)
    if language == "tr":
        text = text.replace("I", "ı").replace("İ", "i")
    return "".join(
        unicodedata.normalize("NFD", c) if "가" <= c <= "힣" else c for c in text.lower()
    )


class _Numbers(dict[int, str]):
    """Symbols to their numbers, as `str.translate` wants them: code points to characters."""

    def __missing__(self, symbol: int) -> str:
        return chr(UNKNOWN)


class Tokenizer:
    """Phonemes (through espeak) or characters of the normalised text, one token each."""

    vocabulary = VOCABULARY

    def __init__(self, units: Units) -> None:
        if units not in get_args(Units):
            raise UsageError(
                "a tokenizer reads phonemes or characters",
                received=units,
                remedy="units: phonemes",
            )
        self.units = units
        self._numbers = _Numbers(
            (ord(symbol), chr(number))
            for number, symbol in enumerate(self.vocabulary)
            if symbol not in _SPECIAL
        )

    @property
    def size(self) -> int:
        return len(self.vocabulary)

    @cached_property
    def fingerprint(self) -> str:
        """Changes whenever the same text could give other numbers."""
        what = {
            "vocabulary": self.vocabulary,
            "units": self.units,
            "normalizer": NORMALIZER_VERSION,
            "espeak": espeak.version() if self.units == "phonemes" else None,
        }
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]

    def encode(self, text: str, language: str) -> Encoded:
        """Normalise, pronounce and number a text; unknown symbols become one UNKNOWN each."""
        words = normalize(text, language)
        spell = phonemize if self.units == "phonemes" else _characters
        symbols = spell(words, language)
        # One pass in C: the numbers are far below the surrogates, so UTF-16 is two bytes for each.
        numbers = f"{chr(BOS)}{symbols.translate(self._numbers)}{chr(EOS)}"
        ids = np.array(np.frombuffer(numbers.encode("utf-16-le"), "<i2"))
        if UNKNOWN not in ids:
            return Encoded(ids, Counter())
        return Encoded(ids, Counter(s for s in symbols if ord(s) not in self._numbers))

    def decode(self, ids: np.ndarray) -> str:
        """The symbols of the numbers, without padding, beginning and end."""
        symbols = "".join(self.vocabulary[i] for i in np.asarray(ids) if i not in (PAD, BOS, EOS))
        return unicodedata.normalize("NFC", symbols) if self.units == "characters" else symbols
