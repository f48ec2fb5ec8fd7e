"""Real runs of the whole line, small: the numbers do not depend on the pipeline."""

from pathlib import Path

import numpy as np
import pytest

from myxtts import devices
from myxtts.config import Config
from myxtts.errors import UsageError, UserError
from myxtts.telemetry import session
from myxtts.training import checkpoint, trainer
from myxtts.training.feeder import Feeder
from myxtts.training.run import train
from myxtts.training.trainer import Trainer

from .conftest import TINY


def losses(config, **settings) -> list[float]:
    return [step.loss for step in session.load(train(config, **settings)).steps]


def test_losses_are_bit_equal_in_every_pipeline(tiny_run):
    alone = losses(tiny_run({"data.optimize_cpu_gpu_overlap": False}))
    assert len(alone) == 20 and len(set(alone)) == 20
    assert losses(tiny_run()) == alone
    for depth, adaptive in ((1, False), (3, False), (2, True)):
        told = {"data.pipeline_depth": depth, "data.adaptive_depth": adaptive}
        assert losses(tiny_run(told, dual=True)) == alone


OFF = {"data.optimize_cpu_gpu_overlap": False}
PIPELINES = {
    f"depth {depth}": {"data.pipeline_depth": depth, "data.adaptive_depth": False}
    for depth in (1, 3, 8)
} | {"adaptive": {"data.pipeline_depth": 1, "data.adaptive_depth": True}}
"""Every pipeline that must not show in the numbers; one that is missing here is not proved."""
STEPS = 200
REPLICA_TOLERANCE = 1e-2
"""Relative, of a loss in 200 steps. One run measured 2.7e-3, above 1e-3 in 10 steps from 121 on;
the first steps are held to 1e-4 in test_replicas."""


@pytest.fixture(scope="module")
def without_pipeline(small_corpus, tmp_path_factory):
    """The losses of 200 steps on one device, one thing after the other."""
    folder = tmp_path_factory.mktemp("alone") / "run"
    told = {"data.train_data": str(small_corpus), "training.output_dir": str(folder)}
    alone = losses(Config().replaced(TINY | told | OFF | {"training.max_steps": STEPS}))
    assert len(alone) == STEPS and len(set(alone)) == STEPS
    return alone


@pytest.mark.long
@pytest.mark.parametrize("dual", [False, True], ids=["one", "dual"])
@pytest.mark.parametrize("settings", [OFF, *PIPELINES.values()], ids=["off", *PIPELINES])
def test_two_hundred_losses_are_bit_equal(tiny_run, without_pipeline, settings, dual):
    assert losses(tiny_run(settings, steps=STEPS, dual=dual)) == without_pipeline


@pytest.mark.long
def test_two_hundred_losses_of_replicas_are_close(tiny_run, without_pipeline):
    replicas = {"data.virtual_gpus": 2, "data.device_plan": "replicas"}
    close = pytest.approx(without_pipeline, rel=REPLICA_TOLERANCE)
    assert losses(tiny_run(replicas, steps=STEPS)) == close


@pytest.mark.long
def test_losses_of_live_features_are_bit_equal_in_every_pipeline(tiny_run):
    live = {
        "data.features": "live",
        "data.augment_gain_db": 3.0,
        "data.augment_noise_snr_db": 20.0,
        "data.augment_time_mask": 20,
        "data.augment_frequency_mask": 8,
    }
    alone = session.load(train(tiny_run(live | {"data.optimize_cpu_gpu_overlap": False}, steps=8)))
    overlapping = session.load(train(tiny_run(live, steps=8)))
    expected = [step.loss for step in alone.steps]
    assert len(expected) == 8 and len(set(expected)) == 8
    assert [step.loss for step in overlapping.steps] == expected
    assert losses(tiny_run(live, steps=8, dual=True)) == expected
    # One after the other, nothing ever waits ready; with threads of its own, something does.
    assert not any(sum(step.rings.values()) for step in alone.steps)
    assert any(sum(step.rings.values()) for step in overlapping.steps)


@pytest.mark.long
def test_losses_with_a_refiner_are_bit_equal_in_every_pipeline(tiny_run):
    small = {"model.size": "small", "model.refiner_blocks": 1}
    alone = losses(tiny_run(small | {"data.optimize_cpu_gpu_overlap": False}, steps=8))
    assert len(alone) == 8 and len(set(alone)) == 8
    assert losses(tiny_run(small, steps=8)) == alone
    assert losses(tiny_run(small, steps=8, dual=True)) == alone


def test_validation_is_not_augmented(tiny_run, small_corpus):
    """With weights from the same seed, two settings of augmentation validate alike."""
    measured = []
    for gain in (0.0, 20.0):
        live = {
            "data.features": "live",
            "data.augment_gain_db": gain,
            "data.val_data": str(small_corpus),
        }
        config = tiny_run(live)
        measured.append(Trainer(config, devices.place(config.data)).validate())
    assert measured[0] == measured[1]


def test_every_second_is_accounted_for_and_nothing_compiles_after_warm_up(tiny_run):
    run = session.load(train(tiny_run(dual=True)))
    assert run.complete
    assert sum(run.accounts.values()) == pytest.approx(run.end["wall"], rel=1e-3)
    assert not any(step.compiled for step in run.steps)
    assert run.end["compilations"] == len(run.header["buckets"]) + 1  # and one update for all
    assert run.header["plan"]["kind"] == "dual"
    assert {"load", "upload", "preprocess", "transfer"} <= set(run.steps[-1].stages)


