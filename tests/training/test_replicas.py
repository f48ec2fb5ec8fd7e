"""Several devices, each with its share of every batch, compute what one device computes.

Only the order of additions differs, so numbers agree within `TOLERANCE` (relative), not bit by bit.
"""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from myxtts.config import Config
from myxtts.errors import UserError
from myxtts.models.xtts import counted
from myxtts.telemetry import session
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import assembly, transfer
from myxtts.training.fitting import cut
from myxtts.training.replicas import ReplicaStep, mirrored
from myxtts.training.run import train

TOLERANCE = 1e-4
"""Largest difference of a loss within the first 20 steps; it grows with them, as rounding does."""

REPLICAS = {"data.virtual_gpus": 2, "data.device_plan": "replicas"}
DEVICES = ("/CPU:0", "/CPU:1")


def step_on(replicas: tuple[str, ...] = (), policy: str = "float32", xla: bool = False, **training):
    config = Config().replaced(
        {
            "data.n_mels": 20,
            "model.width": 16,
            "model.encoder_blocks": 1,
            "model.decoder_blocks": 1,
            "training.warmup_steps": 0,
        }
        | {f"training.{key}": value for key, value in training.items()}
    )
    tokenizer = Tokenizer("characters")
    return assembly.make_step(config, tokenizer, 100, policy, "/CPU:0", lambda _: xla, replicas)


def uneven(batch: dict) -> dict:
    """Three rows, of which the middle one is a filler: nothing divides evenly."""
    rows = {name: tensor[:3] for name, tensor in batch.items()}
    return rows | {"weights": tf.constant([1.0, 0.0, 1.0])}


def largest_difference(one, other) -> float:
    pairs = zip(one, other, strict=True)
    return max(float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in pairs)


@pytest.mark.parametrize("devices", [2, 4])
def test_every_device_gets_a_share_of_any_batch(batch, devices):
    parts = cut(uneven(batch) | {"step": tf.constant(7)}, devices, exactly=True)
    weights = {2: [[1, 0], [1, 0]], 4: [[1], [0], [1], [0]]}[devices]
    assert [part["weights"].numpy().tolist() for part in parts] == weights
    assert (parts[-1]["tokens"].numpy() == batch["tokens"].numpy()[2]).all()
    whole = counted(uneven(batch))
    summed = [sum(float(getattr(counted(part), what)) for part in parts) for what in whole._fields]
    assert summed == [float(count) for count in whole]


@pytest.fixture(scope="module")
def pair():
    """The same step on one device and on two, with everything a step may have."""
    told = {"gradient_clip": 0.01, "ema_decay": 0.5, "gradient_accumulation": 2}
    return step_on(**told), step_on(DEVICES, **told)


def test_a_step_on_two_devices_is_a_step_on_one(batch, pair):
    one, two = pair
    assert isinstance(two, ReplicaStep)
    begun = [variable.numpy() for variable in one.model.trainable_variables]
    given = uneven(batch)
    for last in (False, True, False, True):
        assert two(given, update=last) == pytest.approx(one(given, update=last), rel=TOLERANCE)
    assert largest_difference(begun, one.model.trainable_variables) > 1e-3
    for of in (lambda step: step.model.trainable_variables, lambda s: s.judged.trainable_variables):
        assert largest_difference(of(one), of(two)) < 1e-5
    assert two.evaluate(given) == pytest.approx(one.evaluate(given), rel=TOLERANCE)
    assert two.optimizer.iterations.numpy() == one.optimizer.iterations.numpy() == 2


def test_weights_are_the_same_on_every_device(pair):
    step = pair[1]
    for variable in step.model.trainable_variables:
        copies = step.strategy.experimental_local_results(variable.value)
        assert [copy.device[-5:] for copy in copies] == ["CPU:0", "CPU:1"]
        assert (copies[0].numpy() == copies[1].numpy()).all()


