import os
from pathlib import Path

import pytest

from myxtts.data.corpora import list_corpus, read_corpus
from myxtts.errors import UserError


def write(folder: Path, content: str | bytes, audio: tuple[str, ...] = ()) -> Path:
    folder.mkdir(exist_ok=True)
    data = content if isinstance(content, bytes) else content.encode()
    (folder / "metadata.csv").write_bytes(data)
    for name in audio:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    return folder


def test_two_columns(tmp_path: Path) -> None:
    write(tmp_path, "a|First text.\nb|Second text.\n", ("wavs/a.wav", "wavs/b.flac"))
    first, second = read_corpus(tmp_path)
    assert (first.id, first.text, first.line) == ("a", "First text.", 1)
    assert first.audio == tmp_path / "wavs/a.wav"
    assert second.audio == tmp_path / "wavs/b.flac"
    assert first.speaker == second.speaker == "default"
    assert first.language is None


def test_the_normalised_column_wins_unless_it_is_empty(tmp_path: Path) -> None:
    write(tmp_path, "a|In 1990.|In nineteen ninety.\nb|Plain.|\n")
    assert [clip.text for clip in read_corpus(tmp_path)] == ["In nineteen ninety.", "Plain."]


def test_audio_file_with_speaker_name(tmp_path: Path) -> None:
    text = "audio_file|text|speaker_name\nsub/x.wav|Hello.|Ann\ny.mp3|Bye.|Bob\nwavs/z|Hm.|Bob\n"
    write(tmp_path, text, ("sub/x.wav", "wavs/y.mp3", "wavs/z.ogg"))
    clips = read_corpus(tmp_path)
    assert [clip.id for clip in clips] == ["sub/x", "y", "wavs/z"]
    assert [str(clip.audio.relative_to(tmp_path)) for clip in clips] == [
        "sub/x.wav", "wavs/y.mp3", "wavs/z.ogg"
    ]  # fmt: skip
    assert [clip.speaker for clip in clips] == ["Ann", "Bob", "Bob"]
    assert clips[0].line == 2


def test_speaker_and_language_columns_in_any_order(tmp_path: Path) -> None:
    write(tmp_path, "id|language|speaker|text\na|fa|Sara|سلام\nb|||Hello\n")
    first, second = read_corpus(tmp_path)
    assert (first.text, first.speaker, first.language) == ("سلام", "Sara", "fa")
    assert (second.text, second.speaker, second.language) == ("Hello", "default", None)


def test_bom_crlf_blank_lines_and_pipes_at_the_end(tmp_path: Path) -> None:
    write(tmp_path, b"\xef\xbb\xbfa|One.|\r\n\r\nb|Two.||\r\n")
    assert [(clip.id, clip.text, clip.line) for clip in read_corpus(tmp_path)] == [
        ("a", "One.", 1),
        ("b", "Two.", 3),
    ]


def test_pipes_inside_the_transcript_lose_nothing(tmp_path: Path) -> None:
    write(tmp_path, "id|text|speaker|language\na|left|right|Ann|en\n")
    (clip,) = read_corpus(tmp_path)
    assert (clip.text, clip.speaker, clip.language) == ("left right", "Ann", "en")
    write(tmp_path, "a|1|2|one|two\n")
    assert read_corpus(tmp_path)[0].text == "one two"


@pytest.mark.parametrize(
    "written", ["In|1990.|In nineteen ninety.", "In 1990.|In|nineteen ninety."]
)
def test_a_pipe_in_one_of_the_two_texts(tmp_path: Path, written: str) -> None:
    write(tmp_path, f"a|{written}\n")
    assert read_corpus(tmp_path)[0].text == "In nineteen ninety."


def test_unusual_line_separators_stay_in_the_text(tmp_path: Path) -> None:
    write(tmp_path, "a|one\u2028two\nb|three\n")
    assert len(read_corpus(tmp_path)) == 2


@pytest.mark.parametrize("name", ["../secret.wav", "/etc/passwd", "wavs/../../secret", ".."])
def test_a_path_out_of_the_corpus_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "corpus", f"fine|Text.\n{name}|Text.\n")
    (tmp_path / "secret.wav").write_bytes(b"x")
    with pytest.raises(UserError, match="line 2: its files must lie inside the corpus") as refusal:
        read_corpus(folder)
    assert refusal.value.received == name
    listing = list_corpus(folder)
    assert [clip.id for clip in listing.clips] == ["fine"]
    assert [(refused.line, refused.received) for refused in listing.refused] == [(2, name)]