def test_the_loss_falls(tiny_run):
    curve = losses(tiny_run(steps=60))
    assert np.mean(curve[-10:]) < 0.9 * np.mean(curve[:10])


def test_an_interrupted_run_goes_on_where_it_was(tiny_run, stop_after):
    whole = tiny_run(steps=12)
    expected = losses(whole)
    cut = tiny_run(steps=12)
    with pytest.raises(KeyboardInterrupt):
        train(cut, stop_after(7))
    first = session.load(_folder(cut))
    assert first.end["reason"] == "interrupted"
    second = session.load(train(cut, resume=True))
    seen = [step.loss for step in first.steps] + [step.loss for step in second.steps]
    assert seen == expected
    assert (_folder(cut) / "run.1.jsonl").exists()


def test_a_folder_with_a_run_is_not_overwritten(tiny_run):
    config = tiny_run(steps=2)
    train(config)
    with pytest.raises(UsageError, match="already holds a run"):
        train(config)


def test_resuming_without_a_checkpoint_is_refused(tiny_run):
    with pytest.raises(UsageError, match="no checkpoint"):
        train(tiny_run(), resume=True)


def test_a_checkpoint_of_another_model_is_refused(tiny_run):
    config = tiny_run(steps=2)
    train(config)
    with pytest.raises(UserError, match="does not fit the configured model"):
        train(config.replaced({"model.width": 32}), resume=True)


def test_validation_happens_and_is_accounted(tiny_run, small_corpus):
    config = tiny_run(
        {"data.val_data": str(small_corpus), "training.validation_interval": 4}, steps=8
    )
    run = session.load(train(config))
    assert [event["step"] for event in run.of_kind("validation")] == [4, 8]
    assert run.accounts["validating"] > 0


def test_old_checkpoints_go_and_new_ones_stay(tiny_run):
    config = tiny_run({"training.checkpoint_interval": 2, "training.keep_checkpoints": 2}, steps=8)
    folder = train(config)
    kept = [path.name for path in checkpoint.list_checkpoints(folder / "checkpoints")]
    assert kept == ["step-00000006", "step-00000008"]


@pytest.mark.parametrize(
    ("overrides", "stages"),
    [
        ({"data.prefetch_to_gpu": False}, ["load", "upload", "preprocess", "transfer"]),
        ({"data.enhanced_gpu_prefetch": True}, ["load", "upload", "preprocess", "transfer"]),
    ],
)
def test_ways_of_uploading_change_the_rings_and_not_the_numbers(tiny_run, overrides, stages):
    plain = session.load(train(tiny_run(dual=True, steps=6)))
    other = session.load(train(tiny_run(overrides, dual=True, steps=6)))
    assert [step.loss for step in other.steps] == [step.loss for step in plain.steps]
    assert list(other.steps[0].stages) == stages
    expected = {"host", "ready"} | (
        {"uploaded"} if "data.enhanced_gpu_prefetch" in overrides else set()
    )
    assert set(other.steps[0].rings) == expected


def test_the_feeder_is_told_how_much_and_how_long(tiny_run, monkeypatch):
    told = {}

    class Recording(Feeder):
        def __init__(self, steps, lanes, *, on_depth, **settings):
            told.update(settings)
            super().__init__(steps, lanes, on_depth=on_depth, **settings)

        def wait_until_warm(self, seconds):
            told["delay"] = seconds
            return super().wait_until_warm(seconds)

    monkeypatch.setattr(trainer, "Feeder", Recording)
    settings = {
        "data.pipeline_buffer_size": 2,
        "data.prefetch_buffer_size": 8,
        "data.model_start_delay": 0.25,
        "data.pipeline_memory": 7,
        "data.stage_timeout": 60.0,
    }
    run = session.load(train(tiny_run(settings, steps=6)))
    assert told == {
        "synchronous": False,
        "in_flight": 2,
        "in_flight_bytes": 7 * 2**20,
        "stage_timeout": 60.0,
        "delay": 0.25,
    }
    assert max(sum(step.rings.values()) for step in run.steps) <= 2


@pytest.mark.long
def test_xla_is_measured_and_pinned(tiny_run):
    config = tiny_run({"data.enable_xla": "auto", "data.max_buckets": 1}, steps=3)
    run = session.load(train(config))
    trial = run.header["xla_trial"]
    assert run.header["xla"] == (trial["xla"] < trial["graph"])
    saved = checkpoint.load(_folder(config))
    assert saved.info["xla"] == run.header["xla"]


def test_bfloat16_trains_too(tiny_run):
    run = session.load(train(tiny_run({"data.mixed_precision": True}, steps=4)))
    assert run.header["precision"] == "mixed_bfloat16"
    assert np.isfinite([step.loss for step in run.steps]).all()


@pytest.mark.long
def test_dynamic_shapes_compile_inside_training(tiny_run):
    run = session.load(train(tiny_run({"data.pad_to_fixed_length": False}, steps=6)))
    assert any(step.compiled for step in run.steps)
    assert run.accounts["compiling"] > 0


def _folder(config) -> Path:
    return Path(config.training.output_dir)
