from __future__ import annotations

import pytest

from myxtts.errors import UsageError
from myxtts.text.languages import LANGUAGES, detect, detect_each, language_id

SENTENCES = {
    "en": "The weather is lovely today, is it not?",
    "fa": "امروز هوا خیلی خوب است و ما به پارک می‌رویم.",
    "ar": "الطقس جميل جدا اليوم ونحن ذاهبون إلى الحديقة.",
    "cs": "Dnes je krásné počasí a jdeme do parku.",
    "de": "Das Wetter ist heute schön und wir gehen in den Park.",
    "es": "Hoy hace muy buen tiempo y vamos al parque.",
    "fr": "Il fait très beau aujourd'hui et nous allons au parc.",
    "hi": "आज मौसम बहुत अच्छा है और हम पार्क जा रहे हैं।",
    "hu": "Ma nagyon szép idő van, és a parkba megyünk.",
    "it": "Oggi il tempo è molto bello e andiamo al parco.",
    "ja": "今日はとても天気がいいので公園に行きます。",
    "ko": "오늘은 날씨가 매우 좋아서 공원에 갑니다.",
    "nl": "Het is vandaag heel mooi weer en we gaan naar het park.",
    "pl": "Dziś jest bardzo ładna pogoda i idziemy do parku.",
    "pt": "Hoje o tempo está muito bom e nós vamos ao parque.",
    "ru": "Сегодня очень хорошая погода, и мы идём в парк.",
    "tr": "Bugün hava çok güzel ve parka gidiyoruz.",
    "zh": "今天天气很好，我们去公园。",
}


def test_order_is_part_of_every_checkpoint() -> None:
    assert " ".join(LANGUAGES) == "en fa ar cs de es fr hi hu it ja ko nl pl pt ru tr zh"
    assert [language_id(code) for code in LANGUAGES] == list(range(18))


@pytest.mark.parametrize("code", SENTENCES)
def test_detection_among_all(code: str) -> None:
    assert detect(SENTENCES[code], list(LANGUAGES)) == code


def test_detection_stays_inside_the_candidates() -> None:
    assert detect(SENTENCES["fa"], ["en", "fa"]) == "fa"
    assert detect(SENTENCES["fa"], ["en", "de"]) in ("en", "de")
    assert detect(SENTENCES["fa"], ["en"]) == "en"
    # the restriction of one call does not leak into the next
    assert detect(SENTENCES["de"], ["fr", "de"]) == "de"


@pytest.mark.parametrize(
    ("wrong", "nearest"), [("fas", "fa"), ("en-us", "en"), ("Persian", "fa"), ("germn", "de")]
)
def test_unknown_code_names_the_nearest(wrong: str, nearest: str) -> None:
    with pytest.raises(UsageError) as caught:
        language_id(wrong)
    assert caught.value.remedy.startswith(f"{nearest} (")


def test_no_candidates() -> None:
    with pytest.raises(UsageError):
        detect("text", [])


def test_each_sentence_has_a_language_of_its_own() -> None:
    said = [
        "Good morning, my friend.",
        "OK.",
        "سلام دوست من، حالت چطور است؟",
        "1984.",
        "بله.",
        "Yes!",
    ]
    assert detect_each(said, ["en", "fa"]) == ["en", "en", "fa", "fa", "fa", "en"]


def test_a_short_sentence_takes_the_language_of_its_neighbours_in_the_same_script() -> None:
    german = ["Ich habe gestern meinen alten Freund getroffen.", "Er war sehr müde.", "Ja.", "Gut."]
    assert detect_each(german, ["en", "de", "fa"]) == ["de"] * 4
    assert detect_each(["12."], ["fa"]) == ["fa"]
    assert detect_each([], ["en", "fa"]) == []
