"""The planted cases: as many of each kind as promised, the same from the same seed, dominant."""

from dataclasses import replace

import planted_cases
import planted_rules
import pytest
from planted_cases import Case, dominates, simulated


@pytest.fixture(scope="module")
def quick() -> list[Case]:
    return [planted_cases.drawn(1, number) for number in planted_cases.numbers(quick=True)]


def test_the_plan_has_enough_of_everything() -> None:
    ways = [way for way, _ in planted_cases.PLAN]
    assert len(ways) >= 200 and ways.count("real") >= 60


@pytest.mark.long
def test_the_same_seed_draws_the_same_cases(quick) -> None:
    assert planted_cases.drawn(1, 0) == quick[0] and planted_cases.drawn(1, 60) == quick[10]
    assert planted_cases.drawn(2, 0) != quick[0]


@pytest.mark.long
def test_what_is_planted_dominates(quick) -> None:
    assert all(dominates(case) for case in quick if not case.healthy)
    assert any(case.healthy for case in quick)


def test_two_causes_that_cost_the_same_are_no_case() -> None:
    pause = {"training.checkpoint_interval": 10}
    case = Case(0, "sleeping", "disk", 10.0, 60, 1, ("disk=15",), ("checkpoint=60",))
    assert case.planted.settings == pause
    assert not dominates(case)
    assert dominates(replace(case, beside=("checkpoint=10",)))


def test_the_arithmetic_of_a_pipeline_by_hand() -> None:
    fed = Case(0, "sleeping", "training", 10.0, 50, 1, base=("preprocess=4",))
    assert simulated(fed) == pytest.approx(0.5)
    starved = replace(fed, main=("decode=20",))
    stock = planted_cases.HOST + planted_cases.READY + 2
    assert simulated(starved) == pytest.approx((50 - stock) * 0.02 + 0.004 + 0.01)
    saved = replace(fed, main=("checkpoint=100", "checkpoint-every=10"))
    assert simulated(saved) == pytest.approx(0.5 + 5 * 0.1)


@pytest.mark.parametrize(
    ("said", "cause", "right"),
    [("fine", "training", True), ("high", "disk", True), ("moderate", "jitter", True),
     ("high", "balanced", False), ("fine", "transfer", False), ("fine", "padding", True)],
)  # fmt: skip
def test_tensorboards_rule_is_asked_only_for_input_or_not(said, cause, right) -> None:
    assert planted_rules.tensorboard_right(said, cause) is right


def test_a_threshold_counts_for_what_it_may_stand_for() -> None:
    assert planted_rules.thresholds_right("load", "decode")
    assert planted_rules.thresholds_right(None, "balanced")
    assert not planted_rules.thresholds_right("load", "recompilation")
