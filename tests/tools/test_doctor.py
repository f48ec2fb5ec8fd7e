"""The check of an installation: each line a mark, a reason and something to type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from myxtts.cli.main import main
from myxtts.tools import doctor, doctor_words
from myxtts.tools.catalogue import LANGUAGES
from myxtts.tools.environment import environment
from tests.fake_nvml import FakeNvml

WORKS = {"version": "2.21.0", "gpu_build": True, "gpus": 2}


def checks(nvml: FakeNvml | None = None, probe=lambda: WORKS, config=None, corpus=None) -> dict:
    found = environment(nvml or FakeNvml())
    return {one.name: one for one in doctor.examine(found, config, corpus, probe)}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_whole_installation(small_corpus, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(f"data: {{train_data: {small_corpus}}}\n")
    found = checks(config=tmp_path / "config.yaml")
    wrong = {name: one for name, one in found.items() if one.good is False}
    assert wrong == {}
    assert found["tensorflow"].found == "2.21.0, GPU build"
    assert found["gpus_seen"].found == "2 of 2"
    assert "24 clips" in found["corpus"].found
    assert "MB/s" in found["runs_disk"].found and "GB free" in found["cache_disk"].found


def test_tensorflow_that_sees_no_gpu_must_be_put_right() -> None:
    found = checks(probe=lambda: WORKS | {"gpus": 0, "gpu_build": False})
    assert found["gpus_seen"].good is False and "myxtts[gpu]" in found["gpus_seen"].do


def test_tensorflow_that_crashes_is_a_line() -> None:
    found = checks(probe=lambda: {"error": "Illegal instruction"})
    assert found["tensorflow"].good is False and "Illegal instruction" in found["tensorflow"].found
    assert doctor.exit_code(list(found.values())) == 1


def test_without_a_gpu_it_is_still_whole() -> None:
    found = checks(FakeNvml(driver=False))
    assert found["driver"].good is None and "--virtual-gpus 2" in found["driver"].do
    assert "gpus_seen" not in found


def test_a_disk_that_is_full_or_slow(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "LEAST_FREE_GB", 1e9)
    assert checks()["runs_disk"].good is False
    monkeypatch.setattr(doctor, "LEAST_FREE_GB", 0.0)
    monkeypatch.setattr(doctor, "write_speed", lambda folder: 1.0)
    assert checks()["runs_disk"].good is None


def test_tensorflow_is_really_started() -> None:
    told = doctor.start_tensorflow()
    assert told["version"].startswith("2.") and told["gpus"] == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_command_in_both_languages(language, monkeypatch, capsys) -> None:
    monkeypatch.setattr(doctor, "start_tensorflow", lambda: WORKS)
    code = main(["doctor", "--lang", language])
    shown = capsys.readouterr().out
    assert doctor_words.label("corpus", language) in shown
    assert doctor_words.VERDICT[code == 0][language] in shown
    assert main(["doctor", "--lang", language, "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert told["good"] is (code == 0)
    assert {one["name"] for one in told["checks"]} <= set(doctor_words.words())


def test_every_check_has_words_in_both_languages() -> None:
    assert all(set(of) == set(LANGUAGES) for of in doctor_words.words().values())
