from pathlib import Path

import pytest

from myxtts.data.corpora import list_corpus, read_corpus
from myxtts.errors import UserError

HEADER = (
    "client_id\tpath\tsentence_id\tsentence\tsentence_domain\tup_votes\tdown_votes\tage\tgender\t"
    "accents\tvariant\tlocale\tsegment\n"
)


def row(speaker: str, path: str, sentence: str, locale: str = "fa") -> str:
    return f"{speaker}\t{path}\tf00\t{sentence}\t\t2\t0\ttwenties\t\t\t\t{locale}\t\n"


def corpus(folder: Path, lines: str | bytes, table: str = "validated.tsv") -> Path:
    (folder / "clips").mkdir(parents=True, exist_ok=True)
    content = lines if isinstance(lines, bytes) else lines.encode()
    (folder / table).write_bytes(HEADER.encode() + content)
    return folder


def test_persian(tmp_path: Path) -> None:
    lines = row("9f", "common_voice_fa_1.mp3", "سلام، حال شما؟") + row("9f", "x2.mp3", "«بله»")
    folder = corpus(tmp_path, lines)
    (folder / "clips/common_voice_fa_1.mp3").write_bytes(b"x")
    listing = list_corpus(folder)
    assert listing.form == "Common Voice"
    first, second = listing.clips
    assert (first.id, first.text) == ("common_voice_fa_1", "سلام، حال شما؟")
    assert (first.speaker, first.language) == ("9f", "fa")
    assert first.audio == folder / "clips/common_voice_fa_1.mp3"
    assert (first.line, first.source) == (2, folder / "validated.tsv")
    assert not second.audio.exists()


def test_the_first_releases_had_fewer_columns_and_no_suffix(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips/0a1b.mp3").write_bytes(b"x")
    (tmp_path / "train.tsv").write_text("client_id\tpath\tsentence\n77\t0a1b\tHello.\n")
    (clip,) = read_corpus(tmp_path)
    assert (clip.id, clip.text, clip.speaker, clip.language) == ("0a1b", "Hello.", "77", None)
    assert clip.audio == tmp_path / "clips/0a1b.mp3"


def test_validated_is_preferred_to_train(tmp_path: Path) -> None:
    corpus(tmp_path, row("1", "a.mp3", "در train"), "train.tsv")
    corpus(tmp_path, row("1", "a.mp3", "یک") + row("2", "b.mp3", "دو"))
    assert len(read_corpus(tmp_path)) == 2


@pytest.mark.parametrize(
    ("locale", "language"), [("zh-CN", "zh"), ("zh-HK", "zh-HK"), ("pt", "pt"), ("", None)]
)
def test_locales(tmp_path: Path, locale: str, language: str | None) -> None:
    corpus(tmp_path, row("1", "a.mp3", "text", locale))
    assert read_corpus(tmp_path)[0].language == language


def test_hostile_lines_cost_only_themselves(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    lines = [
        row("1", "../../secret.mp3", "out").encode(),
        row("1", "b.mp3", "nul\0").encode(),
        row("1", "c.mp3", "x" * 100_000).encode(),
        b"1\td.mp3\tf00\tcaf\xe9\n",
        row("1", "", "nameless").encode(),
        row("1", "e.mp3", "one\ttab too many").encode(),
        row("1", "f.mp3", 'he said "no').encode(),
        b"1\tg.mp3\n",
    ]
    listing = list_corpus(corpus(folder, b"".join(lines)))
    assert [(clip.id, clip.text) for clip in listing.clips] == [("f", 'he said "no'), ("g", "")]
    assert [refused.line for refused in listing.refused] == [2, 3, 4, 5, 6, 7]


def test_a_table_without_its_columns_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("a,b,c\n")
    with pytest.raises(UserError, match=r"train.tsv, line 1: it must name the columns"):
        read_corpus(tmp_path)
