"""What all languages share, and the numbers of those without rules of their own."""

from __future__ import annotations

import random

import pytest

from myxtts.errors import UsageError
from myxtts.text.languages import LANGUAGES
from myxtts.text.normalize import normalize


@pytest.mark.parametrize(
    ("language", "written", "said"),
    [
        ("de", "Es kostet 1.234 Euro.", "Es kostet eintausendzweihundertvierunddreißig Euro."),
        ("de", "3,14", "drei Komma eins vier"),
        ("fr", "Il a 75 ans.", "Il a soixante-quinze ans."),
        ("es", "25 gatos", "veinticinco gatos"),
        ("pl", "12 lat", "dwanaście lat"),
        ("ru", "12 месяцев", "двенадцать месяцев"),
        ("ko", "1,234", "천이백삼십사"),
        ("it", "3,14 e 25", "3,14 e venticinque"),
        ("tr", "007", "sıfır sıfır yedi"),
        ("zh", "我有3本书。", "我有3本书。"),
        ("ja", "3 です", "3 です"),
        ("hi", "३ किताबें", "३ किताबें"),
    ],
)
def test_numbers_of_other_languages(language: str, written: str, said: str) -> None:
    assert normalize(written, language) == said


def test_composed_and_decomposed_text_are_the_same() -> None:
    assert normalize("cafe\u0301", "fr") == normalize("caf\u00e9", "fr") == "caf\u00e9"


@pytest.mark.parametrize("language", LANGUAGES)
def test_odd_input_is_survived(language: str) -> None:
    for text in ("", "   ", "...", "()", "\0\n\t", "9" * 400, "1/0", "99:99", "$", "😀 %%%"):
        assert normalize(text, language) == normalize(text, language).strip()


@pytest.mark.parametrize("language", ["en", "fa", "de"])
def test_no_input_breaks_a_rule(language: str) -> None:
    numbers = ["0", "1", "07", "12", "1999", "2023", "1,000", "3.5", "½", "۱۴۰۲", "۵", "IV", "X"]
    marks = [*"/-:.,$£€%°#&@'()«»—…،", "٪", "٫", "٬", "\u200c"]
    words = ["st", "th", "s", "km", "am", "p.m.", "No.", "St.", "Henry", "War", "May", "of", "A"]
    persian = ["و", "م", "ام", "ه.ش", "تیر", "ساعت"]
    pieces = [*numbers, *marks, *words, *persian]
    source = random.Random(0)
    for _ in range(2000):
        text = "".join(
            source.choice(pieces) + source.choice(("", " ")) for _ in range(source.randint(1, 8))
        )
        said = normalize(text, language)
        assert not any(c.isdecimal() for c in said), (text, said)


def test_unknown_language() -> None:
    with pytest.raises(UsageError, match="no such language"):
        normalize("text", "xx")
