"""`myxtts fix` as users type it, with short runs that are functions of the configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from myxtts.cli.main import main
from myxtts.config import Config
from myxtts.telemetry.accounts import ACCOUNTS
from myxtts.telemetry.run_log import SCHEMA, RunLog
from myxtts.telemetry.session import Session, load
from myxtts.tools.summary import summarize
from myxtts.training import child_run

TEXT = "# mine\ndata:\n  train_data: corpus\n  num_workers: 0\n  batch_size: 4  # small\n"
Speed = Callable[[Config], float]


def recorded(config: Config, folder: Path, seconds: float) -> Session:
    """Thirty steps of this length, all of them training."""
    now = [0.0]
    with RunLog(folder / "run.jsonl", lambda: now[0]) as log:
        log.write("header", schema=SCHEMA, machine={"cores": 4}, config=config.model_dump(),
                  plan={"kind": "one", "virtual": False})  # fmt: skip
        for number in range(30):
            now[0] += seconds
            log.write(
                "step", step=number, seconds=seconds, wait=0.0, train=seconds, loss=1.0, bucket=0,
                useful_frames=95 * config.data.batch_size, compiled=False,
                padded_frames=100 * config.data.batch_size,
            )  # fmt: skip
        log.write("end", reason="finished", wall=now[0], accounts=dict.fromkeys(ACCOUNTS, 0.0))
    return load(folder)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch) -> Callable[[Speed], None]:
    """A machine on which a step takes as long as a function says; nothing is trained."""

    def install(speed: Speed) -> None:
        def child(config: Config, folder: Path, what: str, words: object = None) -> Session:
            return recorded(config, folder, speed(config))

        def look(result, config, folder, steps, notice) -> None:
            result.summary = summarize(recorded(config, folder, speed(config)))

        monkeypatch.setattr(child_run, "recorded", child)
        monkeypatch.setattr("myxtts.tools.diagnosis._measure", look)
        monkeypatch.setattr("myxtts.tools.diagnosis.tensorflow_gpus", lambda: 0)
        monkeypatch.setattr("myxtts.tools.diagnosis.prerequisites", lambda *_: [])

    return install


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_bytes(TEXT.encode())
    return path


def test_a_larger_batch_that_helps_is_written_with_a_backup(
    machine, file: Path, tmp_path: Path, capsys
) -> None:
    machine(lambda config: 0.1)  # a step costs the same, however many clips it has
    words = ["fix", "--config", str(file), "--apply", "-o", str(tmp_path / "run")]
    assert main([*words, "--trials", "1"]) == 0
    told = capsys.readouterr()
    after = file.read_text()
    assert "batch_size: 16" in after and "# small" in after and after.startswith("# mine\n")
    assert (tmp_path / "config.yaml.backup-1").read_bytes() == TEXT.encode()
    assert "4.00 ×" in told.out and "written" in told.out
    headings = [told.out.index(f"{number}. ") for number in range(1, 7)]
    assert headings == sorted(headings)


def test_what_does_not_help_leaves_the_file_alone(
    machine, file: Path, tmp_path: Path, capsys
) -> None:
    machine(lambda config: 0.025 * config.data.batch_size)
    words = ["fix", "--config", str(file), "--apply", "-o", str(tmp_path / "run")]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert file.read_bytes() == TEXT.encode() and told["backup"] is None and told["diff"] == ""
    assert told["fixed"]["kept"] == {} and told["fixed"]["trials"]
    assert {one["verdict"] for one in told["fixed"]["trials"]} <= {"no clear gain", "slower"}
    assert main([*words[:-1], str(tmp_path / "again"), "--lang", "fa"]) == 0
    assert "بایت به بایت" in capsys.readouterr().out
    kept = [*words[:-1], str(tmp_path / "third"), "--keep-batch-size", "--json"]
    assert main(kept) == 0
    tried = json.loads(capsys.readouterr().out)["fixed"]["trials"]
    assert not any("data.batch_size" in one["settings"] for one in tried)


def test_without_apply_nothing_is_tried(machine, file: Path, tmp_path: Path, capsys) -> None:
    machine(lambda config: 0.1)
    words = ["fix", "--config", str(file), "-o", str(tmp_path / "run")]
    for flags in ([], ["--dry-run"]):
        assert main([*words, *flags]) in (0, 1)
        assert file.read_bytes() == TEXT.encode()
    assert not list(tmp_path.glob("run/trial-*"))
    assert main([*words, "--apply", "--dry-run"]) == 2


def test_what_cannot_be_measured_changes_nothing(file: Path, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr("myxtts.tools.diagnosis.tensorflow_gpus", lambda: None)
    words = ["fix", "--config", str(file), "--apply", "-o", str(tmp_path / "run")]
    assert main(words) == 3
    assert "TensorFlow is not installed" in capsys.readouterr().err
    assert file.read_bytes() == TEXT.encode()


def test_control_c_says_that_the_file_is_as_it_was(machine, file: Path, tmp_path: Path, capsys):
    def speed(config: Config) -> float:
        if config.data.batch_size > 4:
            raise KeyboardInterrupt
        return 0.1

    machine(speed)
    words = ["fix", "--config", str(file), "--apply", "-o", str(tmp_path / "run")]
    assert main(words) == 130
    assert "byte for byte" in capsys.readouterr().err
    assert file.read_bytes() == TEXT.encode()
