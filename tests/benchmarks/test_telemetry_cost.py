"""The benchmark of telemetry runs the real loop, and its figure is made of what it measured."""

import pytest
import telemetry_cost

from myxtts.telemetry import session


def test_the_cost_lies_in_its_interval() -> None:
    cost = telemetry_cost.measure(pairs=3, idle_steps=60, real_steps=1)
    assert cost["low"] <= cost["microseconds"] <= cost["high"]
    assert cost["pct_of_a_50_ms_step"] == pytest.approx(cost["microseconds"] / 500, abs=1e-3)
    assert cost["runs_of_50_ms_steps"]["steps"] == 1


def test_every_step_of_it_is_recorded(tmp_path) -> None:
    telemetry_cost._recorded(60, 0.0, tmp_path / "run")
    lines = (tmp_path / "run/run.jsonl").read_text().splitlines()
    assert sum('"kind": "step"' in line for line in lines) == 60
    events, damaged = session._parse([line.encode() for line in lines])
    assert damaged == 0 and events[-1]["kind"] == "end"
    assert {"load", "upload", "preprocess", "transfer"} <= set(events[0]["finished"])
