"""The whole network as small, normal and big are built: attention, a Perceiver, a refiner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tensorflow as tf

from myxtts.models.sizes import ModelSize
from myxtts.models.xtts import DURATION_WEIGHT, XTTS

from .test_xtts import Batch, losses_of, make, tensors, train

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from .conftest import Speech

STEPS = 100
SPOKEN = ("tokens", "token_lengths", "language", "reference", "reference_lengths")


@pytest.fixture(scope="module")
def trained(attentive: ModelSize, lessons: list[Speech]) -> tuple[XTTS, list[dict[str, float]]]:
    model = make(attentive)
    return model, train(model, lessons, STEPS)


@pytest.fixture(scope="module")
def model(trained: tuple[XTTS, list[dict[str, float]]]) -> XTTS:
    """A model whose every path carries something; tests do not change it."""
    return trained[0]


def spoken(model: XTTS, batch: Batch, max_frames: int = 96, steps: int | None = None) -> np.ndarray:
    """The mels of a batch's texts; one program, because op by op it takes long."""
    inputs = [tf.constant(batch[key]) for key in SPOKEN]
    say = tf.function(model.synthesize)
    return say(*inputs, max_frames=max_frames, refine_steps=steps)[0].numpy()


@pytest.mark.long
def test_it_learns_and_aligns_speech_it_never_heard(
    trained: tuple[XTTS, list[dict[str, float]]], speech: Speech
) -> None:
    model, history = trained
    assert all(np.isfinite(list(losses.values())).all() for losses in history)
    for part, factor in (("mel", 4), ("prior", 10), ("duration", 5), ("flow", 2), ("total", 4)):
        assert history[-1][part] < history[0][part] / factor, part
    found = model.alignment(speech.batch).numpy()
    real = speech.alignment >= 0
    assert (found[real] == speech.alignment[real]).mean() > 0.9
    last = history[-1]
    total = last["mel"] + last["prior"] + last["flow"] + DURATION_WEIGHT * last["duration"]
    assert last["total"] == pytest.approx(total, rel=1e-5)


def test_training_reaches_every_variable(
    attentive: ModelSize, trained: tuple[XTTS, list[dict[str, float]]]
) -> None:
    before = make(attentive).trainable_variables
    for old, new in zip(before, trained[0].trainable_variables, strict=True):
        assert np.abs(old.numpy() - new.numpy()).max() > 0, new.path


@pytest.mark.long
def test_one_seed_is_one_model_and_one_history(
    attentive: ModelSize, trained: tuple[XTTS, list[dict[str, float]]], lessons: list[Speech]
) -> None:
    model = make(attentive)
    paths = [variable.path for variable in model.trainable_variables]
    assert len(set(paths)) == len(paths)
    assert train(model, lessons, 10) == trained[1][:10]


def test_fillers_count_nothing(model: XTTS, speech: Speech) -> None:
    with_filler = losses_of(model, speech.batch)
    without = losses_of(model, {key: value[:3] for key, value in speech.batch.items()})
    assert with_filler == pytest.approx(without, rel=1e-4)
    backwards = losses_of(model, {key: value[::-1] for key, value in speech.batch.items()})
    assert backwards == pytest.approx(with_filler, rel=1e-4)


def test_a_larger_bucket_changes_nothing(model: XTTS, speech: Speech) -> None:
    larger = dict(speech.batch)
    for key, more in (("tokens", 8), ("mels", 16), ("reference", 12)):
        padding = [(0, 0), (0, more)] + [(0, 0)] * (larger[key].ndim - 2)
        larger[key] = np.pad(larger[key], padding)
    assert losses_of(model, larger) == pytest.approx(losses_of(model, speech.batch), rel=1e-3)
    room = spoken(model, speech.batch, max_frames=128)
    np.testing.assert_allclose(room[:, :96], spoken(model, speech.batch), atol=1e-3)


def test_a_batch_of_fillers_gives_zero_and_no_gradient(
    attentive: ModelSize, speech: Speech
) -> None:
    model = make(attentive)
    empty = {key: np.zeros_like(value) for key, value in speech.batch.items()}
    with tf.GradientTape() as tape:
        losses = model.losses(tensors(empty))
    gradients = tape.gradient(losses["total"], model.trainable_variables)
    assert all(float(value) == 0 for value in losses.values())
    assert all(not tf.convert_to_tensor(gradient).numpy().any() for gradient in gradients)


def test_the_flow_teaches_neither_text_encoder_nor_decoder(model: XTTS, speech: Speech) -> None:
    with tf.GradientTape() as tape:
        loss = model.losses(tensors(speech.batch))["flow"]
    upstream = [model.token_embedding, model.encoder, model.timing, model.decoder]
    variables = [variable for layer in upstream for variable in layer.trainable_variables]
    voice = model.voice.trainable_variables
    gradients = tape.gradient(loss, [*variables, *voice])
    assert gradients[: len(variables)] == [None] * len(variables)
    assert all(gradient is not None for gradient in gradients[len(variables) :])


def test_other_seeds_are_another_flow_and_the_same_rest(model: XTTS, speech: Speech) -> None:
    other = {**speech.batch, "noise_seeds": speech.batch["noise_seeds"] + 1}
    first, second = losses_of(model, speech.batch), losses_of(model, other)
    assert first.pop("flow") != pytest.approx(second.pop("flow"), rel=1e-3)
    assert first.pop("total") != second.pop("total")
    assert first == second


def test_no_steps_leave_the_coarse_mel(model: XTTS, speech: Speech) -> None:
    coarse = spoken(model, speech.batch, steps=0)
    refined = spoken(model, speech.batch)
    np.testing.assert_array_equal(
        refined, spoken(model, speech.batch, steps=model.size.refiner_steps)
    )
    assert np.abs(refined - coarse).max() > 0.05
    assert ((coarse == 0).all(axis=-1) == (refined == 0).all(axis=-1)).all()
    # A refiner that has learned something stays near what it refines.
    real = (coarse != 0).any(axis=-1)
    assert np.square(refined - coarse)[real].mean() < 0.5 * np.square(coarse)[real].mean()


def test_a_clip_in_its_own_timing_lies_beside_its_mels(model: XTTS, speech: Speech) -> None:
    batch, real = tensors(speech.batch), speech.alignment >= 0
    coarse = model.reconstruct(batch, refine_steps=0).numpy()
    refined = model.reconstruct(batch).numpy()
    assert not coarse[~real].any() and not refined[~real].any()
    mean_error = np.abs(speech.batch["mels"] - coarse)[real].mean()
    assert mean_error == pytest.approx(losses_of(model, speech.batch)["mel"], rel=1e-4)
    assert np.abs(refined - coarse)[real].max() > 0.05


def test_every_shape_is_static(model: XTTS, speech: Speech) -> None:
    graph = tf.function(model.losses).get_concrete_function(tensors(speech.batch)).graph
    dynamic = [
        f"{output.name} {output.shape}"
        for operation in graph.get_operations()
        for output in operation.outputs
        if output.dtype not in (tf.variant, tf.resource) and not output.shape.is_fully_defined()
    ]
    assert dynamic == []
