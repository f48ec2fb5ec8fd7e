"""Predictions from a recorded run: the truth is a simulation whose rules are known."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from myxtts.cli.main import main
from myxtts.config import Config
from myxtts.errors import MeasurementError
from myxtts.telemetry.run_log import SCHEMA, RunLog
from myxtts.telemetry.session import Session, load
from myxtts.tools.candidates import candidates
from myxtts.tools.fix_run import planned_from
from myxtts.tools.pipeline_model import Layout, ModelLane, Work, simulate
from myxtts.tools.plan import Planner
from myxtts.tools.stage_laws import Point, fit
from myxtts.tools.what_if import NotPredictable, WhatIf
from myxtts.tools.what_to_try import survey

Known = Callable[..., Session]
FRAMES = 6000


@pytest.fixture
def known(tmp_path: Path) -> Known:
    """Writes a run whose steps follow from the times of its stages; milliseconds."""
    count = 0

    def write(
        costs: Mapping[str, float] | None = None,
        *,
        train: float = 20.0,
        jitter: float = 0.0,
        depth: int = 3,
        overlapping: bool = True,
        steps: int = 120,
        kind: str = "dual",
        device: str = "GPU",
        rates: Mapping[str, tuple[float, float]] | None = None,
        data: Mapping[str, Any] | None = None,
        scale: float = 1.0,
    ) -> Session:
        """`rates`: for a stage (milliseconds at half of the frames, at all of them)."""
        nonlocal count
        count += 1
        rng = np.random.default_rng(count)
        costs = {"load": 2.0, "upload": 1.0, "preprocess": 5.0, "transfer": 1.0, **(costs or {})}
        keys = {"adaptive_depth": False, "pipeline_depth": depth, **(data or {})}
        keys["optimize_cpu_gpu_overlap"] = overlapping
        config = Config().replaced({f"data.{key}": value for key, value in keys.items()})
        stages = {
            name: scale * cost / 1e3 * rng.lognormal(-(jitter**2) / 2, jitter, steps)
            for name, cost in costs.items()
        }
        work = Work(stages, np.full(steps, scale * train / 1e3), np.zeros(steps))
        lanes = (
            ModelLane("host", ("load", "upload"), config.data.host_batches_ahead),
            ModelLane("ready", ("preprocess", "transfer"), depth),
        )
        course = simulate(Layout(lanes, overlapping), work)
        folder = tmp_path / f"run-{count}"
        with RunLog(folder / "run.jsonl", lambda: 0.0) as log:
            log.write(
                "header",
                schema=SCHEMA,
                machine={"cores": 8},
                config=config.model_dump(),
                plan={"kind": kind, "virtual": False, "model_device": f"/{device}:1"},
            )
            drawn = [{"ring": o.ring, "depth": o.depth, "stages": list(o.stages)} for o in lanes]
            log.write("pipeline", overlapping=overlapping, in_flight=50, lanes=drawn)
            ended = np.concatenate(([course.taken[0]], course.ended))
            for number in range(steps):
                log.write(
                    "step", step=number, t=float(ended[number + 1]),
                    seconds=float(ended[number + 1] - ended[number]),
                    wait=float(course.waited[number]), train=float(work.train[number]), loss=1.0,
                    bucket=0, useful_frames=int(0.9 * FRAMES), padded_frames=FRAMES, compiled=False,
                    stages={name: float(times[number]) for name, times in stages.items()},
                )  # fmt: skip
            for stage, (half, whole) in (rates or {}).items():
                for frames, cost in ((FRAMES // 2, half), (FRAMES, whole)):
                    log.write("rate", stage=stage, bucket=0, rows=8, frames=frames,
                              seconds=[cost / 1e3] * 5)  # fmt: skip
            log.write("end", reason="finished", wall=float(ended[-1]), accounts={})
        return load(folder)

    return write


RATES = {
    "load": (1.0, 2.0),
    "upload": (0.5, 1.0),
    "preprocess": (2.5, 5.0),
    "transfer": (0.5, 1.0),
    "training": (14.0, 20.0),
}


def test_nothing_changed_is_nothing_gained(known: Known) -> None:
    prediction = Planner(known(jitter=0.4)).predict(WhatIf())
    assert prediction.ratio.point == pytest.approx(1.0)
    assert prediction.direction == "unclear"


def test_a_faster_gpu_pays_until_preparing_is_the_limit(known: Known) -> None:
    planner = Planner(known({"preprocess": 9.0}))  # 10 ms with the transfer, beside 20 of training
    twice, tenfold = (planner.predict(WhatIf(model_faster=k)) for k in (2.0, 10.0))
    assert twice.ratio.point == pytest.approx(2.0, rel=0.02)
    assert tenfold.ratio.point == pytest.approx(2.0, rel=0.02)
    assert twice.direction == tenfold.direction == "faster"
    assert twice.settings == {}
    assert tenfold.wait_share == pytest.approx(0.8, abs=0.03)
    assert twice.data_utilization == pytest.approx(100, abs=2)


def test_overlap_is_worth_the_sum_against_the_longest(known: Known) -> None:
    off = Planner(known(overlapping=False))
    assert off.predict(WhatIf(overlap=True)).ratio.point == pytest.approx(29 / 20, rel=0.02)
    on = Planner(known())
    prediction = on.predict(WhatIf(overlap=False))
    assert prediction.ratio.point == pytest.approx(20 / 29, rel=0.02)
    assert prediction.direction == "slower"
    assert prediction.settings == {"data.optimize_cpu_gpu_overlap": False}


def test_a_deeper_ring_helps_against_jitter_and_not_against_a_slow_stage(known: Known) -> None:
    jittery = Planner(known({"preprocess": 18.0}, jitter=0.7, depth=1, steps=240))
    deeper = jittery.predict(WhatIf(pipeline_depth=8))
    assert deeper.direction == "faster"
    slow = Planner(known({"preprocess": 40.0}))
    assert slow.predict(WhatIf(pipeline_depth=16)).ratio.point == pytest.approx(1.0, abs=0.01)


def test_another_batch_size_follows_the_law_of_its_cost(known: Known) -> None:
    planner = Planner(known(rates=RATES))  # training: 8 ms and 2 ms for each thousand frames
    doubled = planner.predict(WhatIf(batch_size=32))
    assert doubled.ratio.point == pytest.approx(2 * 20 / 32, rel=0.02)
    assert doubled.direction == "faster"
    assert planner.predict(WhatIf(batch_size=8)).direction == "slower"
    assert doubled.steps_per_second.point == pytest.approx(1 / 0.032, rel=0.02)


def test_without_rates_a_batch_size_is_not_predicted(known: Known) -> None:
    with pytest.raises(NotPredictable, match="two batch sizes") as caught:
        Planner(known()).predict(WhatIf(batch_size=32))
    assert "myxtts profile" in caught.value.record


def test_more_workers_help_when_loading_is_the_limit(known: Known) -> None:
    planner = Planner(known({"load": 40.0}, data={"num_workers": 2}))
    four = planner.predict(WhatIf(num_workers=4))
    assert four.ratio.point == pytest.approx(41 / 21, rel=0.05)
    assert 1 < four.ratio.low < four.ratio.point
    more_than_cores = planner.predict(WhatIf(num_workers=64))
    assert more_than_cores.ratio.point == planner.predict(WhatIf(num_workers=8)).ratio.point


def test_stages_that_share_cores_have_a_range_and_no_advice(known: Known) -> None:
    """Without overlap on a CPU nobody knows how much of it two cores would win."""
    prediction = Planner(known(overlapping=False, device="CPU")).predict(WhatIf(overlap=True))
    assert prediction.ratio.low < 1.03 and prediction.ratio.high > 1.4
    assert prediction.direction == "unclear"


def test_rates_measured_alone_tell_what_turning_overlap_off_costs(known: Known) -> None:
    """On shared cores the recorded times were stretched; alone the stages are faster."""
    session = known(device="CPU", rates=RATES, scale=1.45)  # 29 ms: as long as one by one
    prediction = Planner(session).predict(WhatIf(overlap=False))
    assert prediction.ratio.point == pytest.approx(1.0, abs=0.05)


def test_cached_features_take_preparing_away(known: Known) -> None:
    planner = Planner(known({"preprocess": 60.0}, data={"features": "live"}))
    prediction = planner.predict(WhatIf(features="cached"))
    assert prediction.direction == "faster" and prediction.ratio.point > 2
    with pytest.raises(NotPredictable, match="never computed a mel"):
        Planner(known()).predict(WhatIf(features="live"))


def test_another_plan_of_devices(known: Known) -> None:
    dual = Planner(known({"preprocess": 15.0}, rates=RATES))
    one = dual.predict(WhatIf(device_plan="one"))
    assert one.ratio.low < 0.65 and one.ratio.high == pytest.approx(1.0, abs=0.03)
    assert one.settings == {"data.device_plan": "one"}
    replicas = dual.predict(WhatIf(device_plan="replicas"))
    assert 1.0 < replicas.ratio.point < 20 / 14
    with pytest.raises(NotPredictable, match="half of a batch"):
        Planner(known()).predict(WhatIf(device_plan="replicas"))


def test_a_survey_finds_the_best_and_says_what_it_cannot_know(known: Known) -> None:
    plan = survey(Planner(known({"load": 30.0}, overlapping=False, data={"num_workers": 1})))
    assert plan.best is not None
    assert plan.best.settings["data.optimize_cpu_gpu_overlap"] is True
    assert plan.best.settings["data.num_workers"] > 1
    assert "batch size" in {missing.what for missing in plan.not_predicted}
    healthy = survey(Planner(known()))
    assert healthy.best is None


def test_a_run_that_is_too_short_says_so(known: Known) -> None:
    with pytest.raises(MeasurementError, match="too short"):
        Planner(known(steps=8))


def test_a_law_of_one_level_is_a_guess_with_its_range() -> None:
    alone = (Point(6000, (0.02,) * 5),)
    assert fit(alone)(np.array([12000]))[0] == pytest.approx(0.04)
    drawn = [float(fit(alone, np.random.default_rng(i))(np.array([12000]))[0]) for i in range(50)]
    assert min(drawn) < 0.025 and max(drawn) > 0.035


def test_a_law_is_never_negative() -> None:
    falling = (Point(1000, (0.03,)), Point(2000, (0.02,)))
    assert fit(falling).slope == 0.0
    steep = (Point(1000, (0.01,)), Point(2000, (0.05,)))
    assert fit(steep).fixed == 0.0


# -- candidates of fix ---------------------------------------------------------------------------


def keys(found: list[Any]) -> set[str]:
    return {key for one in found for key in one.settings}


def test_without_waits_only_training_can_become_faster(known: Known) -> None:
    session = known(rates=RATES, data={"pipeline_depth": 3})
    config = Config().replaced(session.header["config"] and {"data.adaptive_depth": False})
    found = candidates(session, config, 8, ())
    assert keys(found) == {"data.batch_size"}
    assert candidates(session, config, 8, (), keep_batch=True) == []


def test_candidates_of_a_slow_load_begin_with_the_most_promising(known: Known) -> None:
    session = known({"load": 80.0}, data={"num_workers": 1})
    config = Config().replaced({"data.num_workers": 1, "data.adaptive_depth": False})
    found = candidates(session, config, 8, (), keep_batch=True)
    assert "data.num_workers" in found[0].settings
    assert "data.pipeline_depth" not in keys(found)  # the plan knows that it cannot help


def test_fix_begins_with_the_best_of_a_plan(known: Known) -> None:
    slow = known({"load": 30.0}, overlapping=False)
    planned = planned_from(slow.path)
    assert planned is not None and planned.expected is not None
    assert planned.settings["data.optimize_cpu_gpu_overlap"] is True and planned.expected > 1.3
    assert planned_from(known().path) is None


# -- the command ---------------------------------------------------------------------------------


def test_the_command_answers_one_question(known: Known, capsys) -> None:
    run = str(known().path.parent)
    assert main(["plan", run, "--model-faster", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (one,) = told["predictions"]
    assert one["ratio"]["low"] <= one["ratio"]["point"] <= one["ratio"]["high"]
    assert told["recorded"]["frames_per_second"] > 0
    for lang in ("en", "fa"):
        assert main(["plan", run, "--no-overlap", "--lang", lang]) == 0
    shown = capsys.readouterr().out
    assert "useful frames/s" in shown and "فریم سودمند" in shown


def test_the_command_surveys_and_draws(known: Known, tmp_path: Path, capsys) -> None:
    run = str(known({"load": 30.0}, overlapping=False).path)
    for name in ("plan.svg", "plan.png"):
        assert main(["plan", run, "--plot", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 500
    shown = capsys.readouterr().out
    assert "optimize_cpu_gpu_overlap: true" in shown and "myxtts fix" in shown
    assert main(["plan", run, "--plot", "plan.txt"]) == 2


def test_what_the_command_cannot_know_ends_with_3(known: Known, tmp_path: Path, capsys) -> None:
    run = str(known().path)
    assert main(["plan", run, "--batch-size", "32"]) == 3
    assert "myxtts profile" in capsys.readouterr().out
    assert main(["plan", str(tmp_path / "none")]) == 2
    assert main(["plan", str(known(steps=5).path)]) == 3
