"""500 sentences of each language, made from a seed: nothing in them may be left unread.

Written as people write: digits of three kinds, letters of an Arabic keyboard, dates, money,
abbreviations. The expected words of single cases are in test_persian.py and test_english.py.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from myxtts.text.normalize import normalize
from myxtts.text.tokenizer import Tokenizer

SENTENCES = 500

ZWNJ = "\u200c"
ARABIC_KEYBOARD = str.maketrans("یک", "يك")
DIGITS = ("0123456789", "۰۱۲۳۴۵۶۷۸۹", "٠١٢٣٤٥٦٧٨٩")

PERSIAN_FRAMES = (
    "در {date} حدود {number} نفر به {place} آمدند.",
    f"قیمت این کتاب{ZWNJ}ها {{money}} است، نه {{money}}!",
    f"ساعت {{time}} جلسه{ZWNJ}ی {{ordinal}} آغاز می{ZWNJ}شود؛ دیر نکنید.",
    "آیا {percent} از مردم {place} از این مسأله خبر دارند؟",
    "«إبراهيم» گفت: {measure} راه مانده است (تقریباً {number} قدم)...",
    "علی (ع) و خانۀ او در سال {year} ه.ش بازسازی شد.",
    f"برای اطلاعات بیشتر با شماره{ZWNJ}ی {{telephone}} تماس بگیرید - {{place}}.",
    f"مـدرسـة {{place}} در ص {{small}} کتاب آمده است و نمی{ZWNJ}دانم چرا.",
    "مُحَمَّد {small} سیب، {small} انار و … خرید؛ جمعاً {number} تومان.",
    f"دمای هوا -{{small}} تا {{small}}°C بود، یعنی {{decimal}} درجه کم{ZWNJ}تر از دیروز.",
)
PERSIAN_PLACES = (
    "تهران", "اصفهان", f"قائم{ZWNJ}شهر", "رشت", "یزد", "کرمان", "آمل", "ژاپن", "چین", "لرستان",
)  # fmt: skip

ENGLISH_FRAMES = (
    "On {date}, Dr. {name} paid {money} for {number} tickets.",
    "Mr. {name} arrived at {time} — nearly {small} minutes late!",
    "The {ordinal} edition costs {money}; the old one, {money} (or {percent} less).",
    "{name} & Co., Inc. grew by {percent} in {year}, i.e. {decimal} points.",
    "It is {measure} from St. {name} to No. {small} Elm St.",
    "Prof. {name} wrote Chapter {roman}, pp. {small}-{number}, in the {decade}.",
    "Call {telephone} or write to info@{lower}.com by {date}.",
    "“Was it {fraction} or {decimal}?” asked Mrs. {name}, Jr.",
    "The U.S. had {number} men vs. {number} of ours, etc.",
    "Gen. {name}'s {small}-year plan (see Fig. {small}) cost {money}.",
)
ENGLISH_NAMES = ("Smith", "O'Neil", "Brown", "García", "Müller", "Lee", "Walker", "Dvořák")


def persian(seed: int) -> str:
    """One sentence, with the digits and letters of several keyboards."""
    chance = random.Random(seed)

    def digits(text: str) -> str:
        return text.translate(str.maketrans(DIGITS[0], chance.choice(DIGITS)))

    def number() -> str:
        plain = chance.randrange(10 ** chance.randint(1, 9))
        return digits(chance.choice((f"{plain}", f"{plain:,}", f"{plain:,}".replace(",", "٬"))))

    slots: dict[str, Callable[[], str]] = {
        "date": lambda: digits(
            chance.choice(("{y}/{m}/{d}", "{d} تیر {y}", "{y}/{m:02}/{d:02}", "20{m:02}-05-{d:02}"))
            .format(y=chance.randint(1290, 1405), m=chance.randint(1, 12), d=chance.randint(1, 29))
        ),
        "number": number,
        "small": lambda: digits(str(chance.randint(1, 99))),
        "money": lambda: chance.choice(("{} تومان", "{} ﷼", "${}", "€ {}")).format(number()),
        "time": lambda: digits(f"{chance.randint(0, 23)}:{chance.randint(0, 59):02}"),
        "ordinal": lambda: digits(str(chance.randint(1, 60))) + chance.choice(("م", ZWNJ + "ام")),
        "percent": lambda: chance.choice(("{}٪", "٪{}", "{} %", "{} درصد")).format(
            digits(str(chance.randint(1, 100)))
        ),
        "decimal": lambda: digits(
            f"{chance.randint(0, 99)}{chance.choice('.٫/')}{chance.randint(1, 999)}"
        ),
        "measure": lambda: digits(str(chance.randint(1, 900))) + chance.choice(("km", " متر")),
        "year": lambda: digits(str(chance.randint(1200, 1405))),
        "telephone": lambda: digits(f"0912{chance.randrange(10**7):07}"),
        "place": lambda: chance.choice(PERSIAN_PLACES),
    }  # fmt: skip
    return _filled(chance, PERSIAN_FRAMES, slots, lambda text: text.translate(ARABIC_KEYBOARD))


def english(seed: int) -> str:
    """One sentence, with dates, money and abbreviations."""
    chance = random.Random(seed)

    def number() -> str:
        plain = chance.randrange(10 ** chance.randint(1, 9))
        return chance.choice((f"{plain}", f"{plain:,}"))

    def date() -> str:
        month = chance.choice(("Jan.", "March", "May", "Sept.", "December"))
        form = chance.choice(("{m} {d}, {y}", "{d} {m} {y}", "{n}/{d}/{y}", "{y}-{n:02}-{d:02}"))
        day, year = chance.randint(1, 28), chance.randint(1600, 2099)
        return form.format(m=month, d=day, y=year, n=chance.randint(1, 12))

    slots: dict[str, Callable[[], str]] = {
        "date": date,
        "number": number,
        "small": lambda: str(chance.randint(1, 99)),
        "money": lambda: chance.choice(("${}", "£{}", "€{}.50", "${}.05", "$1.{} million")).format(
            chance.randint(0, 9999)
        ),
        "time": lambda: f"{chance.randint(1, 12)}:{chance.randint(0, 59):02}"
        + chance.choice(("", " a.m.", " p.m.", "pm")),
        "ordinal": lambda: chance.choice(("1st", "22nd", "3rd", "111th", "1,000th")),
        "percent": lambda: f"{chance.randint(0, 100)}{chance.choice(('%', ' %', '.5%'))}",
        "decimal": lambda: f"{chance.randint(0, 99)}.{chance.randint(0, 999)}",
        "measure": lambda: f"{chance.randint(1, 999)}{chance.choice((' km', 'km/h', 'lbs', '°F'))}",
        "year": lambda: str(chance.randint(1000, 2099)),
        "decade": lambda: chance.choice(("1920s", "'80s", "1800s", "2010s")),
        "roman": lambda: chance.choice(("II", "IV", "IX", "XIV", "XL")),
        "fraction": lambda: chance.choice(("1/2", "3/4", "2½", "7/8", "5 1/3")),
        "telephone": lambda: f"555-{chance.randrange(10**4):04}",
        "name": lambda: chance.choice(ENGLISH_NAMES),
        "lower": lambda: chance.choice(("example", "news-today", "big.shop")),
    }  # fmt: skip
    return _filled(chance, ENGLISH_FRAMES, slots, lambda text: text.replace("'", "\u2019"))


def _filled(
    chance: random.Random,
    frames: tuple[str, ...],
    slots: dict[str, Callable[[], str]],
    other_keyboard: Callable[[str], str],
) -> str:
    text = re.sub(r"\{(\w+)\}", lambda slot: slots[slot[1]](), chance.choice(frames))
    return other_keyboard(text) if chance.random() < 0.5 else text


@pytest.mark.parametrize(("make", "language"), [(persian, "fa"), (english, "en")])
@pytest.mark.parametrize("units", ["phonemes", "characters"])
def test_nothing_is_unknown(make: Callable[[int], str], language: str, units: str) -> None:
    tokenizer = Tokenizer(units)  # type: ignore[arg-type]
    texts = [make(seed) for seed in range(SENTENCES)]
    assert len(set(texts)) == SENTENCES
    unread = {text: dict(tokenizer.encode(text, language).unknown) for text in texts}
    assert {text: unknown for text, unknown in unread.items() if unknown} == {}


@pytest.mark.parametrize(("make", "language"), [(persian, "fa"), (english, "en")])
def test_only_words_and_punctuation_are_left(make: Callable[[int], str], language: str) -> None:
    for seed in range(SENTENCES):
        written = make(seed)
        said = normalize(written, language)
        odd = [
            c
            for c in said
            if not (c.isalpha() or c in " '-,.?!;:—…،؛؟" or "\u064b" <= c <= "\u0654")
        ]
        assert [c for c in odd if c != ZWNJ] == [], (written, said)
        assert normalize(said, language) == said, written


def test_persian_comes_out_in_one_form_of_each_letter() -> None:
    said = " ".join(normalize(persian(seed), "fa") for seed in range(SENTENCES))
    assert not set(said) & set("يكةأإىۀـ") - {"أ"}  # مسأله keeps its hamza
    assert ZWNJ in said
    assert "مُحَمَّد" in said


def test_every_kind_of_digit_was_written() -> None:
    written = "".join(persian(seed) for seed in range(SENTENCES))
    assert all(set(digits) <= set(written) for digits in DIGITS)
    assert set("يك") <= set(written)
