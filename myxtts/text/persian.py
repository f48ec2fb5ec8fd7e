"""Persian as a careful reader says it: letters made uniform, then words for what is not a word.

Zero-width non-joiners and written vowel signs are kept: they decide how a word is read. Where the
rules themselves write words, they write the vowels that a reader would otherwise have to guess
(nine is `نُه`, not `نه`, which is "no"; the day of a date carries its ezafe).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

from myxtts.text.persian_words import (
    ABBREVIATIONS,
    CURRENCIES,
    GREGORIAN_MONTHS,
    JALALI_MONTHS,
    JOINED_NUMBERS,
    LAST_NUMBERS,
    QUANTITIES,
    SYMBOLS,
    UNITS,
    VULGAR_FRACTIONS,
)

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]

_ONE_FORM = str.maketrans(
    {
        "ي": "ی", "ى": "ی", "ې": "ی", "ۍ": "ی", "ے": "ی", "ك": "ک", "ڪ": "ک",
        "أ": "ا", "إ": "ا", "ٱ": "ا", "ة": "ه", "ہ": "ه", "ھ": "ه", "ە": "ه", "ۀ": "ه\u0654",
        "ـ": None,
        "٪": "%", "٫": ".", "٬": ",", "−": "-",
        **{chr(0x06F0 + digit): str(digit) for digit in range(10)},
        **{chr(0x0660 + digit): str(digit) for digit in range(10)},
    }
)  # fmt: skip
# مسأله and تأثیر keep their hamza: there it is a consonant, not a seat of alef.
_HAMZA_INSIDE = re.compile(r"(?<=[\u0621-\u06cc])أ(?=[\u0621-\u06cc])")
_PRESENTATION_FORMS = re.compile(r"[\ufb50-\ufdfb\ufe70-\ufefc]+")
_LOOSE_JOINER = re.compile(r"\u200c{2,}|\u200c(?=\s|$|[،؛؟.,!?:])|(?:(?<=\s)|^)\u200c")

_NUMBER = r"(?:\d{1,3}(?:[,،]\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_LONGEST_CARDINAL = 15  # digits; num2words ends there, and so does a listener


@lru_cache(maxsize=4096)
def _spell(number: int) -> str:
    from num2words import num2words

    words = str(num2words(number, lang="fa"))
    return re.sub(r"(?<!\S)نه(?!\S)", "نُه", words)


def _digits(text: str) -> str:
    return " ".join(_spell(int(digit)) for digit in text)


def _with_zeros(digits: str) -> str:
    """Zeros in front are said one by one, the rest as a number: 05 is zero five."""
    rest = digits.lstrip("0")
    return " ".join(["صفر"] * (len(digits) - len(rest)) + ([_spell(int(rest))] if rest else []))


def cardinal(text: str) -> str:
    """A number as it is written, with separators, a decimal part or zeros in front."""
    whole, point, fraction = re.sub("[,،]", "", text).partition(".")
    if len(whole) > _LONGEST_CARDINAL or (len(whole) > 4 and whole.startswith("0")):
        words = _digits(whole)
    else:
        words = _spell(0) if not int(whole) and len(whole) == 1 else _with_zeros(whole)
    if not point:
        return words
    return f"{words} ممیز {_with_zeros(fraction) if len(fraction) <= 4 else _digits(fraction)}"


def ordinal(number: int) -> str:
    """3: سوم, 30: سی‌اُم, 23: بیست و سوم."""
    words = _spell(number)
    if words.endswith("سه"):
        return words[:-2] + "سوم"
    if words.endswith("ی"):
        return words + "\u200cاُم"
    return words + "م"


def _date(year: int, month: int, day: int, original: str) -> str:
    if year <= 31 < day:  # the day was written first
        year, day = day, year
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return original
    gregorian = year >= 1500
    name = (GREGORIAN_MONTHS if gregorian else JALALI_MONTHS)[month - 1]
    return f"{ordinal(day)}ِ {name} {_spell(year)}"


def _year_first(match: re.Match[str]) -> str:
    return _date(int(match[1]), int(match[2]), int(match[3]), match[0])


def _year_last(match: re.Match[str]) -> str:
    return _date(int(match[3]), int(match[2]), int(match[1]), match[0])


def _day_of_month(match: re.Match[str]) -> str:
    return f"{ordinal(int(match[1]))}ِ {match[2]}"


def _time(match: re.Match[str]) -> str:
    hour, minute, second = int(match[1]), int(match[2]), match[3]
    if hour > 24 or minute > 59:
        return match[0]
    words = _spell(hour)
    if minute:
        words += f" و {_spell(minute)} دقیقه"
    if second:
        words += f" و {_spell(int(second))} ثانیه"
    return words


def _fraction(match: re.Match[str]) -> str:
    """3/5 is a decimal (Persian writes its decimal mark so) unless it is a proper fraction."""
    top, bottom, quantity = match[1], match[2], match[3]
    if quantity or int(top) >= int(bottom) or not 2 <= int(bottom) <= 10:
        return cardinal(f"{top}.{bottom}") + (quantity or "")
    return f"{_spell(int(top))} {ordinal(int(bottom))}"


def _range(match: re.Match[str]) -> str:
    """From a smaller number to a larger one; the other way round it is the score of a game."""
    low, high = match[1], match[2]
    score = low.isdecimal() and high.isdecimal() and int(high) <= int(low) < 100
    return f"{cardinal(low)} {'بر' if score else 'تا'} {cardinal(high)}"


def _address(match: re.Match[str]) -> str:
    words = match["address"]
    for sign, word in (("@", "اَت"), (".", "دات"), ("/", "اسلش")):
        words = words.replace(sign, f" {word} ")
    return words


def _telephone(match: re.Match[str]) -> str:
    """Said in the groups in which Iranians write them."""
    groups = [group for group in match.groups() if group]
    return "، ".join(_with_zeros(group) for group in groups)


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _rule(pattern: str, say: str | Callable[[re.Match[str]], str]) -> _Rule:
    return re.compile(pattern), say if callable(say) else lambda match: match.expand(say)


_MONTH = _alternatives((*JALALI_MONTHS, *GREGORIAN_MONTHS))

_RULES: tuple[_Rule, ...] = (
    _rule(r"(?:https?://)?(?P<address>[A-Za-z0-9][\w.+-]*"
          r"(?:@[\w-]+(?:\.[\w-]+)+|\.(?:com|org|net|edu|gov|io|ir)\b)(?:/[\w./-]*\w)?)", _address),
    *(_rule(pattern, say) for pattern, say in ABBREVIATIONS),
    _rule(r"[½⅓⅔¼¾]", lambda m: f" {VULGAR_FRACTIONS[m[0]]} "),
    _rule(r"(?<!\d)(1[2-4]\d\d|1[5-9]\d\d|2[01]\d\d|\d\d)/(\d\d?)/(\d\d?)(?!\d)", _year_first),
    _rule(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)", _year_first),
    _rule(r"(?<!\d)(\d\d?)/(\d\d?)/(\d{4})(?!\d)", _year_last),
    _rule(rf"(?<![\d.,/])([1-9]|[12]\d|3[01]) ({_MONTH})(?![\w\u200c])", _day_of_month),
    _rule(r"(?<!\d)(\d\d?):(\d\d)(?::(\d\d))?(?!\d)", _time),
    _rule(r"(?<!\d)(09\d\d)[- ]?(\d{3})[- ]?(\d\d)[- ]?(\d\d)(?!\d)", _telephone),
    _rule(r"(?<!\d)(0[1-8]\d)[- ](\d\d)(\d\d)(\d\d)(\d\d)(?!\d)", _telephone),
    # quantities
    _rule(rf"([$€£¥﷼]) ?({_NUMBER})((?: (?:هزار|میلیون|میلیارد))?)",
          lambda m: f"{cardinal(m[2])}{m[3]} {CURRENCIES[m[1]]}"),
    _rule(rf"({_NUMBER}) ?([$€£¥﷼])", lambda m: f"{cardinal(m[1])} {CURRENCIES[m[2]]}"),
    _rule(rf"(?<![\d/])(\d+)/(\d+)(?![\d/])((?: ?%| ?(?:{_alternatives(QUANTITIES)})(?!\w))?)",
          _fraction),
    _rule(rf"% ?({_NUMBER})", lambda m: f"{cardinal(m[1])} درصد"),
    _rule(r" ?%", " درصد"),
    _rule(rf"({_NUMBER}) ?({_alternatives(UNITS)})(?![A-Za-z/])",
          lambda m: f"{cardinal(m[1])} {UNITS[m[2]]}"),
    _rule(r"(\d+)\u200c?(?:امین|اُمین|مین)(?!\w)", lambda m: f"{ordinal(int(m[1]))}ین"),
    _rule(r"(\d+)\u200c?(?:ام|اُم|م)(?!\w)", lambda m: ordinal(int(m[1]))),
    _rule(rf"({_NUMBER}) ?[-–] ?({_NUMBER})", _range),
    # plain numbers
    _rule(r"(?:(?<=\s)|^)-(?=\d)", "منفی "),
    _rule(r"(?<=[^\W\d])-?(?=\d)", " "),
    _rule(r"(?<=\d)-?(?=[^\W\d])", " "),
    _rule(_NUMBER, lambda m: cardinal(m[0])),
    *(_rule(re.escape(symbol), f" {word} ") for symbol, word in SYMBOLS.items()),
)  # fmt: skip

_CONJUNCTION = re.compile(
    rf"(?<![\w\u064b-\u0652])({'|'.join(JOINED_NUMBERS)}) و "
    rf"(?=(?:{'|'.join((*LAST_NUMBERS, *JOINED_NUMBERS))})م?\b)"
)


def uniform_letters(text: str) -> str:
    """One code point for each Persian letter and digit, whichever keyboard wrote it."""
    text = _PRESENTATION_FORMS.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
    text = _HAMZA_INSIDE.sub("\0", text).translate(_ONE_FORM).replace("\0", "أ")
    return _LOOSE_JOINER.sub(lambda m: "\u200c" if len(m[0]) > 1 else "", text)


def normalize_persian(text: str) -> str:
    """Words for everything that is not a word; punctuation stays where it is."""
    text = uniform_letters(text)
    for pattern, say in _RULES:
        text = pattern.sub(say, text)
    return text


def join_number_words(text: str) -> str:
    """Inside a number `و` is an o on the word before it: صد و بیست is sad-o bist, not sad va bist.

    For the phonemizer, which reads a `و` that stands alone as va.
    """
    return _CONJUNCTION.sub("\\1ُ ", text)
