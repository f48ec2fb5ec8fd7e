from pathlib import Path

import pytest

from myxtts.data.corpora import list_corpus, read_corpus


def put(folder: Path, name: str, content: str | bytes = b"x") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Version 0.92 in small: two microphones, one speaker without texts, one sentence unspoken."""
    trimmed = "wav48_silence_trimmed"
    for name in (
        "p225/p225_001_mic1",
        "p225/p225_001_mic2",
        "p225/p225_002_mic2",
        "s5/s5_001_mic1",
    ):
        put(tmp_path, f"{trimmed}/{name}.flac")
    put(tmp_path, f"{trimmed}/p315/p315_001_mic1.flac")
    put(tmp_path, f"{trimmed}/log.txt", "p280 has no second microphone")
    put(tmp_path, "txt/p225/p225_001.txt", "Please call Stella.\n")
    put(tmp_path, "txt/p225/p225_002.txt", "\ufeffAsk her\r\nto bring these.\r\n")
    put(tmp_path, "txt/p225/p225_003.txt", "Nobody recorded this.\n")
    put(tmp_path, "txt/s5/s5_001.txt", "Six spoons.\n")
    put(tmp_path, "speaker-info.txt", "ID  AGE  GENDER  ACCENTS\np225  23  F  English\n")
    return tmp_path


def test_version_092(folder: Path) -> None:
    listing = list_corpus(folder)
    assert listing.form == "VCTK"
    assert not listing.refused
    assert [(clip.id, clip.speaker, clip.text) for clip in listing.clips] == [
        ("p225_001", "p225", "Please call Stella."),
        ("p225_002", "p225", "Ask her to bring these."),
        ("p225_003", "p225", "Nobody recorded this."),
        ("p315_001", "p315", ""),
        ("s5_001", "s5", "Six spoons."),
    ]
    names = [clip.audio.name for clip in listing.clips]
    assert names[:3] == ["p225_001_mic1.flac", "p225_002_mic2.flac", "p225_003_mic1.flac"]
    assert not listing.clips[2].audio.exists()
    assert {clip.language for clip in listing.clips} == {"en"}
    assert listing.clips[0].source == folder / "txt/p225/p225_001.txt"


def test_older_versions_and_no_speaker_info(tmp_path: Path) -> None:
    put(tmp_path, "wav48/p225/p225_001.wav")
    put(tmp_path, "txt/p225/p225_001.txt", "Please call Stella.")
    put(tmp_path, "txt/p225/p225_002.txt", "Not recorded.")
    first, second = read_corpus(tmp_path)
    assert first.audio == tmp_path / "wav48/p225/p225_001.wav"
    assert (first.text, first.line) == ("Please call Stella.", 1)
    assert second.audio == tmp_path / "wav48/p225/p225_002.wav"


def test_hostile_files_cost_only_themselves(folder: Path) -> None:
    put(folder, "txt/p225/p225_001.txt", b"caf\xe9\n")
    put(folder, "txt/p225/p225_002.txt", "x" * 70_000)
    put(folder, "txt/p225/p225_004.txt", "short line\n" * 10_000)
    put(folder.parent, "secret.flac")
    (folder / "txt/s5/s5_001.txt").unlink()
    (folder / "txt/s5/s5_001.txt").symlink_to("/etc/hostname")
    (folder / "wav48_silence_trimmed/s5/s5_002_mic1.flac").symlink_to(folder.parent / "secret.flac")
    listing = list_corpus(folder)
    assert [clip.id for clip in listing.clips] == ["p225_003", "p315_001"]
    assert [refused.source.stem for refused in listing.refused] == [
        "p225_001", "p225_002", "p225_004", "s5_001", "s5_002"
    ]  # fmt: skip
