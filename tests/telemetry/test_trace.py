"""A recorded run becomes a trace that Perfetto opens: tracks, spans, counters, and no end to it."""

import gzip
import json
from itertools import pairwise

import pytest

from myxtts.telemetry import session, trace
from myxtts.telemetry.run_log import SCHEMA, RunLog

STAGES = {"load": 0.02, "upload": 0.001, "preprocess": 0.03, "transfer": 0.01}


@pytest.fixture
def recorded(tmp_path):
    """`recorded(steps)` -> steps of 100 ms each, half of it waiting, with what else happens."""

    def record(steps: int = 4) -> session.Session:
        with RunLog(tmp_path / "run.jsonl", clock=lambda: 0.0) as log:
            plan = {"data_device": "/GPU:0", "model_device": "/GPU:1"}
            log.write("header", schema=SCHEMA, plan=plan)
            log.write("compile", t=0.5, seconds=0.4, bucket=0)
            for number in range(steps):
                end = 1.0 + 0.1 * (number + 1)
                log.write(
                    "step", t=end, step=number, seconds=0.1, wait=0.05, train=0.05, loss=1.0,
                    bucket=0, useful_frames=90, padded_frames=100, compiled=False,
                    blame={"load": 0.05}, stages=STAGES, rings={"host": 1, "ready": 2},
                    finished=dict.fromkeys(STAGES, end - 0.06),
                )  # fmt: skip
                log.write("gpu", t=end, index=1, utilization=None, memory_used_mb=9, power_w=210.5)
            log.write("bad_step", t=1.05, step=0, losses={"total": "nan"}, clips=["a"])
            log.write("end", reason="finished", wall=2.0, accounts={})
        return session.load(tmp_path)

    return record


def drawn(path) -> list[dict]:
    return json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]


def test_every_stage_has_its_track_and_its_time(recorded, tmp_path):
    trace.write(recorded(), tmp_path / "trace.json.gz")
    events = drawn(tmp_path / "trace.json.gz")
    tracks = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    spans = [event for event in events if event["ph"] == "X"]
    by_track = {tracks[event["pid"], event["tid"]] for event in spans}
    assert by_track == {
        "load", "upload → /GPU:0", "preprocess → /GPU:0", "transfer → /GPU:1", "loop on /GPU:1"
    }  # fmt: skip
    first = next(event for event in spans if event["name"] == "preprocess")
    assert first["ts"] == pytest.approx((1.1 - 0.06 - 0.03) * 1e6)
    assert first["dur"] == pytest.approx(30_000) and first["args"]["step"] == 0


def test_the_loop_does_one_thing_at_a_time(recorded):
    loop = sorted(
        (event["ts"], event["ts"] + event["dur"], event["name"])
        for event in trace.events(recorded())
        if event["ph"] == "X" and event["pid"] == trace.LOOP
    )
    assert [name for _, _, name in loop[:3]] == ["compiling", "waiting for data", "training"]
    for (_, end, _), (start, _, _) in pairwise(loop):
        assert end <= start + 1.0


def test_what_a_card_does_not_say_is_left_out(recorded):
    counters = {event["name"] for event in trace.events(recorded()) if event["ph"] == "C"}
    assert counters == {"batches ready", "GPU 1 memory_used_mb", "GPU 1 power_w"}


def test_mishaps_are_marked(recorded):
    (mark,) = (event for event in trace.events(recorded()) if event["ph"] == "i")
    assert mark["name"] == "bad_step" and mark["args"]["clips"] == ["a"]


def test_of_a_long_run_the_last_steps_are_drawn(recorded, monkeypatch):
    monkeypatch.setattr(trace, "MOST_STEPS", 10)
    events = list(trace.events(recorded(50)))
    steps = {event["args"]["step"] for event in events if event["name"] == "training"}
    assert steps == set(range(40, 50))
    assert not any(event["name"] == "compiling" for event in events)  # before what is drawn
    assert sum(event["ph"] == "C" for event in events) <= 3 * 11
