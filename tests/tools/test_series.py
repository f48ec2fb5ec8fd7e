"""The points that charts are drawn from: whole, in order, and few."""

from __future__ import annotations

import pytest

from myxtts.telemetry.session import Session, Step
from myxtts.tools.series import MOST_POINTS, WINDOW, distribution, series, timeline


def step(number: int, t: float, **more) -> Step:
    told = {
        "seconds": 0.1, "wait": 0.02, "train": 0.08, "loss": 1.0, "bucket": 0,
        "useful_frames": 9, "padded_frames": 10, "compiled": False,
    }  # fmt: skip
    return Step(step=number, t=t, **told | more)


def test_the_distribution_counts_every_step_once(record) -> None:
    times = [0.1] * 90 + [0.2] * 9 + [30.0]
    found = distribution(times)
    assert found is not None
    assert (found.median, found.slow, found.longest) == (0.1, 0.2, 30.0)
    assert sum(found.counts) == 100 and len(found.edges) == len(found.counts) + 1
    assert found.edges[-1] == pytest.approx(0.4)  # one stall does not squeeze the rest
    assert distribution([0.1]) is None


def test_the_timeline_shows_what_was_done_at_the_same_time(tmp_path) -> None:
    """Batch N+1 is loaded while batch N trains."""
    steps = [
        step(n, 0.1 * (n + 1), finished={"load": 0.1 * n}, stages={"load": 0.05}) for n in range(60)
    ]
    found = timeline(Session(tmp_path, {}, tuple(steps), (), None, 0))
    assert found is not None
    assert found.last_step - found.first_step == WINDOW - 1
    assert found.seconds == pytest.approx(0.1 * WINDOW)
    lanes = {lane.name: lane.spans for lane in found.lanes}
    assert list(lanes) == ["load", "waiting", "training"]
    first = lanes["training"][0]
    assert (first.begin, first.end) == (pytest.approx(0.02), pytest.approx(0.1))
    ahead = next(span for span in lanes["load"] if span.step == first.step + 1)
    assert (ahead.begin, ahead.end) == (pytest.approx(0.05), pytest.approx(0.1))
    assert all(0 <= s.begin <= s.end <= found.seconds + 1e-9 for of in lanes.values() for s in of)


def test_a_resumed_run_shows_its_last_part(tmp_path) -> None:
    steps = [step(n, 0.1 * (n + 1)) for n in range(50)] + [
        step(50 + n, 0.1 * (n + 1)) for n in range(10)
    ]
    found = timeline(Session(tmp_path, {}, tuple(steps), (), None, 0))
    assert found is not None and found.first_step >= 50


def test_a_long_run_is_thinned_and_keeps_its_slowest_steps(record) -> None:
    session = record(times=[0.1] * 999 + [7.0] + [0.1] * 1000, gpus={0: {"utilization": 50.0}})
    found = series(session)
    assert len(found.step_times) <= MOST_POINTS
    assert (999, 7.0) in found.step_times
    assert all(len(ring.points) <= MOST_POINTS for ring in found.rings)
    assert all(len(one.points) <= MOST_POINTS for one in found.gpus)
    assert {ring.name for ring in found.rings} == {"host", "ready"}


def test_what_a_card_does_not_say_has_no_points(record) -> None:
    found = series(record(gpus={0: {"utilization": None}}))
    said = {one.metric: len(one.points) for one in found.gpus}
    assert said["utilization"] == 0 and said["power_w"] == 20
    assert series(record("none", gpus={})).gpus == ()
