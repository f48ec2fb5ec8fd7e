"""A profile with a stand-in for the model: what it records beside its steps."""

from dataclasses import replace

import pytest

from myxtts.telemetry import session
from myxtts.tools.verdict import verdict
from myxtts.training.planting import parse
from myxtts.training.run import train
from myxtts.training.study import Study

STEPS = 30


@pytest.fixture(scope="module")
def planted_run(small_corpus, tmp_path_factory):
    """30 steps of 4 ms on two devices, with 16 ms planted in the disk."""
    from myxtts.config import Config
    from tests.training.conftest import DUAL, TINY

    settings = TINY | DUAL | {
        "data.train_data": str(small_corpus),
        "training.max_steps": STEPS,
        "training.epochs": STEPS,
        "training.output_dir": str(tmp_path_factory.mktemp("planted") / "run"),
    }  # fmt: skip
    planted = parse(["disk=16"])
    return session.load(
        train(Config().replaced(settings), study=Study(planted, dummy_step=0.004, rates=True))
    )


def test_every_stage_is_measured_on_its_own(planted_run) -> None:
    rates = list(planted_run.of_kind("rate"))
    assert {event["stage"] for event in rates} == {
        "load", "upload", "preprocess", "transfer", "training",
    }  # fmt: skip
    for event in rates:
        assert set(event) == {"kind", "t", "stage", "bucket", "rows", "frames", "seconds"}
        bucket = planted_run.header["buckets"][event["bucket"]]
        assert event["frames"] == event["rows"] * bucket[1]
        assert event["seconds"] and min(event["seconds"]) > 0


def test_three_stages_are_also_measured_at_half_the_rows(planted_run) -> None:
    rows: dict[tuple[str, int], set[int]] = {}
    for event in planted_run.of_kind("rate"):
        rows.setdefault((event["stage"], event["bucket"]), set()).add(event["rows"])
    halved = {stage for (stage, _), sizes in rows.items() if len(sizes) > 1}
    assert halved == {"load", "preprocess", "training"}
    for sizes in rows.values():
        if len(sizes) > 1:
            assert min(sizes) == max(sizes) // 2


def test_the_account_ends_with_the_steps(planted_run) -> None:
    assert sum(planted_run.accounts.values()) == pytest.approx(planted_run.end["wall"], rel=1e-3)
    assert len(planted_run.steps) == STEPS
    assert planted_run.end["compilations"] == next(planted_run.of_kind("warm"))["compilations"]


def test_loading_is_divided_into_reading_and_decoding(planted_run) -> None:
    for step in planted_run.steps:
        assert set(step.parts) == {"disk", "decode"}
        assert step.parts["disk"] >= 0.016


def test_the_verdict_is_the_same_without_the_line_that_tells_what_was_planted(planted_run) -> None:
    (told,) = planted_run.of_kind("planted")
    assert told["delays"] == [{"stage": "disk", "seconds": 0.016, "jitter": 0.0}]
    blind = replace(planted_run, events=tuple(e for e in planted_run.events if e is not told))
    found = verdict(planted_run)
    assert found is not None and verdict(blind) == found
    assert found.evidence["loading"]["disk"] > found.evidence["loading"]["decode"]


def test_a_run_that_is_not_asked_measures_no_rates(tiny_run) -> None:
    run = session.load(train(tiny_run(steps=3), study=Study(dummy_step=0.001)))
    assert not list(run.of_kind("rate")) and not list(run.of_kind("planted"))
    assert all(step.parts == {} for step in run.steps)
