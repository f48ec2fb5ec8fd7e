"""What a careful reader says aloud, case by case."""

from __future__ import annotations

import re

import pytest

from myxtts.text.english import normalize_english
from myxtts.text.english_words import ABBREVIATIONS
from myxtts.text.normalize import normalize

CASES = [
    # cardinals
    ("0", "zero"),
    ("I have 3 cats.", "I have three cats."),
    ("21 guns", "twenty-one guns"),
    ("101 dogs", "one hundred and one dogs"),
    ("1,000 men", "one thousand men"),
    ("12,345", "twelve thousand three hundred and forty-five"),
    ("1,234,567 people", "one million two hundred and thirty-four thousand five hundred and "
     "sixty-seven people"),
    ("Agent 007", "Agent zero zero seven"),
    ("-5 outside", "minus five outside"),
    ("10-20 people", "ten to twenty people"),
    ("a 5-year plan", "a five year plan"),
    ("pp. 1,200-1,300", "pages one thousand two hundred to one thousand three hundred"),
    ("1.5-2.5 km", "one point five to two point five kilometers"),
    ("5-6% more", "five to six percent more"),
    ("4-5-6", "four-five-six"),
    ("it was -3.5°C", "it was minus three point five degrees Celsius"),
    ("10^6 times", "ten to the power of six times"),
    ("he is 6'2\"", "he is six foot two"),
    # decimals and fractions
    ("3.14", "three point one four"),
    ("0.5 inches", "zero point five inches"),
    (".5 caliber", "point five caliber"),
    ("1,234.5", "one thousand two hundred and thirty-four point five"),
    ("1/2 cup", "one half cup"),
    ("3/4 full", "three quarters full"),
    ("2/3 of them", "two thirds of them"),
    ("2 1/2 miles", "two and a half miles"),
    ("2½ miles", "two and a half miles"),
    ("open 24/7", "open twenty-four seven"),
    ("a 50/50 chance", "a fifty fifty chance"),
    # ordinals
    ("the 1st time", "the first time"),
    ("the 2nd and 3rd", "the second and third"),
    ("21st century", "twenty-first century"),
    ("his 100th win", "his one hundredth win"),
    # years and decades
    ("in 1999", "in nineteen ninety-nine"),
    ("in 1900", "in nineteen hundred"),
    ("in 1905", "in nineteen oh five"),
    ("in 2000", "in two thousand"),
    ("in 2005", "in two thousand five"),
    ("in 2023", "in twenty twenty-three"),
    ("1914-1918", "nineteen fourteen to nineteen eighteen"),
    ("the 1990s", "the nineteen nineties"),
    ("the '80s", "the eighties"),
    ("the 1800s", "the eighteen hundreds"),
    # dates
    ("May 12, 1999", "May twelfth, nineteen ninety-nine"),
    ("Jan. 1", "January first"),
    ("on 12 May 1999", "on the twelfth of May nineteen ninety-nine"),
    ("on the 4th of July", "on the fourth of July"),
    ("2023-05-12", "May twelfth, twenty twenty-three"),
    ("5/12/2023", "May twelfth, twenty twenty-three"),
    ("in Oct. 1929", "in October nineteen twenty-nine"),
    # times
    ("3:30", "three thirty"),
    ("at 3:05 p.m. today", "at three oh five P-M today"),
    ("at 3:00", "at three o'clock"),
    ("at 15:00", "at fifteen hundred"),
    ("7 a.m.", "seven A-M."),
    ("by 7 a.m. sharp", "by seven A-M sharp"),
    ("at twelve:thirty-six p.m. on", "at twelve thirty-six P-M on"),
    ("10pm", "ten P-M"),
    ("2:03:04", "two oh three and four seconds"),
    # money
    ("$1", "one dollar"),
    ("$5.20", "five dollars and twenty cents"),
    ("$0.50", "fifty cents"),
    ("$1,000", "one thousand dollars"),
    ("$3.5 million", "three point five million dollars"),
    ("$3bn", "three billion dollars"),
    ("$20K a year", "twenty thousand dollars a year"),
    ("a $2-million deal", "a two million dollar deal"),
    ("$5-10", "five to ten dollars"),
    ("$5-$10", "five to ten dollars"),
    ("50¢", "fifty cents"),
    ("£20", "twenty pounds"),
    ("£2.01", "two pounds and one penny"),
    ("€10", "ten euros"),
    # percent and units
    ("20%", "twenty percent"),
    ("3.5 %", "three point five percent"),
    ("5km away", "five kilometers away"),
    ("1 kg", "one kilogram"),
    ("10 m/s", "ten meters per second"),
    ("10 min later", "ten minutes later"),
    ("60 mph", "sixty miles per hour"),
    ("25°C", "twenty-five degrees Celsius"),
    # abbreviations
    ("Mr. Smith", "Mister Smith"),
    ("Mrs. Jones", "Missus Jones"),
    ("Dr. Who", "Doctor Who"),
    ("a Ph.D. in art", "a P-H-D in art"),
    ("St. Paul", "Saint Paul"),
    ("on Elm St.", "on Elm Street."),
    ("on Elm St. now", "on Elm Street now"),
    ("bread, etc.", "bread, et cetera."),
    ("No. 5", "number five"),
    ("no. That is all.", "no. That is all."),
    ("cats vs. dogs", "cats versus dogs"),
    ("nuts, etc., here", "nuts, et cetera, here"),
    ("fruit, e.g. apples", "fruit, for example, apples"),
    ("Martin Luther King Jr. spoke", "Martin Luther King Junior spoke"),
    ("the U.S. Army", "the U-S Army"),
    ("in the U.S.A.", "in the U-S-A."),
    ("Edwin A. Walker", "Edwin A-Walker"),
    ("Lee H. Oswald", "Lee H Oswald"),
    ("So am I. He left.", "So am I. He left."),
    # roman numerals
    ("Henry VIII", "Henry the eighth"),
    ("Louis XIV was king", "Louis the fourteenth was king"),
    ("Elizabeth I, queen", "Elizabeth the first, queen"),
    ("John I know", "John I know"),
    ("World War II", "World War two"),
    ("Chapter IV", "Chapter four"),
    ("Charles L. Smith", "Charles L Smith"),
    ("Henry Lincoln", "Henry Lincoln"),
    ("Peter V. Smith", "Peter V Smith"),
    # symbols, punctuation
    ("salt & pepper", "salt and pepper"),
    ("#1 hit", "number one hit"),
    ("me@example.com", "me at example dot com"),
    ("see https://example.com/help now", "see example dot com slash help now"),
    ("and/or", "and or"),
    ("2 + 2 = 4", "two plus two equals four"),
    ("COVID-19", "COVID nineteen"),
    ("(555) 123-4567", "five five five, one two three, four five six seven"),
    ("call 555-1234", "call five five five, one two three four"),
    ("\u201cHi,\u201d he said", "Hi, he said"),
    ("it\u2019s the dogs\u2019 bone", "it's the dogs bone"),
    ("one (or two) three", "one, or two, three"),
    ("(see p. 5) he left (at last).", "see page five, he left, at last."),
    ("yes -- no", "yes — no"),
    ("and then,", "and then,"),
    ("he left (at last)", "he left, at last"),
    ("well...", "well…"),
    ("  two \n lines ", "two lines"),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("written", "said"), CASES)
def test_english(written: str, said: str) -> None:
    assert normalize(written, "en") == said


def test_normalised_text_is_left_alone() -> None:
    for _, said in CASES:
        assert normalize(said, "en") == said


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in ABBREVIATIONS])
def test_no_abbreviation_is_passed_over_before_the_rules_are_tried(pattern: str) -> None:
    """The rules run only on a text in which a quick look finds something for them."""
    written = re.sub(r"\\b|\(\?=.*\)|,\?", "", pattern)
    written = written.replace(r"\.?", ".").replace(r"\.", ".").replace(r"\s?", " ")
    written = written.replace("[Nn]os?", "no").replace("[Cc]h", "ch")
    follows = "5" if r"\d" in pattern else "Paul"
    text = f"to {written} {follows} today"
    assert re.search(pattern, text), "the test must write what the rule reads"
    assert normalize_english(text) != text
