"""A run is written and read back; damage is counted, never hidden."""

import threading

import pytest

from myxtts.errors import MeasurementError, UsageError
from myxtts.telemetry import session
from myxtts.telemetry.run_log import SCHEMA, RunLog

STEP = {
    "seconds": 0.2, "wait": 0.05, "train": 0.14, "loss": 1.0, "bucket": 0, "useful_frames": 90,
    "padded_frames": 100, "compiled": False, "blame": {}, "stages": {}, "rings": {"ready": 2},
}  # fmt: skip


def record(path, steps=3, close=True):
    log = RunLog(path)
    log.write("header", schema=SCHEMA, machine={}, config={}, plan={})
    for number in range(steps):
        log.write("step", step=number, **STEP | {"seconds": 0.1 * (number + 1)})
    if close:
        log.write("end", reason="finished", wall=1.0, accounts={"training": 1.0})
    log.close()
    return path


def test_what_was_written_is_read_back(tmp_path):
    run = session.load(record(tmp_path / "run.jsonl"))
    assert [step.step for step in run.steps] == [0, 1, 2]
    assert run.complete and run.accounts["training"] == 1.0
    assert run.steps[0].rings == {"ready": 2}


def test_a_folder_means_the_run_inside_it(tmp_path):
    record(tmp_path / "run.jsonl")
    assert len(session.load(tmp_path).steps) == 3


def test_the_first_step_does_not_count_as_steady(tmp_path):
    run = session.load(record(tmp_path / "run.jsonl"))
    assert run.step_times == pytest.approx([0.2, 0.3])
    assert run.variation == pytest.approx(0.0707106 / 0.25, rel=1e-4)


def test_a_cut_file_is_read_up_to_the_cut_and_says_so(tmp_path):
    path = record(tmp_path / "run.jsonl", close=False)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - 20])
    run = session.load(path)
    assert len(run.steps) == 2
    assert not run.complete and run.damaged_lines == 1


def test_what_is_not_a_run_cannot_be_measured(tmp_path):
    (tmp_path / "a.jsonl").write_text("hello\n")
    with pytest.raises(MeasurementError, match="no header"):
        session.load(tmp_path / "a.jsonl")


def test_another_schema_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"kind": "header", "schema": 99}\n')
    with pytest.raises(MeasurementError, match="another version"):
        session.load(tmp_path / "a.jsonl")


def test_a_missing_run_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError):
        session.load(tmp_path / "none")


def test_threads_do_not_mix_their_lines(tmp_path):
    log = RunLog(tmp_path / "run.jsonl")
    log.write("header", schema=SCHEMA)
    threads = [
        threading.Thread(target=lambda: [log.write("gpu", index=0, x="y" * 500) for _ in range(99)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    run = session.load(tmp_path / "run.jsonl")
    assert len(list(run.of_kind("gpu"))) == 396 and run.damaged_lines == 0


def test_writing_after_the_end_is_dropped(tmp_path):
    path = record(tmp_path / "run.jsonl")
    log = RunLog(path)
    log.close()
    log.write("gpu", utilization=1)
    assert not list(session.load(path).of_kind("gpu"))
