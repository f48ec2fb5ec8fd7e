"""Where a text is cut, and that nothing of it is lost."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from myxtts.data.demo_sentences import sentences as demo_sentences
from myxtts.text.sentences import Break, Piece, halves, pieces


def texts(text: str, **settings: int) -> list[str]:
    return [piece.text for piece in pieces(text, **settings)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Smith met Mrs. Jones at St. Paul's.",
        "He came at 5 p.m. on Jan. 5, e.g. by train, i.e. late.",
        "J. R. R. Tolkien and George W. Bush wrote it.",
        "Pi is 3.14, and version 2.0.1 costs $1,000.50.",
        "See Fig. 3 and No. 5 on pp. 12 and 13.",
        "The U.S. Senate met Gen. Grant.",
        "Acme Inc. Chicago sells pens, books, etc. to schools.",
        '"Why?" she asked.',
        "Well... perhaps not.",
        "It has no full stop",
        "She (who was late!) sat down.",
        "1. Take the bread.",
        "Visit example.com for more.",
        "او در سال ۱۳۵۷ ه.ش. به تهران رفت.",
        "دکتر م. امید کتاب را خواند.",
        "قیمت آن ۳.۱۴ یا ۲٫۵ است.",
        "کتاب‌ها را می‌خوانیم.",
        "نگاه کنید به صص. ۱۲ تا ۱۵.",
        "«سقراط در ۳۹۹ ق.م. درگذشت.»",
    ],
)
def test_one_sentence_stays_whole(sentence: str) -> None:
    assert texts(sentence) == [sentence]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
        ("So did I. Then we left.", ["So did I.", "Then we left."]),
        ("We went to the U.S. The end.", ["We went to the U.S.", "The end."]),
        ("It closes at 5 p.m. He left.", ["It closes at 5 p.m.", "He left."]),
        ("Is it No. 5? No. It is 6.", ["Is it No. 5?", "No.", "It is 6."]),
        ("We met in June. Then it ended.", ["We met in June.", "Then it ended."]),
        ('He said "Go." Then "Stop!" Now.', ['He said "Go."', 'Then "Stop!"', "Now."]),
        ("(He left.) She stayed.", ["(He left.)", "She stayed."]),
        ("What?! Really...  Yes.", ["What?!", "Really...", "Yes."]),
        ("سلام! حالت چطور است؟ خوبم.", ["سلام!", "حالت چطور است؟", "خوبم."]),
        ("«چرا؟» او رفت… بعد برگشت.", ["«چرا؟»", "او رفت…", "بعد برگشت."]),
        ("به خانه می‌رویم.فردا برمی‌گردیم.", ["به خانه می‌رویم.", "فردا برمی‌گردیم."]),
        ("\u200f«بله.»\u200f خوب.", ["\u200f«بله.»\u200f", "خوب."]),
        ("你好。今天天气很好！走吧？", ["你好。", "今天天气很好！", "走吧？"]),
        ("यह अच्छा है। वह आया।", ["यह अच्छा है।", "वह आया।"]),
        ("Hello. سلام. Bye.", ["Hello.", "سلام.", "Bye."]),
    ],
)
def test_sentences_are_told_apart(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_lines_that_were_wrapped_are_joined_and_short_ones_end() -> None:
    wrapped = (
        "This line was broken because the page ended there, and it\n"
        "goes on here. A second sentence.\r\n\r\nA heading\nThe text below it."
    )
    assert pieces(wrapped) == [
        Piece(
            "This line was broken because the page ended there, and it goes on here.",
            Break.SENTENCE,
        ),
        Piece("A second sentence.", Break.PARAGRAPH),
        Piece("A heading", Break.SENTENCE),
        Piece("The text below it.", Break.PARAGRAPH),
    ]


def test_what_parts_the_pieces() -> None:
    text = 'One. "Two?" Three! Four… Five.\n\n\nSix.'
    expected = [
        Break.SENTENCE, Break.QUESTION, Break.QUESTION, Break.ELLIPSIS, Break.PARAGRAPH,
        Break.PARAGRAPH,
    ]  # fmt: skip
    assert [piece.ends for piece in pieces(text)] == expected


@pytest.mark.parametrize("text", ["", "  \n\n ", "***", "—", "…!?", "«»\u200f", "\n.\n\n.\n"])
def test_a_text_without_a_word_has_no_pieces(text: str) -> None:
    assert pieces(text) == []


def test_marks_without_a_word_stay_with_the_sentence_before() -> None:
    assert texts("It ends. ***\n—\nNext. !") == ["It ends. *** —", "Next. !"]


@pytest.mark.parametrize("comma", [",", "،", ";", "؛", " —"])
def test_a_long_sentence_is_cut_at_clauses(comma: str) -> None:
    clause = "این یک جمله‌ی دراز است" if comma in "،؛" else "this clause goes on for a while"
    sentence = f"{comma} ".join([clause] * 9) + "."
    cut = pieces(sentence, longest=100)
    assert all(len(piece.text) <= 100 for piece in cut)
    assert [piece.ends for piece in cut[:-1]] == [Break.CLAUSE] * (len(cut) - 1)
    assert all(piece.text.endswith(comma.strip()) for piece in cut[:-1])
    assert min(len(piece.text) for piece in cut) > 25  # about equal, no crumbs


def test_a_long_clause_is_cut_between_words_and_a_long_word_between_letters() -> None:
    cut = pieces("word " * 100, longest=60)
    assert {piece.ends for piece in cut[:-1]} == {Break.WORD}
    assert all(set(piece.text.split()) == {"word"} for piece in cut)
    letters = pieces("ن\u064fو\u0650" * 60, longest=50)
    assert all(len(piece.text) <= 50 and piece.text[0] in "نو" for piece in letters)


def test_nothing_is_lost_of_any_text() -> None:
    random = Random(0)
    words = [word for code in ("en", "fa") for s in islice(demo_sentences(code, 1, False), 50)
             for word in s.split()]  # fmt: skip
    marks = [
        "",
        "",
        "",
        ".",
        "!",
        "؟",
        ",",
        "،",
        "…",
        " —",
        '."',
        "»",
        "\n",
        "\n\n",
        "\u200c",
        "3.5",
    ]
    for _ in range(300):
        text = " ".join(
            random.choice(words) + random.choice(marks) for _ in range(random.randrange(1, 60))
        )
        cut = pieces(text, longest=random.choice([30, 80, 200]))
        assert "".join("".join(texts_of) for texts_of in map(str.split, (p.text for p in cut))) == (
            "".join(text.split())
        )


def test_a_book_on_one_line() -> None:
    """Each mark is judged by what stands around it, not by all that came before."""
    book = "Dr. Lee went out early, and J. Fox stayed at home. " * 20_000
    cut = pieces(book)
    assert len(cut) == 20_000 and len({piece.text for piece in cut}) == 1
    assert len(pieces("word " * 100_000)) == pytest.approx(100_000 / 39, rel=0.05)


def test_halves_meet_near_the_middle() -> None:
    piece = Piece("We went out early, and nobody saw us leave.", Break.QUESTION)
    assert halves(piece) == (
        Piece("We went out early,", Break.CLAUSE),
        Piece("and nobody saw us leave.", Break.QUESTION),
    )
    assert halves(Piece("two words", Break.SENTENCE)) == (
        Piece("two", Break.WORD),
        Piece("words", Break.SENTENCE),
    )
    for whole in ("word.", "… word", "word —"):
        assert halves(Piece(whole, Break.SENTENCE)) is None
