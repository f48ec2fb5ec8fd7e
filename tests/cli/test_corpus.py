import json
from pathlib import Path

import numpy as np
import pytest

from myxtts.audio.decode import write_wav
from myxtts.cli.main import main


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three clips and a configuration that needs no espeak."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text("data:\n  text_units: characters\n  language: en\n")
    folder = tmp_path / "corpus"
    for number in range(3):
        samples = np.random.default_rng(number).normal(0, 0.1, 22050).astype(np.float32)
        write_wav(folder / "wavs" / f"c{number}.wav", samples, 22050)
    (folder / "metadata.csv").write_text("".join(f"c{n}|Text number {n}.\n" for n in range(3)))
    return folder


def test_a_good_corpus_ends_with_zero(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "check", str(corpus), "--plot", "lengths.svg"]) == 0
    told = capsys.readouterr()
    assert "3 clips, 0.00 hours, 1 speaker" in told.out
    assert "nothing is wrong" in told.out
    assert "lengths.svg" in told.err
    assert Path("lengths.svg").read_text().startswith("<svg")


def test_problems_end_with_one(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (corpus / "wavs/c1.wav").unlink()
    assert main(["corpus", "check", str(corpus)]) == 1
    assert f"✗ {corpus / 'metadata.csv'}:2: missing: c1:" in capsys.readouterr().out


def test_json_is_one_document(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (corpus / "wavs/c1.wav").write_bytes(b"")
    assert main(["corpus", "check", str(corpus), "--json", "--plot", "p.png"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["clips"], told["lost"], told["good"]) == (3, 1, False)
    assert told["problems"][0]["kind"] == "unreadable"
    assert told["problems"][0]["line"] == 2
    assert sum(told["seconds"]["counts"]) == 2
    assert Path("p.png").exists()


def test_wrong_usage_ends_with_two_before_any_work(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpus", "check", str(corpus), "--plot", "p.pdf"]) == 2
    assert main(["corpus", "check"]) == 2
    assert main(["corpus", "nonsense"]) == 2
    capsys.readouterr()


def test_no_corpus_is_a_plain_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "check", str(tmp_path / "nowhere")]) == 1
    assert "does not exist" in capsys.readouterr().err
