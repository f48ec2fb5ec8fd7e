"""A file of lines to a folder of sounds: what is read, skipped and refused, and where it goes."""

from __future__ import annotations

from pathlib import Path

import pytest
import soundfile

from myxtts.synthesis import Request
from myxtts.synthesis.batch import read_jobs, speak_jobs

LIKE = Request("", language="en", speed=1.5)


def lines(folder: Path, content: str | bytes) -> Path:
    path = folder / "lines.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_every_form_of_a_line(tmp_path: Path) -> None:
    content = (
        "\ufeffJust a text.\r\n\n"
        "named|A named text.\n"
        "salām.flac|سلام دنیا|fa\n"
        " both | Two words | | f2 \n"
    )
    jobs, bad = read_jobs(lines(tmp_path, content), tmp_path / "out", LIKE)
    assert not bad
    assert [(job.number, job.path.name) for job in jobs] == [
        (1, "00001.wav"), (3, "named.wav"), (4, "salām.flac"), (5, "both.wav"),
    ]  # fmt: skip
    assert [job.request.text for job in jobs] == [
        "Just a text.", "A named text.", "سلام دنیا", "Two words",
    ]  # fmt: skip
    assert [job.request.language for job in jobs] == ["en", "en", "fa", "en"]
    assert [job.request.speaker for job in jobs] == [None, None, None, "f2"]
    assert {job.request.speed for job in jobs} == {1.5}


def test_a_line_with_a_speaker_leaves_the_reference_of_the_others(tmp_path: Path) -> None:
    like = Request("", reference=[Path("a.wav")])
    jobs, _ = read_jobs(lines(tmp_path, "a|One.\nb|Two.||f2\n"), tmp_path, like)
    assert jobs[0].request.reference == [Path("a.wav")]
    assert jobs[1].request.reference is None and jobs[1].request.speaker == "f2"


@pytest.mark.parametrize(
    "name",
    [
        "../escaped", "/etc/passwd", "..", ".", ".hidden", "a/b", "a\\b", "~/../x/y", "a\tb",
        "x" * 300, "ق" * 150, "", "a\u202eb", "C:\\x",
    ],
)  # fmt: skip
def test_a_name_is_a_file_name_and_nothing_else(tmp_path: Path, name: str) -> None:
    jobs, bad = read_jobs(lines(tmp_path, f"{name}|Text.\nfine|Text.\n"), tmp_path / "out", LIKE)
    assert [job.path for job in jobs] == [tmp_path / "out" / "fine.wav"]
    assert [line.number for line in bad] == [1]


def test_bad_lines_are_reported_by_number(tmp_path: Path) -> None:
    content = (
        b"one|Fine.\n"
        b"two|\n"
        b"three|a|en|f2|more\n"
        b"\xff\xfe not text\n"
        b"One|The same name.\n"
        b"nul|a\0b\n"
        b"last|Fine.\n"
    )
    jobs, bad = read_jobs(lines(tmp_path, content), tmp_path, LIKE)
    assert [job.path.name for job in jobs] == ["one.wav", "last.wav"]
    reasons = {line.number: line.reason for line in bad}
    assert list(reasons) == [2, 3, 4, 5, 6]
    assert reasons[2] == "no text"
    assert "5 columns" in reasons[3]
    assert reasons[4] == "the file must be UTF-8"
    assert "line 1 has the name One.wav already" in reasons[5]


def test_a_bad_line_costs_the_others_nothing_and_a_second_run_goes_on(
    speaker, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    content = "a|Good morning.\nb|Hallo.|de\nc|سلام.\nd.ogg|Hi.||nobody\ne.flac|Good night.||f2\n"
    jobs, bad = read_jobs(lines(tmp_path, content), folder, Request(""))
    assert not bad
    counts: list[tuple[int, int]] = []
    outcome = speak_jobs(speaker, jobs, progress=lambda *count: counts.append(count))
    assert [path.name for path in outcome.spoken] == ["a.wav", "c.wav", "e.flac"]
    assert [line.number for line in outcome.bad] == [2, 4]
    assert "does not speak de" in outcome.bad[0].reason and "en, fa" in outcome.bad[0].reason
    assert "no speaker called nobody" in outcome.bad[1].reason
    assert counts == [(0, 5), (5, 5)]
    seconds = sum(soundfile.info(path).duration for path in outcome.spoken)
    assert outcome.speech_seconds == pytest.approx(seconds, abs=0.01) and outcome.work_seconds > 0
    assert sorted(path.name for path in folder.iterdir()) == ["a.wav", "c.wav", "e.flac"]

    before = (folder / "a.wav").stat().st_mtime_ns
    (folder / "c.wav").unlink()
    again = speak_jobs(speaker, jobs)
    assert [path.name for path in again.spoken] == ["c.wav"]
    assert [path.name for path in again.skipped] == ["a.wav", "e.flac"]
    assert (folder / "a.wav").stat().st_mtime_ns == before
    forced = speak_jobs(speaker, jobs, force=True)
    assert len(forced.spoken) == 3 and not forced.skipped
    assert (folder / "a.wav").stat().st_mtime_ns > before


def test_a_link_in_the_folder_is_replaced_and_not_followed(speaker, tmp_path: Path) -> None:
    folder, outside = tmp_path / "out", tmp_path / "precious.wav"
    folder.mkdir()
    outside.write_bytes(b"precious")
    (folder / "a.wav").symlink_to(outside)
    (folder / "b.wav").mkdir()
    jobs, _ = read_jobs(lines(tmp_path, "a|Good morning.\nb|Good night.\n"), folder, Request(""))
    outcome = speak_jobs(speaker, jobs, force=True)
    assert outside.read_bytes() == b"precious"
    assert not (folder / "a.wav").is_symlink() and soundfile.info(folder / "a.wav").frames > 1000
    assert [line.number for line in outcome.bad] == [2]
    assert sorted(path.name for path in folder.iterdir()) == ["a.wav", "b.wav"]
