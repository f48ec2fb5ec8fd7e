"""English as a careful reader says it: numbers, dates, money, units, abbreviations in words.

Rules in order, each a pattern and what is said for it: what is most specific (a date) is read
before what is general (a number). American reading: 5/12/2023 is May twelfth.
Spacing, quotation marks and symbols nobody reads are `normalize`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from myxtts.text.english_words import (
    ABBREVIATIONS,
    COUNTED_NOUNS,
    CURRENCIES,
    MONTH_NAMES,
    MONTHS,
    REGNAL_NAMES,
    SYMBOLS,
    UNITS,
    VULGAR_FRACTIONS,
)

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_MAGNITUDE = r"(?:hundred|thousand|million|billion|trillion)"
_SHORT_MAGNITUDES = {"k": "thousand", "m": "million", "bn": "billion", "b": "billion"}
_LONGEST_CARDINAL = 15  # digits; a longer one is an identifier, read digit by digit


@lru_cache(maxsize=4096)
def _spell(number: int, kind: str = "cardinal") -> str:
    from num2words import num2words

    return str(num2words(number, lang="en", to=kind)).replace(",", "")


def _digits(text: str) -> str:
    return " ".join(_spell(int(digit)) for digit in text if digit.isdigit())


def cardinal(text: str) -> str:
    """A number as it is written: thousands separators, a decimal part, a leading zero."""
    whole, point, fraction = text.replace(",", "").partition(".")
    if len(whole) > _LONGEST_CARDINAL or (len(whole) > 1 and whole.startswith("0")):
        words = _digits(whole)
    else:
        words = _spell(int(whole)) if whole else ""
    return f"{words} point {_digits(fraction)}".strip() if point else words


def year(number: int) -> str:
    """1999: nineteen ninety-nine; 1900: nineteen hundred; 2005: two thousand five."""
    century, rest = divmod(number, 100)
    if century % 10 == 0 and rest < 10:
        return _spell(century // 10) + " thousand" + (f" {_spell(rest)}" if rest else "")
    if rest == 0:
        return f"{_spell(century)} hundred"
    return f"{_spell(century)} {'oh ' if rest < 10 else ''}{_spell(rest)}"


def _plain_number(text: str) -> str:
    """Four digits without a separator are said in pairs, as years and house numbers are."""
    if re.fullmatch(r"1[1-9]\d\d|20\d\d", text):
        return year(int(text))
    return cardinal(text)


def _date(month: int, day: int, number: int | None) -> str:
    spoken = f"{MONTHS[month - 1]} {_spell(day, 'ordinal')}"
    return f"{spoken}, {year(number)}" if number is not None else spoken


def _numeric_date(match: re.Match[str]) -> str:
    month, day, number = (int(match[name]) for name in ("month", "day", "year"))
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return match[0]
    return _date(month, day, number)


def _month_first(match: re.Match[str]) -> str:
    number = int(match["year"]) if match["year"] else None
    return _date(MONTH_NAMES[match["month"].rstrip(".")], int(match["day"]), number)


def _day_first(match: re.Match[str]) -> str:
    article = "" if match["the"] else "the "
    month = MONTHS[MONTH_NAMES[match["month"].rstrip(".")] - 1]
    tail = f" {year(int(match['year']))}" if match["year"] else ""
    the = match["the"] or ""
    return f"{the}{article}{_spell(int(match['day']), 'ordinal')} of {month}{tail}"


def _time(match: re.Match[str]) -> str:
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24 or minute > 59:
        return match[0]
    half = (match["half"] or "").replace(".", "").upper()
    words = _spell(hour)
    if minute:
        words += f" {'oh ' if minute < 10 else ''}{_spell(minute)}"
    elif not half:
        words += " o'clock" if 1 <= hour <= 12 else " hundred"
    if match["second"]:
        words += f" and {_spell(int(match['second']))} seconds"
    return _closed(f"{words} {half[0]}-M", match) if half else words


def _hour(match: re.Match[str]) -> str:
    return _closed(f"{_spell(int(match['hour']))} {match['half'][0].upper()}-M", match)


def _money(match: re.Match[str]) -> str:
    one, many, cent, cents = CURRENCIES[match["sign"]]
    amount, magnitude = match["amount"].replace(",", ""), match["magnitude"]
    if magnitude:
        word = magnitude.strip(" -")
        unit = one if magnitude.startswith("-") else many  # a two million dollar deal
        return f"{cardinal(amount)} {_SHORT_MAGNITUDES.get(word.lower(), word)} {unit}"
    whole, _, fraction = amount.partition(".")
    if fraction and len(fraction) != 2:
        return f"{cardinal(amount)} {many}"
    parts = []
    if int(whole) or not int(fraction or 0):
        parts.append(f"{cardinal(whole)} {one if int(whole) == 1 else many}")
    if int(fraction or 0):
        parts.append(f"{_spell(int(fraction))} {cent if int(fraction) == 1 else cents}")
    return " and ".join(parts)


def _unit(match: re.Match[str]) -> str:
    one, many = UNITS[match["unit"]]
    return f"{cardinal(match['number'])} {one if match['number'] == '1' else many}"


def _decade(match: re.Match[str]) -> str:
    number = int(match["number"])
    tens = number % 100
    if tens:
        last = _spell(tens)[:-1] + "ies"
        return f"{_spell(number // 100)} {last}" if number >= 100 else last
    return f"{year(number)}s"


def _fraction(match: re.Match[str]) -> str:
    top, bottom = int(match["top"]), int(match["bottom"])
    whole = f"{cardinal(match['whole'])} and " if match["whole"] else ""
    if not 2 <= bottom <= 100:
        return f"{whole}{_spell(top)} over {_spell(bottom)}"
    part = {2: "half", 4: "quarter"}.get(bottom) or _spell(bottom, "ordinal")
    if top == 1:
        count = "one" if not whole else "an" if part[0] in "aeiou" else "a"
        return f"{whole}{count} {part}"
    return f"{whole}{_spell(top)} {'halves' if part == 'half' else part + 's'}"


def _range(match: re.Match[str]) -> str:
    return f"{_plain_number(match['low'])} to {_plain_number(match['high'])}"


def _roman_value(text: str) -> int:
    values = [{"I": 1, "V": 5, "X": 10, "L": 50}[letter] for letter in text]
    following = [*values[1:], 0]
    return sum(-a if a < b else a for a, b in zip(values, following, strict=True))


def _address(match: re.Match[str]) -> str:
    words = match["address"]
    for sign, word in (("@", "at"), (".", "dot"), ("/", "slash")):
        words = words.replace(sign, f" {word} ")
    return words


def _closed(words: str, match: re.Match[str]) -> str:
    """The point of an abbreviation that ends the text is also the full stop of the sentence."""
    ends = match[0].endswith(".") and not match.string[match.end() :].strip("\"')”’ ")
    return f"{words}." if ends and not words.endswith(".") else words


def _abbreviation(pattern: str, words: str) -> _Rule:
    return _rule(pattern, lambda match: _closed(words, match))


def _dotted_letters(match: re.Match[str]) -> str:
    """U.S. is U-S: with hyphens each letter keeps its name, also A."""
    return _closed("-".join(match[0].replace(".", "")), match)


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _rule(pattern: str, say: str | Callable[[re.Match[str]], str]) -> _Rule:
    return re.compile(pattern), say if callable(say) else lambda match: match.expand(say)


_MONTH = rf"(?P<month>(?:{_alternatives(MONTH_NAMES)})\b\.?)"
_ROMAN = r"(?!L\b)(?=[IVXL]+\b)(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})"  # to 89
# Not a king's number: the initial in Peter V. Smith, the pronoun in John I know
_INITIAL = r"[IVX]\.? [A-Z]"
_PRONOUN = r"I\b(?! (?:of|was|had|and)\b| ?[,.;:)!?]|$)"
_HALF = r"(?P<half>[aApP]\.[mM]\.|[aApP][mM]\b)"

_ADDRESSES = (
    _rule(r"(?:https?://)?(?P<address>\b[\w.+-]*\w"
          r"(?:@[\w-]+(?:\.[\w-]+)+|\.(?:com|org|net|edu|gov|io)\b)(?:/[\w./-]*\w)?)", _address),
)  # fmt: skip

_DATES_AND_TIMES = (
    _rule(r"[½⅓⅔¼¾⅛⅜⅝⅞]", lambda m: f" {VULGAR_FRACTIONS[m[0]]}"),
    _rule(r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b", _numeric_date),
    _rule(r"\b(?P<month>\d\d?)/(?P<day>\d\d?)/(?P<year>\d{4})\b", _numeric_date),
    _rule(rf"\b{_MONTH} (?P<day>[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\b(?:,? (?P<year>\d{{4}})\b)?",
          _month_first),
    _rule(rf"(?P<the>\b[Tt]he )?\b(?P<day>[1-9]|[12]\d|3[01])(?:st|nd|rd|th)? (?:of )?{_MONTH}"
          r"(?:,? (?P<year>\d{4})\b)?", _day_first),
    _rule(rf"\b(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?!\d)(?: ?{_HALF})?", _time),
    _rule(rf"\b(?P<hour>1[0-2]|[1-9]) ?{_HALF}", _hour),
)  # fmt: skip

_SHORT_FORMS = (
    _rule(r"\b(?P<half>[ap])\.m\.", lambda m: _closed(f"{m['half'].upper()}-M", m)),
    *(_abbreviation(pattern, words) for pattern, words in ABBREVIATIONS),
    _rule(r"\b(?:[A-Za-z]\.){2,}", _dotted_letters),
    *(
        _abbreviation(rf"\b{short}\.", MONTHS[number - 1])
        for short, number in MONTH_NAMES.items()
        if short not in MONTHS
    ),
)

_ROMAN_NUMERALS = (
    _rule(rf"\b((?:{_alternatives(COUNTED_NOUNS)}) )({_ROMAN})\b",
          lambda m: m[1] + _spell(_roman_value(m[2]))),
    _rule(rf"\b((?:{_alternatives(REGNAL_NAMES)}) )(?!{_INITIAL}|{_PRONOUN})({_ROMAN})\b",
          lambda m: f"{m[1]}the {_spell(_roman_value(m[2]), 'ordinal')}"),
)  # fmt: skip

_INITIALS = (
    _rule(r"\bA\. (?=[A-Z])", "A-"),  # alone, A would be read as the article
    _rule(r"\b([B-HJ-Z])\.(?= [A-Z])", r"\1"),
)

_QUANTITIES = (
    _rule(r"(?:(?<=\s)|^)(?<!\d\s)[-−](?=\.?\d)", "minus "),
    _rule(r"\b(?:24/7|9/11|50/50)\b", lambda m: " ".join(map(cardinal, m[0].split("/")))),
    # ranges whose end carries the sign or unit of both
    _rule(rf"([$£€¥₹])({_NUMBER}) ?[-–—] ?\1?(?={_NUMBER})",
          lambda m: f"{cardinal(m[2])} to {m[1]}"),
    _rule(rf"(?<![\d.,-])({_NUMBER}) ?[-–—] ?"
          rf"(?={_NUMBER} ?(?:%|percent\b|(?:{_alternatives(UNITS)})(?![\w/])))",
          lambda m: f"{cardinal(m[1])} to "),
    _rule(r"\b(\d)' ?(\d\d?)\"", lambda m: f"{_spell(int(m[1]))} foot {_spell(int(m[2]))}"),
    _rule(r"(?<=\d)\^(?=\d)", " to the power of "),
    _rule(rf"(?P<sign>[$£€¥₹]) ?(?P<amount>{_NUMBER})"
          rf"(?P<magnitude>[ -]{_MAGNITUDE}\b|(?:bn|[kKmMB])\b)?", _money),
    _rule(rf"(?P<number>{_NUMBER}) ?(?:%|percent\b)",
          lambda m: f"{cardinal(m['number'])} percent"),
    _rule(rf"(?P<number>{_NUMBER})(?:-| ?)(?P<unit>{_alternatives(UNITS)})(?![\w/])", _unit),
    _rule(r"#(?=\d)", "number "),
    _rule(r"(?:'|\b)(?P<number>\d{3}0|[2-9]0)'?s\b", _decade),
    _rule(r"\b(\d{1,3}(?:,\d{3})+|\d+)(?:st|nd|rd|th)\b",
          lambda m: _spell(int(m[1].replace(",", "")), "ordinal")),
    _rule(r"\b(?:(?P<whole>\d+) )?(?P<top>\d{1,2})/(?P<bottom>\d{1,3})\b", _fraction),
    _rule(r"(?:\(\d{3}\) ?|\b\d{3}-)?\b\d{3}-\d{4}\b",
          lambda m: ", ".join(map(_digits, re.findall(r"\d+", m[0])))),
    _rule(rf"(?<![\d.,-])(?P<low>{_NUMBER}) ?[-–—] ?(?P<high>{_NUMBER})(?![\w-])", _range),
    # plain numbers
    _rule(r"(?<=[A-Za-z])-?(?=\d)", " "),
    _rule(r"(?<=\d)-?(?=[A-Za-z])", " "),
    _rule(rf"{_NUMBER}|\.\d+", lambda m: _plain_number(m[0])),
)  # fmt: skip


_SYMBOLS = (
    _rule(r"(?<=[a-z]):(?=[a-z])", " "),  # a time in words: twelve:thirty
    *(_rule(re.escape(symbol), f" {word} ") for symbol, word in SYMBOLS.items()),
)

# In the order of application. Most sentences need few of the rules: a group is tried only when
# its key, which every text that it can change must contain, is found.
_GROUPS: tuple[tuple[re.Pattern[str], tuple[_Rule, ...]], ...] = (
    (re.compile(r"@|\.(?:com|org|net|edu|gov|io)\b"), _ADDRESSES),
    (re.compile(r"[\d½⅓⅔¼¾⅛⅜⅝⅞]"), _DATES_AND_TIMES),
    # Not every full stop: most sentences end with one, and the rules are many.
    (re.compile(r"\b(?:[A-Za-z]|[A-Z][a-z]{1,4}|pp|nos?|ch|vol|viz|approx)\."
                r"|\b(?:Mr|Mrs|Messrs|Dr|St|Jr|Sr|etc|vs)\b"), _SHORT_FORMS),
    (re.compile(r"[IVXL]\b"), _ROMAN_NUMERALS),
    (re.compile(r"\. "), _INITIALS),
    (re.compile(r"\d"), _QUANTITIES),
    (re.compile(rf"[a-z]:[a-z]|[{re.escape(''.join(SYMBOLS))}]"), _SYMBOLS),
)  # fmt: skip


def normalize_english(text: str) -> str:
    """Words for everything that is not a word; punctuation stays where it is."""
    for key, rules in _GROUPS:
        if key.search(text):
            for pattern, say in rules:
                text = pattern.sub(say, text)
    return text
