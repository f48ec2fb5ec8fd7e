"""The archive for a maintainer: whole, the same each time, and without anybody's secrets."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from myxtts.cli.main import main
from myxtts.tools import bundle, doctor
from myxtts.tools.redaction import Redactor, is_secret

PLANTED = {
    "HF_TOKEN": "hf_abcdefghijklmnop",
    "WANDB_API_KEY": "0123456789abcdef0123",
    "MY_PASSWORD": "correct horse battery",
    "TF_SECRET": "tf-private-value",
}
LEAKS = [
    *PLANTED.values(), "/home/morvarid", "morvarid", "gpu-box-17", "sk-abcdef0123456789",
    "ghp_abcdefghij0123456789", "AKIAABCDEFGHIJKLMNOP", "someone@example.org", "hunter2",
    "MIIEowIBAAKCAQEA", "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "geheim", "swordfish",
]  # fmt: skip
TEXT = """
training: {output_dir: /home/morvarid/runs}   # on gpu-box-17 by morvarid
api_key: "hunter2"  auth_token = 'geheim'
{"password": "swordfish", "max_tokens": 77, "tokenizer": "phonemes", "text_tokens": [1, 2]}
curl -H "Authorization: Bearer eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl" https://morvarid:hunter2@x.org
sk-abcdef0123456789 ghp_abcdefghij0123456789 AKIAABCDEFGHIJKLMNOP someone@example.org
-----BEGIN RSA PRIVATE KEY-----
MIIEowIBAAKCAQEA
-----END RSA PRIVATE KEY-----
HF_TOKEN=hf_abcdefghijklmnop, then 0123456789abcdef0123 and correct horse battery; tf-private-value
C:\\Users\\morvarid\\corpus /Users/morvarid/corpus /home/morvarid
"""


@pytest.fixture
def redact() -> Redactor:
    home = Path("/home/morvarid")
    return Redactor(PLANTED, user="morvarid", host="gpu-box-17", home=home)


def test_nothing_planted_gets_through(redact: Redactor) -> None:
    clean = redact(TEXT)
    assert [leak for leak in LEAKS if leak in clean] == []
    assert "~/runs" in clean and "~\\corpus" in clean
    for harmless in ('"max_tokens": 77', '"tokenizer": "phonemes"', '"text_tokens": [1, 2]'):
        assert harmless in clean
    assert redact.removed["home path"] >= 3 and redact.removed["secret setting"] >= 3


def test_json_stays_json(redact: Redactor) -> None:
    document = {"api_key": 'a"b', "token": 5, "path": "/home/morvarid/x", "n": {"password": "p"}}
    clean = json.loads(redact(json.dumps(document)))
    assert clean["api_key"] == clean["token"] == clean["n"]["password"] == "<removed>"
    assert clean["path"] == "~/x"


@pytest.mark.parametrize("name", ["HF_TOKEN", "api_key", "aws.secret", "SSH_KEY", "DB_PASSWD"])
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", ["PATH", "tokenizer", "batch_size", "TF_NUM_THREADS", "KEYBOARD"])
def test_names_of_other_things(name: str) -> None:
    assert not is_secret(name)


def unpacked(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.fixture
def place(record, tmp_path: Path, monkeypatch) -> Path:
    """A folder as a user's is, with secrets everywhere."""
    run = record("runs/mine").path.parent
    (run / "train.log").write_text("\n".join(f"line {n}" for n in range(900)) + TEXT)
    (run / "clip.wav").write_bytes(b"RIFF")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "metadata.csv").write_text("a|A private sentence.\n")
    (tmp_path / "config.yaml").write_text(
        f"# {TEXT.splitlines()[2]}\ndata:\n  train_data: corpus\n"
    )
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("getpass.getuser", lambda: "morvarid")
    monkeypatch.setattr("socket.gethostname", lambda: "gpu-box-17")
    monkeypatch.setattr(doctor, "start_tensorflow", lambda: {"error": "by /home/morvarid/x"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_archive_of_the_newest_run(place: Path, capsys) -> None:
    assert main(["bundle", "-o", "help.zip", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    files = unpacked(place / "help.zip")
    assert next(iter(files)) == "manifest.json"
    assert set(files) - {"manifest.json"} == {entry["name"] for entry in told["files"]} >= {
        "system.json", "gpus.json", "doctor.json", "config.yaml", "run/run.jsonl",
        "run/summary.json", "run/train.log",
    }  # fmt: skip
    everything = "".join(files.values())
    assert [leak for leak in LEAKS if leak in everything] == []
    assert "A private sentence" not in everything and "RIFF" not in everything
    assert told["removed"]["home path"] and told["removed"]["secret setting"]
    assert "line 0\n" not in files["run/train.log"] and "line 899" in files["run/train.log"]
    assert json.loads(files["run/summary.json"])["figures"]["steps"] == 19
    for name in ("system.json", "gpus.json", "doctor.json"):
        json.loads(files[name])


def test_transcripts_only_when_asked_for(place: Path, capsys) -> None:
    assert main(["bundle", "--with-transcripts"]) == 0
    assert "A private sentence" in unpacked(place / "help.zip")["transcripts.txt"]


def test_equal_content_makes_equal_bytes(redact: Redactor) -> None:
    files = {"b.txt": "1", "a.txt": "2"}
    assert bundle.pack(files, redact) == bundle.pack(dict(reversed(files.items())), redact)


def test_of_a_large_recording_head_and_tail_are_sent(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(bundle, "LARGE", 1000)
    run = tmp_path / "run.jsonl"
    run.write_text("".join(f'{{"kind": "x", "n": {n}}}\n' for n in range(5000)))
    sent = bundle._of_run(tmp_path)["run/run.jsonl"].splitlines()
    assert len(sent) == bundle.HEAD_LINES + 1 + bundle.TAIL_LINES
    assert json.loads(sent[bundle.HEAD_LINES])["lines"] == 5000 - 2200
    assert '"n": 0}' in sent[0] and '"n": 4999}' in sent[-1]


def test_a_run_that_is_not_there(place: Path, capsys) -> None:
    assert main(["bundle", "nowhere"]) == 2
    assert "try:" in capsys.readouterr().err
