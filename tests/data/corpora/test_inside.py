import os
from pathlib import Path

import pytest

from myxtts.data.corpora.inside import Inside, MustNotBeRead

PLACES = ("", "wavs")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus with one clip, beside a file that is not its own."""
    (tmp_path / "corpus/wavs").mkdir(parents=True)
    (tmp_path / "corpus/wavs/a.wav").write_bytes(b"x")
    (tmp_path / "secret.wav").write_bytes(b"x")
    return tmp_path / "corpus"


def test_a_link_inside_the_corpus_is_followed(folder: Path) -> None:
    (folder / "wavs/b.wav").symlink_to("a.wav")
    (folder / "other").symlink_to("wavs")
    inside = Inside(folder)
    assert inside.audio("b", PLACES) == folder / "wavs/b.wav"
    assert inside.audio("other/a", PLACES) == folder / "other/a.wav"


def test_a_link_out_of_the_corpus_is_refused(folder: Path) -> None:
    (folder / "wavs/b.wav").symlink_to(folder.parent / "secret.wav")
    with pytest.raises(MustNotBeRead, match="link out of it"):
        Inside(folder).audio("b", PLACES)


def test_a_folder_that_is_a_link_out_of_the_corpus_is_refused(folder: Path) -> None:
    (folder / "more").symlink_to(folder.parent)
    with pytest.raises(MustNotBeRead, match="link out of it"):
        Inside(folder).audio("more/secret.wav", PLACES)


def test_the_corpus_folder_may_be_a_link_itself(folder: Path) -> None:
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert Inside(link).audio("a", PLACES) == link / "wavs/a.wav"


def test_a_neighbour_whose_name_begins_alike_is_outside(folder: Path) -> None:
    neighbour = folder.parent / "corpus-two"
    neighbour.mkdir()
    (neighbour / "x.wav").write_bytes(b"x")
    (folder / "x.wav").symlink_to(neighbour / "x.wav")
    for name in (str(neighbour / "x.wav"), "../corpus-two/x.wav", "x.wav"):
        with pytest.raises(MustNotBeRead):
            Inside(folder).audio(name, PLACES)


def test_pipes_and_folders_are_not_audio(folder: Path) -> None:
    os.mkfifo(folder / "wavs/pipe.wav")
    (folder / "wavs/folder.wav").mkdir()
    for name in ("pipe", "folder.wav"):
        with pytest.raises(MustNotBeRead, match="plain file"):
            Inside(folder).audio(name, PLACES)


def test_a_broken_link_is_a_missing_file(folder: Path) -> None:
    (folder / "wavs/b.wav").symlink_to("gone.wav")
    assert not Inside(folder).audio("b", PLACES).exists()


def test_files_and_names(folder: Path) -> None:
    inside = Inside(folder)
    assert inside.names("wavs") == {"a.wav"}
    assert inside.names("nowhere") == set()
    assert inside.file("wavs/a.wav") == folder / "wavs/a.wav"
    assert inside.file("wavs/b.wav") is None
    with pytest.raises(MustNotBeRead):
        inside.names("..")