def test_an_absolute_path_inside_the_corpus_is_fine(tmp_path: Path) -> None:
    write(tmp_path, f"{tmp_path}/wavs/a.wav|Text.\n", ("wavs/a.wav",))
    assert read_corpus(tmp_path)[0].audio == tmp_path / "wavs/a.wav"


def test_missing_audio_is_left_to_preparation(tmp_path: Path) -> None:
    write(tmp_path, "gone|Text.\n")
    assert read_corpus(tmp_path)[0].audio == tmp_path / "wavs/gone.wav"


@pytest.mark.parametrize("content", ["", "\n\n", "id|text|speaker|language\n", "\ufeff"])
def test_no_clip_is_an_error_that_says_what_to_type(tmp_path: Path, content: str) -> None:
    write(tmp_path, content)
    with pytest.raises(UserError, match="lists no clip") as error:
        read_corpus(tmp_path)
    assert f"myxtts demo-corpus {tmp_path}" in error.value.remedy


def test_missing_metadata_and_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="it has no metadata") as error:
        read_corpus(tmp_path)
    assert "myxtts demo-corpus" in error.value.remedy
    with pytest.raises(UserError, match="does not exist"):
        read_corpus(tmp_path / "nowhere")


def test_other_encodings_are_named_with_their_line(tmp_path: Path) -> None:
    write(tmp_path, b"a|fine\nb|caf\xe9\n")
    with pytest.raises(UserError, match="line 2: the metadata must be UTF-8"):
        read_corpus(tmp_path)


def test_a_line_without_a_name_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a|fine\n|Text.\n")
    with pytest.raises(UserError, match="line 2: the first column"):
        read_corpus(tmp_path)


def test_bad_lines_are_refused_one_by_one(tmp_path: Path) -> None:
    content = b"a|fine\nb|caf\xe9\nc|nul\0byte\nd|" + b"x" * 200_000 + b"\n|nameless\nf|also fine\n"
    listing = list_corpus(write(tmp_path, content))
    assert [(clip.id, clip.line) for clip in listing.clips] == [("a", 1), ("f", 6)]
    assert [refused.line for refused in listing.refused] == [2, 3, 4, 5]
    assert all(len(refused.received) < 500 for refused in listing.refused)
    assert all(refused.received.isprintable() for refused in listing.refused)
    with pytest.raises(UserError, match="line 2: the metadata must be UTF-8") as error:
        read_corpus(tmp_path)
    assert f"myxtts corpus check {tmp_path}" in error.value.remedy


def test_a_bad_first_line_is_no_header(tmp_path: Path) -> None:
    listing = list_corpus(write(tmp_path, b"id|text|\xff\na|fine\n"))
    assert [refused.line for refused in listing.refused] == [1]
    assert listing.clips[0].text == "fine"


def test_old_line_ends_and_a_last_line_without_one(tmp_path: Path) -> None:
    clips = read_corpus(write(tmp_path, b"a|One.\rb|Two."))
    assert [(clip.id, clip.text, clip.line) for clip in clips] == [
        ("a", "One.", 1),
        ("b", "Two.", 2),
    ]


def test_a_corpus_one_folder_further_is_pointed_out(tmp_path: Path) -> None:
    write(tmp_path / "LJSpeech-1.1", "a|Text.\n")
    with pytest.raises(UserError, match="is no corpus") as error:
        read_corpus(tmp_path)
    assert error.value.remedy == f"there is one inside: {tmp_path / 'LJSpeech-1.1'}"


def test_the_metadata_itself_may_be_no_link_out_and_no_pipe(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (tmp_path / "elsewhere").write_text("secret|secret\n")
    (folder / "metadata.csv").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="link out"):
        read_corpus(folder)
    (folder / "metadata.csv").unlink()
    os.mkfifo(folder / "metadata.csv")
    with pytest.raises(UserError, match="plain file"):
        read_corpus(folder)
    (folder / "metadata.csv").unlink()
    (folder / "metadata.csv").mkdir()
    with pytest.raises(UserError, match="plain file"):
        read_corpus(folder)