def test_a_batch_of_fillers_is_worth_nothing(batch, pair):
    step = pair[1]
    nothing = step(uneven(batch) | {"weights": tf.zeros(3)}, update=False)
    assert nothing["total"] == 0
    assert all(np.isfinite(variable.numpy()).all() for variable in step.variables)


@pytest.mark.long
def test_averages_of_means_would_be_seen(batch, pair):
    """The tolerance is tight enough: shares weighed alike, whatever they hold, are far off."""
    one = pair[0]
    parts = [one.model.losses(part) for part in cut(uneven(batch), 2)]
    averaged = float(sum(part["total"] for part in parts)) / 2
    assert abs(averaged / one.evaluate(uneven(batch))["total"] - 1) > 10 * TOLERANCE


@pytest.mark.long
def test_xla_and_float16_are_divided_too(batch):
    compiled = step_on(DEVICES, xla=True)
    assert compiled(batch) == pytest.approx(step_on()(batch), rel=1e-3)
    assert compiled.compilations == 2
    compiled.compile(batch)
    assert compiled.compilations == 2
    half, alone = step_on(DEVICES, "mixed_float16"), step_on((), "mixed_float16")
    for _ in range(3):
        assert half(batch) == pytest.approx(alone(batch), rel=2e-2)


@pytest.mark.long
def test_a_batch_that_does_not_fit_is_done_in_parts(batch, monkeypatch):
    one, two = step_on(), step_on(DEVICES)

    def full(*_):
        raise tf.errors.ResourceExhaustedError(None, None, "no room")

    monkeypatch.setattr(two, "_gradients", full)
    given = uneven(batch)
    assert two(given) == pytest.approx(one(given), rel=TOLERANCE)
    trained = [step.model.trainable_variables for step in (one, two)]
    assert largest_difference(*trained) < 1e-5
    assert two.shortages[0].parts == 2


def test_devices_that_copy_wrong_are_refused(monkeypatch):
    monkeypatch.setattr(transfer, "direct", lambda tensor, target: tf.zeros_like(tensor))
    with pytest.raises(UserError, match="from /CPU:0 to /CPU:1 arrive changed") as refused:
        mirrored(DEVICES)
    assert refused.value.follows and "--plan dual" in refused.value.remedy


def losses(run: Path) -> list[float]:
    return [step.loss for step in session.load(run).steps]


@pytest.mark.long
def test_a_run_of_replicas_learns_as_one_device_does(tiny_run):
    one = losses(train(tiny_run({"data.device_plan": "one"}, steps=12)))
    run = session.load(train(tiny_run(REPLICAS, steps=12)))
    assert [step.loss for step in run.steps] == pytest.approx(one, rel=TOLERANCE)
    assert run.header["plan"]["kind"] == "replicas"
    assert run.header["plan"]["replicas"] == list(DEVICES)
    assert not any(step.compiled for step in run.steps)


@pytest.mark.long
@pytest.mark.parametrize("first", ["replicas", "one"])
def test_a_run_goes_on_under_another_plan(tiny_run, stop_after, first):
    """Averages, gathered gradients and the optimiser's state go over with the weights."""
    both = {"training.gradient_accumulation": 2, "training.ema_decay": 0.9}
    expected = losses(train(tiny_run(both, steps=12)))
    plans = {"replicas": REPLICAS, "one": {"data.virtual_gpus": 2, "data.device_plan": "one"}}
    second = "one" if first == "replicas" else "replicas"
    cut = tiny_run(plans[first] | both, steps=12)
    with pytest.raises(KeyboardInterrupt):
        train(cut, stop_after(7))
    begun = losses(Path(cut.training.output_dir))
    gone_on = session.load(train(cut.replaced(plans[second]), resume=True))
    assert gone_on.header["plan"]["kind"] == second
    seen = begun + [step.loss for step in gone_on.steps]
    assert seen == pytest.approx(expected, rel=TOLERANCE)
