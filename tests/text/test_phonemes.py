from __future__ import annotations

import pytest

from myxtts.text.phonemes import phonemize


@pytest.mark.parametrize(
    ("language", "text", "ipa"),
    [
        ("en", "Hello, world!", "həlˈoʊ, wˈɜːld!"),
        ("en", "Yes — no… why?", "jˈɛs— nˈoʊ… wˈaɪ?"),
        ("en", "four; two: three.", "fˈɔːɹ; tˈuː: θɹˈiː."),
        ("en", "U-S-A", "jˈuːˈɛsˈeɪ"),
        ("fa", "سلام، خوبی؟", "salˈɑm, xˈuːbi?"),
        ("fa", "صد و بیست و سه", "sˈado bˈisto sˈeː"),
        ("fa", "سلام hello دنیا", "salˈɑm həlˈəʊ dˈonjɑ"),
        ("hi", "बड़ा।", "bˈʌɽaː."),
        ("hi", "१२.५", "bˈaːɾəh dˌəsəmlˈoː pˈa\u0303c"),
        ("ko", "까치", "q\u0348ˈɐtʃhi"),
        ("en", "", ""),
        ("en", "...", "…"),
    ],
)
def test_phonemize(language: str, text: str, ipa: str) -> None:
    assert phonemize(text, language) == ipa


def test_ezafe_and_joiner_are_heard() -> None:
    assert phonemize("کتابِ من", "fa") != phonemize("کتاب من", "fa")
    assert phonemize("می\u200cروم", "fa") == "mirˈavam"


def test_the_four_tones_and_the_neutral_one_differ() -> None:
    assert phonemize("妈麻马骂吗", "zh") == "mˈɑ¹ mˈɑ² mˈɑ³ mˈɑ⁴ mˈɑ⁵"


def test_tones_beside_an_english_word() -> None:
    assert phonemize("骂 bird 妈", "zh") == "mˈɑ⁴ bˈɜːd mˈɑ¹"
