"""Tiers at their limits, and every reason for having none."""

from __future__ import annotations

import pytest

from myxtts.tools.gpu_figures import gpu_figures, tier


def busy(data: float | None, model: float | None) -> dict[int, dict[str, float | None]]:
    return {0: {"utilization": data}, 1: {"utilization": model}}


@pytest.mark.parametrize(
    ("data", "model", "speedup", "reached"),
    [
        (61, 91, 2.1, "excellent"),
        (61, 91, 1.9, "good"),
        (60, 91, 2.1, "good"),
        (51, 81, None, "good"),
        (50, 81, None, "minimum"),
        (41, 71, None, "minimum"),
        (40, 71, None, "below minimum"),
        (5, 5, None, "below minimum"),
    ],
)
def test_the_tier_follows_from_utilisation(record, data, model, speedup, reached) -> None:
    assert tier(record(gpus=busy(data, model)), speedup).reached == reached


def test_excellent_without_the_rate_of_one_gpu_is_good_and_says_what_is_missing(record) -> None:
    found = tier(record(gpus=busy(61, 91)))
    assert (found.reached, found.not_measured) == ("good", "speedup")


def test_variation_lowers_the_tier(record) -> None:
    swinging = record(gpus=busy(70, 95), times=(0.1, 0.19) * 10)
    assert tier(swinging, 2.5).reached == "minimum"


def test_reasons_for_no_tier(record) -> None:
    assert tier(record("a", plan={"virtual": True})).not_measured == "virtual"
    assert tier(record("b", plan={"kind": "one"})).not_measured == "one_device"
    assert tier(record("c", gpus={})).not_measured == "no_samples"
    assert tier(record("d", gpus=busy(70, None))).not_measured == "no_samples"
    assert all(
        tier(record(f"e{i}", gpus=gpus)).reached is None
        for i, gpus in enumerate(({}, busy(None, None)))
    )


def test_samples_before_the_steady_part_do_not_count(record, clock) -> None:
    session = record(times=(0.1,) * 4)
    early = {"kind": "gpu", "t": -5.0, "index": 0, "utilization": 0.0}
    with_early = type(session)(**{**vars(session), "events": (early, *session.events)})
    assert gpu_figures(with_early) == gpu_figures(session)


def test_a_gpu_lost_in_mid_run_keeps_its_figures_until_then(record) -> None:
    session = record()
    events = [event for event in session.events if event["kind"] != "gpu" or event["index"] == 0]
    model = [event for event in session.events if event["kind"] == "gpu" and event["index"] == 1]
    lost = type(session)(**{**vars(session), "events": (*events, *model[:5])})
    figures = {one.index: one for one in gpu_figures(lost)}
    assert figures[1].samples < figures[0].samples
    assert figures[1].utilization == 92.0


def test_roles(record) -> None:
    assert [one.role for one in gpu_figures(record("dual"))] == ["data", "model"]
    one = gpu_figures(record("one", plan={"kind": "one"}))
    assert [figures.role for figures in one] == ["data and model", "not used"]
