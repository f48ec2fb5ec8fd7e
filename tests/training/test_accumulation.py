"""Gradients of several batches make one update, as if they were one batch."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from myxtts.config import Config
from myxtts.telemetry import session
from myxtts.training import checkpoint
from myxtts.training.accumulation import useful_frames
from myxtts.training.run import train
from myxtts.training.step import make_optimizer


def halves(batch):
    """Rows 0 and 1, and row 2, each a batch of its own."""
    return [
        {name: tensor[rows] for name, tensor in batch.items()} for rows in (slice(2), slice(2, 3))
    ]


def gradients(step, batch):
    return [np.asarray(tf.convert_to_tensor(g)) for g in step._losses_and_gradients(batch)[1]]


def test_gathered_gradients_are_those_of_the_union(make_step, batch):
    step = make_step(overrides={"training.gradient_accumulation": 2})
    union = {name: tensor[:3] for name, tensor in batch.items()}
    parts = halves(batch)
    for part in parts:
        step.accumulator.add(gradients(step, part), useful_frames(part))
    gathered = [np.asarray(g) for g in step.accumulator.take()]
    frames = np.array([float(useful_frames(part)) for part in parts])
    by_part = [gradients(step, part) for part in parts]

    exact, plain_differs = 0, False
    for variable, found, whole, *of in zip(
        step.model.trainable_variables, gathered, gradients(step, union), *by_part, strict=True
    ):
        weighted = sum(share * part for share, part in zip(frames / frames.sum(), of, strict=True))
        np.testing.assert_allclose(found, weighted, rtol=1e-4, atol=1e-7)
        if "timing" in variable.path or "duration" in variable.path:
            continue  # a mean over tokens: weighted by frames all the same
        np.testing.assert_allclose(found, whole, rtol=1e-3, atol=2e-6)
        exact += 1
        plain_differs |= not np.allclose((of[0] + of[1]) / 2, whole, rtol=1e-2, atol=1e-5)
    assert exact > 10 and plain_differs
    assert all(not np.asarray(variable).any() for variable in step.accumulator.variables)


def test_nothing_changes_until_the_update(make_step, batch):
    step = make_step(overrides={"training.gradient_accumulation": 2})
    weights = step.model.trainable_variables
    before = [weight.numpy() for weight in weights]
    step(batch, update=False)
    assert all((weight.numpy() == old).all() for weight, old in zip(weights, before, strict=True))
    step(batch, update=True)
    assert any((weight.numpy() != old).any() for weight, old in zip(weights, before, strict=True))


def test_the_learning_rate_counts_updates():
    told = {"training.gradient_accumulation": 4, "training.warmup_steps": 5}
    rate = make_optimizer(Config().replaced(told), 100)._learning_rate
    peak = Config().training.learning_rate
    assert float(rate(4)) == pytest.approx(peak)  # after five updates, which are twenty batches
    assert float(rate(25)) == pytest.approx(0.05 * peak)


def test_a_run_updates_every_n_batches_and_after_the_last(tiny_run):
    config = tiny_run({"training.gradient_accumulation": 3}, steps=7)
    run = session.load(train(config))
    assert len(run.steps) == 7
    assert checkpoint.load(Path(config.training.output_dir)).arrays["optimizer"][0] == 3
    assert run.end["compilations"] == len(run.header["buckets"]) + 2  # adding up, and the update
    assert not any(step.compiled for step in run.steps)


@pytest.mark.long
def test_everything_at_once_goes_on_exactly_where_it_was(tiny_run, small_corpus, stop_after):
    """Float16, averaged weights, and a stop between two updates."""
    told = {
        "data.mixed_precision": "float16",
        "training.gradient_accumulation": 3,
        "training.ema_decay": 0.9,
        "training.validation_share": 0.2,
        "training.validation_interval": 4,
    }
    whole, cut = tiny_run(told, steps=12), tiny_run(told, steps=12)
    expected = session.load(train(whole))
    with pytest.raises(KeyboardInterrupt):
        train(cut, stop_after(7))
    first = session.load(Path(cut.training.output_dir))
    second = session.load(train(cut, resume=True))
    seen = [step.loss for step in (*first.steps, *second.steps)]
    assert seen == [step.loss for step in expected.steps]
    validations = [event["loss"] for run in (first, second) for event in run.of_kind("validation")]
    assert validations == [event["loss"] for event in expected.of_kind("validation")]
    ends = [checkpoint.load(Path(config.training.output_dir)) for config in (whole, cut)]
    assert set(ends[0].arrays) == {
        "model", "optimizer", "references", "ema", "loss_scale", "accumulated"
    }  # fmt: skip
    for group, arrays in ends[0].arrays.items():
        for one, other in zip(arrays, ends[1].arrays[group], strict=True):
            np.testing.assert_array_equal(one, other)
    assert ends[0].info["best"] == ends[1].info["best"]
