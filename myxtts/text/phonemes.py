"""Normalised text to IPA, with the punctuation that espeak drops put back.

Punctuation carries the pauses and the melody of a sentence, so the model must see it. Where espeak
leaves its own ASCII names in its IPA, they are respelled here. This module does not normalise: it
expects the words of `normalize`.
"""

from __future__ import annotations

import re

from myxtts.text import espeak
from myxtts.text.languages import language as language_row
from myxtts.text.persian import join_number_words

PUNCTUATION = (",", ".", "?", "!", ";", ":", "—", "…")
"""The marks that reach the model, in every language."""

_SAME_MARK = str.maketrans(
    {
        "،": ",", "؛": ";", "؟": "?", "۔": ".", "।": ".", "॥": ".",
        "。": ".", "，": ",", "、": ",", "？": "?", "！": "!", "；": ";", "：": ":",
        "–": "—", "―": "—",
    }
)  # fmt: skip

# A mark between two digits (12:30, 3.14) belongs to a number that espeak reads as a whole.
_MARK = rf"[{''.join(PUNCTUATION)}]"
_MARKS = re.compile(rf"((?:(?<!\d){_MARK}|{_MARK}(?!\d))+)")
_SWITCH = re.compile(r"\([a-z][a-z0-9-]*\)")  # espeak marks a change of language: (en) ... (fa)
_FOREIGN = re.compile(r"\((?!cmn)[a-z][a-z0-9-]*\).*?(?:\(cmn\)|$)")

_RESPELLED: dict[str, dict[str, str]] = {
    "ar": {".": "ˤ"},  # vowels beside emphatic consonants
    "cmn": {"s.": "ʂ", "i.": "ɨ", "o-": "ɤ"},
    "fa": {"q1": "q"},
    "fr": {"-": ""},  # a schwa that may be dropped
    "hi": {"r.": "ɽ"},
    "ko": {"-": "\u0348"},  # tense consonants
    "ru": {'u"': "ʉ", "^": ""},
}

_TONES = {"55": "¹", "35": "²", "214": "³", "21": "³", "51": "⁴", "11": "⁵"}
_TONE_IN_IPA = re.compile(r"[0-9]|ɜ(?!ː)")


def plain_marks(text: str) -> str:
    """Every script's punctuation as the marks of `PUNCTUATION`."""
    return text.translate(_SAME_MARK).replace("--", "—").replace("...", "…")


def phonemize(text: str, language: str) -> str:
    """The IPA of a text: words separated by one space, marks attached to the word before them."""
    voice = language_row(language).espeak_voice
    text = plain_marks(text)
    if voice == "fa":
        text = join_number_words(text)
    spoken = ""
    for index, part in enumerate(_MARKS.split(text)):
        if index % 2:
            spoken += part.replace(" ", "")
        elif part and (ipa := _pronounce(part, voice)):
            spoken += f" {ipa}" if spoken else ipa
    return " ".join(spoken.split())


def _pronounce(text: str, voice: str) -> str:
    ipa = espeak.phonemes(text, voice)
    if voice == "cmn":
        ipa = _restore_tones(ipa, espeak.mnemonics(text, voice))
    ipa = _SWITCH.sub("", ipa)
    for ascii_name, symbol in _RESPELLED.get(voice, {}).items():
        ipa = ipa.replace(ascii_name, symbol)
    return " ".join(ipa.split())


def _restore_tones(ipa: str, mnemonics: str) -> str:
    """espeak's IPA keeps the first digit of a tone, and so writes the tones 55 and 51 alike."""
    tones = iter(re.findall(r"\d+", _FOREIGN.sub("", mnemonics)))

    def tone(_: re.Match[str]) -> str:
        return _TONES.get(next(tones, ""), "")

    parts, end = [], 0
    for foreign in _FOREIGN.finditer(ipa):
        parts += [_TONE_IN_IPA.sub(tone, ipa[end : foreign.start()]), foreign[0]]
        end = foreign.end()
    return "".join([*parts, _TONE_IN_IPA.sub(tone, ipa[end:])])
