"""A prediction beside its check, and a run that sleeps through the real pipeline."""

from __future__ import annotations

import pytest
from plan_cases import REAL, SLEEPING
from tools_fix import CASES, Found
from tools_plan import Check, summary

from myxtts.config import Config
from myxtts.tools.plan import Planner
from myxtts.tools.what_if import WhatIf


def check(direction: str, ratio: tuple[float, float, float], predicted: float = 100.0) -> Check:
    return Check("c", "real", "x", predicted, 90.0, 110.0, direction, 100.0 * ratio[1], ratio)


def test_a_direction_is_wrong_only_beyond_noise() -> None:
    assert check("faster", (0.8, 0.9, 0.95)).wrong_direction
    assert not check("faster", (0.9, 0.98, 1.02)).wrong_direction
    assert check("slower", (1.05, 1.1, 1.2)).wrong_direction
    assert not check("unclear", (0.5, 0.6, 0.7)).wrong_direction


def test_the_summary_counts() -> None:
    told = summary([check("faster", (0.9, 1.0, 1.1)), check("faster", (0.7, 0.8, 0.9))])
    assert told["plan_predictions"] == told["plan_real_predictions"] == 2
    assert told["plan_median_error"] == pytest.approx(0.125)
    assert told["plan_wrong_direction"] == 1
    assert told["plan_ranges_hold"] == 1.0


def test_there_are_enough_cases() -> None:
    sleeping = sum(len(changes) for _, _, changes in SLEEPING.values())
    real = sum(len(changes) for _, _, changes in REAL)
    assert sleeping >= 25 and real >= 15 and len(CASES) == 20
    assert len({case.name for case in CASES}) == 20


def test_near_the_best_is_within_a_tenth() -> None:
    def found(after: float) -> Found:
        return Found("c", 50.0, after, 100.0, False, {}, {}, [], 4, 1.0)

    assert found(91.0).near and not found(89.0).near


def test_a_sleeping_run_is_recorded_like_any_other() -> None:
    pytest.importorskip("tensorflow")
    from sleeping_run import Machine, record

    quick = Machine(train=(8.0, 0.1), load=(0.1, 0.05), live=(0.2, 0.05), cached=(0.2, 0.05))
    session = record(Config(), quick, 40)
    assert len(session.steps) == 40 and session.complete
    assert set(session.steps[-1].stages) == {"load", "upload", "preprocess", "transfer"}
    planner = Planner(session)
    assert planner.predict(WhatIf(model_faster=2.0)).ratio.point > 1.2
    assert planner.predict(WhatIf(batch_size=8)).frames_per_second.point > 0
