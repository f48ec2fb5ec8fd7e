"""16-bit arithmetic: which one a device gets, and that float16's gradients are the right ones."""

from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf

from myxtts.config import Config
from myxtts.telemetry import session
from myxtts.training import checkpoint, precision, step
from myxtts.training.run import train


@pytest.mark.parametrize(
    ("wanted", "device", "capability", "policy"),
    [
        ("auto", "/CPU:0", None, "float32"),
        ("auto", "/GPU:1", (7, 5), "float32"),
        ("auto", "/GPU:1", (8, 9), "mixed_bfloat16"),
        (True, "/CPU:0", None, "mixed_bfloat16"),
        (True, "/GPU:1", (7, 5), "mixed_float16"),
        (True, "/GPU:1", (8, 0), "mixed_bfloat16"),
        (False, "/GPU:1", (8, 9), "float32"),
        ("float16", "/GPU:1", (8, 9), "mixed_float16"),
        ("bfloat16", "/CPU:0", None, "mixed_bfloat16"),
    ],
)
def test_each_device_gets_the_precision_it_is_good_at(
    wanted, device, capability, policy, monkeypatch
):
    gpus = [SimpleNamespace(capability=(1, 0)), SimpleNamespace(capability=capability)]
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind: gpus)
    monkeypatch.setattr(
        tf.config.experimental,
        "get_device_details",
        lambda gpu: {"compute_capability": gpu.capability},
    )
    config = Config().replaced({"data.mixed_precision": wanted})
    assert precision.policy(config, device) == policy


def gradients(step, batch) -> np.ndarray:
    """All gradients of a batch as one vector, as they would reach the clipping."""
    _, found = step._losses_and_gradients(batch)
    scale = precision.loss_scale(step.optimizer) or 1.0
    return np.concatenate([np.asarray(tf.convert_to_tensor(g)).ravel() for g in found]) / scale


def test_gradients_of_float16_point_where_those_of_float32_do(make_step, batch):
    exact, half = gradients(make_step(), batch), gradients(make_step("mixed_float16"), batch)
    cosine = exact @ half / (np.linalg.norm(exact) * np.linalg.norm(half))
    assert cosine > 0.999
    assert np.linalg.norm(half) == pytest.approx(np.linalg.norm(exact), rel=0.02)


def test_an_overflow_skips_the_update_and_halves_the_scale(make_step, batch):
    half = make_step("mixed_float16")
    before = [variable.numpy() for variable in half.model.trainable_variables]
    half.optimizer.dynamic_scale.assign(2.0**60)
    losses = half(batch)
    assert np.isfinite(losses["total"])  # the scale reaches the gradients only
    for variable, value in zip(half.model.trainable_variables, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), value)
    assert precision.loss_scale(half.optimizer) == 2.0**59
    assert int(half.optimizer.iterations) == 0

    half.optimizer.dynamic_scale.assign(2.0**10)
    half(batch)
    assert precision.loss_scale(half.optimizer) == 2.0**10
    assert int(half.optimizer.iterations) == 1


def test_the_clip_norm_means_the_gradient_without_its_scale(make_step, batch):
    """AdamW's first momentum is (1 - beta_1) times the gradient that it was given."""
    half = make_step("mixed_float16", {"training.gradient_clip": 0.01})
    assert np.linalg.norm(gradients(half, batch)) > 0.1
    half(batch)
    adam = precision.inner(half.optimizer)
    momentum = np.concatenate([np.ravel(slot) for slot in adam._momentums])
    assert np.linalg.norm(momentum) / (1 - adam.beta_1) == pytest.approx(0.01, rel=0.01)


def test_a_float16_run_survives_overflows_and_records_them(tiny_run, monkeypatch):
    def far_too_large(optimizer, dtype_policy):
        assert dtype_policy == "mixed_float16"
        return keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=2.0**32)

    monkeypatch.setattr(step, "with_loss_scale", far_too_large)
    config = tiny_run({"data.mixed_precision": "float16", "training.report_interval": 5}, steps=25)
    run = session.load(train(config))
    skipped = [event["loss_scale"] for event in run.of_kind("overflow")]
    assert skipped and skipped == [2.0 ** (31 - k) for k in range(len(skipped))]
    assert run.header["precision"] == "mixed_float16"
    assert list(run.of_kind("report"))[-1]["loss_scale"] == skipped[-1]
    kept = checkpoint.load(run.path.parent).arrays
    assert kept["loss_scale"][-1] == skipped[-1]
    assert kept["optimizer"][0] == 25 - len(skipped)  # updates that were made
