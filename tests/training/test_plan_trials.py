"""`--plan auto`: which plans are tried, which one is taken, and what is said."""

from pathlib import Path

import pytest

from myxtts.config import Config
from myxtts.errors import MeasurementError, UsageError, UserError
from myxtts.telemetry import session
from myxtts.training import plan_trials
from myxtts.training.plan_trials import candidates, fastest, settled
from myxtts.training.run import train

from .conftest import Listening


@pytest.fixture
def auto(tmp_path):
    def configure(**data: object) -> Config:
        told = {"device_plan": "auto", "virtual_gpus": 2} | data
        return Config().replaced(
            {f"data.{key}": value for key, value in told.items()}
            | {"training.output_dir": str(tmp_path / "run")}
        )

    return configure


def test_a_named_plan_is_taken_as_it_is(tmp_path):
    told = Config().replaced({"data.device_plan": "one"})
    assert settled(told, Listening(), resume=False) == (told, {})


def test_two_gpus_allow_three_plans(auto):
    plans = candidates(auto(), 2)
    told = {kind: config.data for kind, config in plans.items()}
    assert list(told) == ["one", "dual", "replicas"]
    assert [data.device_plan for data in told.values()] == list(told)
    assert (told["one"].data_gpu, told["dual"].data_gpu, told["dual"].model_gpu) == (None, 0, 1)
    assert told["replicas"].data_gpu is None
    assert list(candidates(auto(), 1)) == ["one"]


def test_named_gpus_and_limits_are_kept_where_they_mean_something(auto):
    isolated = auto(
        virtual_gpus=4, data_gpu=3, model_gpu=1, enable_memory_isolation=True, data_gpu_memory=4096
    )
    told = {kind: config.data for kind, config in candidates(isolated, 4).items()}
    assert (told["dual"].data_gpu, told["dual"].data_gpu_memory) == (3, 4096)
    assert (told["replicas"].data_gpu, told["replicas"].model_gpu) == (3, 1)
    assert not told["replicas"].enable_memory_isolation
    assert told["one"].data_gpu is None and told["one"].data_gpu_memory is None


@pytest.mark.parametrize(
    ("rates", "best"),
    [
        ({"one": 100.0, "dual": 150.0, "replicas": 190.0}, "replicas"),
        ({"one": 100.0, "dual": 150.0, "replicas": 120.0}, "dual"),
        ({"one": 100.0, "dual": 102.0, "replicas": 101.0}, "one"),
        ({"one": 100.0, "dual": 187.0, "replicas": 190.0}, "dual"),
        ({"one": None, "dual": 20.0, "replicas": None}, "dual"),
    ],
    ids=[
        "replicas",
        "dual",
        "too close for a second GPU",
        "too close for replicas",
        "only one ran",
    ],
)
def test_more_devices_must_be_clearly_faster(rates, best):
    assert fastest(rates) == best


def test_the_figures_are_said_and_kept_and_a_plan_that_dies_is_left_out(auto):
    def measure(config: Config, kind: str) -> float:
        if kind == "replicas":
            raise MeasurementError("The trial of plan replicas died before its end")
        return {"one": 1200.0, "dual": 2600.4}[kind]

    display = Listening()
    config, rates = settled(auto(), display, resume=False, measure=measure)
    assert config.data.device_plan == "dual" and config.data.model_gpu == 1
    assert rates == {"one": 1200.0, "dual": 2600.4, "replicas": None}
    assert display.said[-1] == (
        "plan auto: one 1,200 useful frames/s, dual 2,600 useful frames/s, replicas failed: dual"
    )
    assert "plan auto: replicas does not run here: The trial of plan replicas died" in (
        " ".join(display.said)
    )


def test_when_no_plan_runs_the_first_reason_is_the_error(auto):
    def measure(config: Config, kind: str) -> float:
        raise UserError(f"{kind} has no corpus")

    with pytest.raises(UserError, match="one has no corpus"):
        settled(auto(), Listening(), resume=False, measure=measure)


def test_one_device_needs_no_trial(auto):
    display = Listening()
    config, rates = settled(auto(virtual_gpus=1), display, resume=False, measure=None)
    assert (config.data.device_plan, rates) == ("one", {})
    assert display.said == ["plan auto: one, the only plan with 1 GPU"]


def test_a_run_that_would_be_refused_is_refused_before_the_trials(auto):
    config = auto()
    Path(config.training.output_dir).mkdir()
    (Path(config.training.output_dir) / "run.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match="already holds a run"):
        settled(config, Listening(), resume=False, measure=None)


@pytest.mark.long
def test_a_real_trial_of_each_plan_decides_a_real_run(tiny_run, monkeypatch):
    monkeypatch.setattr(plan_trials, "TRIAL_STEPS", 4)
    display = Listening()
    told = tiny_run({"data.device_plan": "auto", "data.virtual_gpus": 2}, steps=4)
    run = session.load(train(told, display))
    rates = run.header["plan"]["trials"]
    assert list(rates) == ["one", "dual", "replicas"] and all(rates.values()), display.said
    assert run.header["plan"]["kind"] == fastest(rates)
    assert run.header["config"]["data"]["device_plan"] == fastest(rates)
