"""`myxtts say`: pipes, formats, files of lines, JSON, and what is printed where."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest
import soundfile

from myxtts.cli.main import main


@pytest.fixture
def say(capsysbinary, tmp_path, monkeypatch, talking_run):
    """`say(arguments, stdin=…) -> (exit code, standard output, standard error)`, in a folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: bytes | None = None) -> tuple[int, bytes, str]:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(["say", *map(str, arguments), "--checkpoint", str(talking_run)])
        out, err = capsysbinary.readouterr()
        assert b"Traceback" not in err
        return code, out, err.decode()

    return run


def test_a_text_to_a_file_with_its_real_time_factor(say, tmp_path) -> None:
    code, out, err = say("Hello there. سلام.", "-o", "a.flac")
    assert (code, out) == (0, b"")
    assert soundfile.info(tmp_path / "a.flac").format == "FLAC"
    assert "a.flac: " in err and "× real time" in err
    assert [path.name for path in tmp_path.iterdir()] == ["a.flac"]


def test_standard_input_and_output_in_real_pipes(talking_run, tmp_path) -> None:
    command = [sys.executable, "-m", "myxtts", "say", "--checkpoint", talking_run, "-o", "-"]
    text = "Good morning. سلام دنیا."
    done = subprocess.run(
        command, input=text.encode(), capture_output=True, cwd=tmp_path, timeout=120,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    samples, rate = soundfile.read(io.BytesIO(done.stdout))
    assert rate == 22050 and len(samples) > 5000
    assert len(done.stdout) == 44 + 2 * len(samples)  # a WAV's header and samples, nothing else
    assert b"real time" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_dash_reads_standard_input(say, tmp_path) -> None:
    assert say("-", stdin="\ufeffGood morning.".encode())[0] == 0
    assert (tmp_path / "speech.wav").stat().st_size > 1000
    code, _, err = say("-", stdin=b"caf\xe9")
    assert code == 1 and "must be UTF-8" in err


def test_json_tells_what_was_said(say) -> None:
    code, out, _ = say("Good morning. سلام دنیا.", "-o", "a.wav", "--json", "--speaker", "f2")
    told = json.loads(out)
    assert code == 0
    assert told["output"] == "a.wav" and told["vocoder"] == "griffin-lim"
    assert told["seconds"] == pytest.approx(soundfile.info("a.wav").duration, abs=0.01)
    assert told["real_time_factor"] == pytest.approx(
        told["work_seconds"] / told["seconds"], rel=0.1
    )
    assert [(s["language"], s["text"]) for s in told["sentences"]] == [
        ("en", "Good morning."), ("fa", "سلام دنیا."),
    ]  # fmt: skip


def test_a_file_of_lines(say, tmp_path) -> None:
    (tmp_path / "lines.txt").write_text("a|Good morning.\n../b|Hi.\nc|سلام.\nd|Hallo.|de\n")
    code, out, err = say("--from-file", "lines.txt", "-o", "out")
    assert (code, out) == (1, b"")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.wav", "c.wav"]
    assert "lines.txt, line 2: '../b' is no plain file name" in err
    assert "lines.txt, line 4: This checkpoint does not speak de (choose one of: en, fa)" in err
    assert "out: 2 said, 0 there already, 2 left out; " in err
    assert not (tmp_path / "b.wav").exists()

    (tmp_path / "lines.txt").write_text("a|Good morning.\nc|سلام.\ne|Good night.\n")
    code, out, _ = say("--from-file", "lines.txt", "-o", "out", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["spoken"] == ["out/e.wav"] and told["skipped"] == ["out/a.wav", "out/c.wav"]
    assert told["bad"] == []


def test_a_seed_and_several_references(say, small_corpus, tmp_path) -> None:
    clips = sorted((small_corpus / "wavs").glob("fa-*.wav"))[:2]
    voices = [word for clip in clips for word in ("--reference", clip)]
    for seed in (0, 0, 1):
        assert (
            say("سلام.", *voices, "--language", "fa", "--seed", seed, "-o", f"{seed}.wav")[0] == 0
        )
    zero, one = (soundfile.read(tmp_path / f"{seed}.wav")[0] for seed in (0, 1))
    assert len(zero) == len(one) and (zero != one).any()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["Hi.", "-o", "a.mp3"], "Sound is written as .wav, .flac, .ogg"),
        (["Hi.", "-o", "."], "is a folder"),
        (["Hi.", "-o", "-", "--json"], "Standard output takes the sound and nothing else"),
        (["Hi.", "--vocoder", "none"], "There is no vocoder called none"),
        (["Hi.", "--speed", "3"], "The speed must be between 0.5 and 2.0"),
        (["Hi.", "--pause", "-1"], "The pause between sentences"),
        (["Hi.", "--reference", "a.wav", "--speaker", "f2"], "not from both"),
        (["Hi.", "--speaker", "nobody"], "it has: f2, m7, rob"),
        (["Hi.", "--from-file", "lines.txt"], "not from both"),
        (["--from-file", "lines.txt", "-o", "-"], "the output is a folder"),
        (["…"], "There is nothing to say"),
    ],
)
def test_mistakes_are_explained(say, tmp_path, arguments: list[str], reason: str) -> None:
    (tmp_path / "lines.txt").write_text("Hi.\n")
    code, out, err = say(*arguments)
    assert (code, out) == (2, b"")
    assert reason in err and "try:" in err
    assert [path.name for path in tmp_path.iterdir()] == ["lines.txt"]


def test_a_missing_file_of_lines(say) -> None:
    code, _, err = say("--from-file", "nowhere.txt")
    assert code == 1 and "nowhere.txt cannot be read" in err
