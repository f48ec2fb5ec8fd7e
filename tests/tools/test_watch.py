"""A run watched while it is written, line by line, by another thread or process."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from myxtts.cli.main import main
from myxtts.telemetry.tail import Tail
from myxtts.tools import watch_text
from myxtts.tools.catalogue import LANGUAGES
from myxtts.tools.watch import Watch, live_gpus
from tests.fake_nvml import FakeNvml


@pytest.fixture
def lines(record) -> list[str]:
    """A run of 20 steps that is to have 40."""
    lines = record("whole").path.read_text().splitlines(keepends=True)
    report = {"kind": "report", "t": 2.0, "step": 20, "total_steps": 40,
              "accounts": {"training": 1.5, "data_wait": 0.5}}  # fmt: skip
    lost = {"kind": "gpu_lost", "t": 2.0, "index": 1, "reason": "the GPU is lost"}
    lines[-1:-1] = [json.dumps(lost) + "\n", json.dumps(report) + "\n"]
    return lines


def test_half_a_line_waits_for_its_rest(tmp_path: Path, lines) -> None:
    file = tmp_path / "run.jsonl"
    tail = Tail(file)
    assert tail.read() == []
    file.write_text(lines[0][:20])
    assert tail.read() == []
    with file.open("a") as stream:
        stream.write(lines[0][20:] + lines[1])
    assert [event["kind"] for event in tail.read()] == ["header", json.loads(lines[1])["kind"]]
    assert tail.read() == [] and tail.damaged == 0
    file.write_text("")  # a new run takes its place
    file.write_text(lines[0])
    assert [event["kind"] for event in tail.read()] == ["header"]


def test_a_frame_of_a_run_in_progress(tmp_path: Path, lines) -> None:
    watch = Watch(tmp_path / "run.jsonl")
    assert watch.frame().state == "starting"
    watch.saw([json.loads(lines[0])])
    assert watch.frame().state == "preparing" and watch.frame().seconds_left is None
    watch.saw(json.loads(line) for line in lines[1:-1])
    frame = watch.frame()
    assert (frame.state, frame.step, frame.total_steps, frame.loss) == ("training", 20, 40, 1.0)
    assert frame.steps_per_second == pytest.approx(10.0)
    assert frame.seconds_left == pytest.approx(2.0)
    assert [(row.name, row.percent) for row in frame.account if row.seconds] == [
        ("data_wait", 25.0), ("training", 75.0),
    ]  # fmt: skip
    assert {ring.name: ring.ready for ring in frame.rings} == {"host": 4, "ready": 2}
    assert frame.gpus[0].utilization == 65.0 and frame.gpus[1].utilization is None
    assert [one.name for one in frame.incidents] == ["gpu_lost"]
    assert not watch.ended
    watch.saw([json.loads(lines[-1])])
    assert watch.ended and watch.frame().reason == "finished"
    watch.saw([json.loads(lines[0])])  # resumed
    assert not watch.ended and watch.frame().state == "preparing"


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_ends_by_itself_when_the_run_has_ended(tmp_path, lines, capsys, language) -> None:
    """Another thread writes the run; the command begins before it does."""
    file = tmp_path / "run" / "run.jsonl"
    file.parent.mkdir()
    pause = threading.Event()

    def write() -> None:
        with file.open("a", buffering=1) as stream:
            for line in lines:
                stream.write(line)
                pause.wait(0.01)

    writer = threading.Timer(0.1, write)
    writer.start()
    command = ["monitor", str(file.parent), "--interval", "0.05", "--lang", language]
    assert main([*command, "--wait"]) == 0
    writer.join()
    out = capsys.readouterr().out.splitlines()
    assert len(out) >= 2 and "20/40" in out[-1] and "finished" in out[-1]
    assert main([*command, "--json"]) == 0
    (told,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert told["state"] == "ended" and told["incidents"][0]["name"] == "gpu_lost"
    assert main([*command, "--once"]) == 0
    assert watch_text.words()["ended"][language] in capsys.readouterr().out


def test_a_run_that_does_not_exist_is_refused(tmp_path: Path, capsys) -> None:
    assert main(["monitor", str(tmp_path / "none")]) == 2
    assert "--wait" in capsys.readouterr().err
    (tmp_path / "text.jsonl").write_text("hello\n")
    assert main(["monitor", str(tmp_path / "text.jsonl")]) == 3
    assert "no header" in capsys.readouterr().err


def test_gpus_of_this_machine_stand_in_for_samples(monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(lost={1: 0}))
    cards = live_gpus()
    assert [card.utilization for card in cards] == [73.0, None]
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(driver=False))
    assert live_gpus() == ()


def test_every_word_exists_in_both_languages() -> None:
    assert all(set(of) == set(LANGUAGES) for of in watch_text.words().values())
