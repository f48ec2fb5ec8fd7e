"""Figures are the worst case of what was measured; what is missing stays missing."""

import sleeping
from depths import FIXED, Contest, Pass
from loads import CHANGING, STEADY, TRAIN, changing, steady
from pipeline_report import FIGURES, Measured, document, figures, table
from real_pipeline import Real
from sleeping import Race, Timing


def timing(wall: float, ideal: float = 10.0) -> Timing:
    return Timing(wall, ideal, ideal, ideal, 100)


def race(mean: int, ours: float, tf_data: float, torch: tuple[Timing, ...]) -> Race:
    walls = {"ours": ours, "synchronous": 15.0, "tf_data": tf_data}
    return Race(
        (mean, "fixed", 0.3), {n: (timing(w),) * 3 for n, w in walls.items()} | {"torch": torch}
    )


MEASURED = Measured(
    races=[
        race(5, 10.5, 10.6, (timing(11.0),) * 3),
        race(10, 10.05, 10.0, (timing(11.0), timing(10.5), timing(90.0))),
    ],
    contests=[
        Contest(
            "bursts",
            {depth: (Pass(20.0 / depth, 1 + 1 / depth, depth - 1, depth),) for depth in FIXED},
            (Pass(3.0, 1.0732, 6.0, 9),),
        )
    ],
    overhead={"step_median": 25.0},
    telemetry={"pct_of_a_50_ms_step": 0.2},
    real=Real({"asynchronous": (0.8, 0.9, 5.0), "synchronous": (1.0, 1.0, 1.1)}, True, 20),
    trials=30,
    failed_seeds=[7],
)


def test_figures_are_the_worst_case():
    assert figures(MEASURED) == {
        "step_vs_ideal_max": 1.005,
        "step_vs_ideal_max_5_ms": 1.05,
        "step_vs_tf_data_max": 1.005,
        "step_vs_torch_max": 0.9545,
        "step_vs_synchronous_max": 0.7,
        "overhead_us": 25.0,
        "telemetry_overhead_pct": 0.2,
        "adaptive_vs_best_fixed_max": 1.0101,
        "adaptive_buffered_vs_deepest_max": 0.4,
        "async_vs_sync_real": 0.9,
        "randomised_runs": 30,
        "randomised_failures": 1,
    }


def test_a_missing_peer_gives_no_figure():
    measured = Measured(races=[race(10, 10.05, 10.0, ())], missing={"torch": "not installed"})
    found = figures(measured)
    assert found["step_vs_torch_max"] is None and found["step_vs_tf_data_max"] == 1.005
    assert "missing" in table(document(measured, {}))


def test_the_result_has_every_figure_and_every_case():
    result = document(MEASURED, {"machine": {}})
    assert set(FIGURES) < set(result)
    assert [load["train_ms"] for load in result["steady_loads"]] == [5, 10]
    assert result["failed_seeds"] == [7]
    assert all(name in table(result) for name in FIGURES)


def test_loads_come_from_their_seed():
    drawn = list(steady(50, seed=1))
    assert drawn == list(steady(50, seed=1)) != list(steady(50, seed=2))
    assert [case for case, _ in drawn] == list(STEADY)
    for (mean, kind, ratio), load in steady(5000, seed=1):
        spread = len(set(load.train))
        assert spread == 1 if kind == "fixed" else spread > 4000
        assert abs(sum(load.train) / 5000 - mean / 1e3) < 0.05 * mean / 1e3
        assert abs(sum(load.prepare) / 5000 - ratio * mean / 1e3) < 0.05 * ratio * mean / 1e3
    assert [load.name for load in changing(1500, 1)] == list(CHANGING)
    assert all(set(load.train) == {TRAIN} for load in changing(1500, 1))


def test_our_pipeline_and_no_pipeline_are_measured_in_full():
    from peers.sleeping_ours import Ours, Synchronous

    load = sleeping.Load("short", (0.002,) * 20, (0.001,) * 20)
    ahead = sleeping.measure(Ours(), load, 3)
    alone = sleeping.measure(Synchronous(), load, 3, overlapping=False)
    for one in (ahead, alone):
        assert one.steps == 20 and one.wall >= one.ideal >= one.ideal_drawn
    assert ahead.unlimited <= ahead.ideal
