from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from myxtts.errors import UsageError
from myxtts.text.phonemes import PUNCTUATION, phonemize
from myxtts.text.tokenizer import BOS, EOS, UNKNOWN, VOCABULARY, Tokenizer

SAMPLES = {
    "en": "Whether the measure was a pleasure, she thought: yes — “perhaps”!",
    "fa": "پرنده‌ای کوچک، قشنگ و آزاد؛ چرا غمگین ژرف می‌خواند؟ ۱۲۳ لحظهٔ حاصل‌خیز.",
    "ar": "ذهب الطالبُ إلى المدرسةِ صباحًا، ثم ضحك وظلّ يقرأ.",
    "cs": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "de": "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
    "es": "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia, ¿y el niño?",
    "fr": "Voix ambiguë d'un cœur qui au zéphyr préfère les jattes de kiwis.",
    "hi": "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा का नाश हुआ, बड़ा।",
    "hu": "Árvíztűrő tükörfúrógép.",
    "it": "Quel vituperabile xenofobo zelante assaggia il whisky ed esclama: alleluja!",
    "ja": "いろはにほへと ちりぬるを、わかよたれそ。",
    "ko": "키스의 고유조건은 입술끼리 만나야 한다.",
    "nl": "Pa's wijze lynx bezag vroom het fikse aquaduct.",
    "pl": "Zażółć gęślą jaźń, pchnąć w tę łódź jeża.",
    "pt": "À noite, vovô Kowalsky vê o ímã cair no pé do pinguim.",
    "ru": "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "tr": "Pijamalı hasta yağız şoföre çabucak güvendi. İĞNE IŞIK",
    "zh": "我能吞下玻璃而不伤身体。",
}


@pytest.mark.parametrize("language", SAMPLES)
def test_every_phoneme_is_known(language: str) -> None:
    encoded = Tokenizer("phonemes").encode(SAMPLES[language], language)
    assert encoded.unknown == Counter()
    assert UNKNOWN not in encoded.ids


@pytest.mark.parametrize("language", [code for code in SAMPLES if code not in ("zh", "es")])
def test_every_letter_is_known(language: str) -> None:
    assert Tokenizer("characters").encode(SAMPLES[language], language).unknown == Counter()


def test_ids_and_back() -> None:
    tokenizer = Tokenizer("phonemes")
    ids = tokenizer.encode("Hello, world!", "en").ids
    assert ids.dtype == np.int16
    assert (ids[0], ids[-1]) == (BOS, EOS)
    assert tokenizer.decode(np.concatenate([ids, np.zeros(5, np.int16)])) == "həlˈoʊ, wˈɜːld!"


def test_characters_and_back() -> None:
    tokenizer = Tokenizer("characters")
    assert tokenizer.decode(tokenizer.encode("Call 5!", "en").ids) == "call five!"
    assert tokenizer.decode(tokenizer.encode("می‌روم؟", "fa").ids) == "می‌روم?"
    assert tokenizer.decode(tokenizer.encode("한국어", "ko").ids) == "한국어"
    assert tokenizer.decode(tokenizer.encode("Iğdır İzmir", "tr").ids) == "ığdır izmir"


def test_unknown_symbols_are_counted() -> None:
    encoded = Tokenizer("characters").encode("a 我我 b", "zh")
    assert encoded.unknown == Counter({"我": 2})
    assert list(encoded.ids).count(UNKNOWN) == 2


def test_vocabulary_is_a_fixed_table() -> None:
    assert VOCABULARY[:5] == ("<pad>", "<bos>", "<eos>", "<unk>", " ")
    assert VOCABULARY[5:13] == PUNCTUATION
    assert len(set(VOCABULARY)) == len(VOCABULARY) < 2**15
    tokenizer = Tokenizer("characters")
    before = tokenizer.size
    tokenizer.encode("我能吞下玻璃", "zh")
    assert tokenizer.size == before == len(VOCABULARY)


def test_fingerprint_is_the_same_in_another_process() -> None:
    script = "from myxtts.text.tokenizer import Tokenizer as T; "
    script += "print(T('phonemes').fingerprint, T('characters').fingerprint)"
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(root)}
    other = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    own = [Tokenizer("phonemes").fingerprint, Tokenizer("characters").fingerprint]
    assert other.stdout.split() == own
    assert own[0] != own[1]


def test_fingerprint_follows_the_normaliser(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Tokenizer("characters").fingerprint
    monkeypatch.setattr("myxtts.text.tokenizer.NORMALIZER_VERSION", 999)
    assert Tokenizer("characters").fingerprint != before


def test_wrong_units() -> None:
    with pytest.raises(UsageError):
        Tokenizer("words")  # type: ignore[arg-type]


def test_real_transcripts_have_nothing_unknown() -> None:
    folder = os.environ.get("MYXTTS_TEST_DATA")
    if not folder:
        pytest.skip("MYXTTS_TEST_DATA is not set")
    lines = (Path(folder) / "ljspeech-transcripts.csv").read_text("utf-8").splitlines()
    for units in ("phonemes", "characters"):
        tokenizer = Tokenizer(units)  # type: ignore[arg-type]
        unknown: Counter[str] = Counter()
        for line in random.Random(0).sample(lines, 500):
            unknown += tokenizer.encode(line.split("|")[1], "en").unknown
        assert unknown == Counter()


def test_persian_number_is_read_as_words_are() -> None:
    tokenizer = Tokenizer("phonemes")
    ids = tokenizer.encode("۱۲۳", "fa").ids
    assert tokenizer.decode(ids) == phonemize("صد و بیست و سه", "fa")
