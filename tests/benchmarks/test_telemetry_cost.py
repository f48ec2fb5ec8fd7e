"""The benchmark of telemetry runs the real loop, and its figure is made of what it measured."""

import pytest
import telemetry_cost

from myxtts.telemetry import session


def test_the_cost_lies_in_its_interval() -> None:
    cost = telemetry_cost.measure(pairs=3, steps=60)
    assert cost.lowest <= cost.microseconds <= cost.highest
    assert cost.percent == pytest.approx(cost.microseconds / 500)


def test_every_step_of_it_is_recorded(tmp_path) -> None:
    telemetry_cost._recorded(60, tmp_path / "run")
    lines = (tmp_path / "run/run.jsonl").read_text().splitlines()
    assert sum('"kind": "step"' in line for line in lines) == 60
    events, damaged = session._parse([line.encode() for line in lines])
    assert damaged == 0 and events[-1]["kind"] == "end"
    assert {"load", "upload", "preprocess", "transfer"} <= set(events[0]["finished"])
