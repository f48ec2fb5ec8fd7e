from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from myxtts.models import alignment
from myxtts.models.sizes import ModelSize
from myxtts.models.xtts import DURATION_WEIGHT, XTTS, counted

if TYPE_CHECKING:
    from .conftest import Speech

VOCABULARY, LANGUAGES, MELS = 8, 2, 8
STEPS = 100
PARTS = ("mel", "prior", "duration")

Batch = dict[str, np.ndarray]


def tensors(batch: Batch) -> dict[str, tf.Tensor]:
    return {key: tf.constant(value) for key, value in batch.items()}


def make(size: ModelSize, seed: int = 0) -> XTTS:
    return XTTS(size, VOCABULARY, LANGUAGES, MELS, seed=seed)


def train(model: XTTS, lessons: list[Speech], steps: int) -> list[dict[str, float]]:
    """Go through the lessons in turn; the losses before each update."""
    variables = model.trainable_variables
    optimizer = keras.optimizers.Adam(3e-3)
    optimizer.build(variables)

    # The update stays outside XLA: it would take as long to compile as all the rest.
    update = tf.function(lambda gradients: optimizer.apply(gradients, variables))

    @tf.function(jit_compile=True)
    def differentiate(batch: Batch) -> tuple[dict[str, tf.Tensor], list[tf.Tensor]]:
        with tf.GradientTape() as tape:
            losses = model.losses(batch)
        return losses, tape.gradient(losses["total"], variables)

    batches = [tensors(lesson.batch) for lesson in lessons]
    history = []
    for number in range(steps):
        losses, gradients = differentiate(batches[number % len(batches)])
        update(gradients)
        history.append({part: float(value) for part, value in losses.items()})
    assert differentiate.experimental_get_tracing_count() == 1
    return history


@pytest.fixture(scope="module")
def trained(size: ModelSize, lessons: list[Speech]) -> tuple[XTTS, list[dict[str, float]]]:
    model = make(size)
    return model, train(model, lessons, STEPS)


@pytest.fixture(scope="module")
def model(trained: tuple[XTTS, list[dict[str, float]]]) -> XTTS:
    """A model whose every path carries something; tests do not change it."""
    return trained[0]


def losses_of(model: XTTS, batch: Batch) -> dict[str, float]:
    return {part: float(value) for part, value in model.losses(tensors(batch)).items()}


def test_one_seed_is_one_model(size: ModelSize) -> None:
    first, again, other = make(size), make(size), make(size, seed=1)
    paths = [variable.path for variable in first.trainable_variables]
    assert paths == [variable.path for variable in again.trainable_variables]
    assert len(set(paths)) == len(paths)
    for one, same in zip(first.trainable_variables, again.trainable_variables, strict=True):
        np.testing.assert_array_equal(one, same)
    kernels = [v.numpy() for v in first.trainable_variables if v.numpy().any()]
    for one, different in zip(
        kernels, (v.numpy() for v in other.trainable_variables if v.numpy().any()), strict=True
    ):
        assert np.abs(one - different).max() > 1e-3
    for position, one in enumerate(kernels):  # no two variables share their draw
        assert not any(
            one.shape == two.shape and np.allclose(one, two) for two in kernels[:position]
        )


def test_it_learns_and_aligns_speech_it_never_heard(
    trained: tuple[XTTS, list[dict[str, float]]], speech: Speech
) -> None:
    model, history = trained
    assert all(np.isfinite(list(losses.values())).all() for losses in history)
    for part, factor in (("mel", 5), ("prior", 10), ("duration", 10), ("total", 5)):
        assert history[-1][part] < history[0][part] / factor, part
    found = model.alignment(speech.batch).numpy()
    spoken = speech.alignment >= 0
    assert (found[spoken] == speech.alignment[spoken]).mean() > 0.95
    assert (found[~spoken] == -1).all()


def test_training_reaches_every_variable(
    size: ModelSize, trained: tuple[XTTS, list[dict[str, float]]]
) -> None:
    before = make(size).trainable_variables
    for old, new in zip(before, trained[0].trainable_variables, strict=True):
        assert np.abs(old.numpy() - new.numpy()).max() > 0, new.path


def test_a_second_run_gives_the_same_losses_to_the_last_bit(
    size: ModelSize, trained: tuple[XTTS, list[dict[str, float]]], lessons: list[Speech]
) -> None:
    assert train(make(size), lessons, 20) == trained[1][:20]


def test_losses_are_means_over_real_frames_and_tokens(model: XTTS, speech: Speech) -> None:
    found = losses_of(model, speech.batch)
    batch, rows = speech.batch, slice(0, 3)
    voice = model.voice(batch["reference"], batch["reference_lengths"])
    reading = model._read(batch["tokens"], batch["token_lengths"], batch["language"], voice)
    index = model.alignment(batch)
    coarse = model._speak(reading, index, voice)
    prior, mel = coarse.prior.numpy()[rows], coarse.mel.numpy()[rows]
    index, target = index.numpy()[rows], batch["mels"][rows]
    real = index >= 0
    assert found["mel"] == pytest.approx(np.abs(target - mel)[real].mean(), rel=1e-4)
    assert found["prior"] == pytest.approx(0.5 * np.square(target - prior)[real].mean(), rel=1e-4)
    errors = [
        reading.log_durations.numpy()[row, token] - np.log((index[row] == token).sum())
        for row in range(3)
        for token in range(batch["token_lengths"][row])
    ]
    assert found["duration"] == pytest.approx(np.square(errors).mean(), rel=1e-3)
    total = found["mel"] + found["prior"] + DURATION_WEIGHT * found["duration"]
    assert found["total"] == pytest.approx(total, rel=1e-5)


def test_fillers_count_nothing(model: XTTS, speech: Speech) -> None:
    with_filler = losses_of(model, speech.batch)
    without = losses_of(model, {key: value[:3] for key, value in speech.batch.items()})
    assert with_filler == pytest.approx(without, rel=1e-5)
    # A filler may also be a real clip told to count nothing.
    weights = np.array([1, 0, 1, 0], np.float32)
    muted = losses_of(model, {**speech.batch, "weights": weights})
    chosen = losses_of(model, {key: value[[0, 2]] for key, value in speech.batch.items()})
    assert muted == pytest.approx(chosen, rel=1e-5)


def test_a_larger_bucket_changes_nothing(model: XTTS, speech: Speech) -> None:
    larger = dict(speech.batch)
    for key, more in (("tokens", 8), ("mels", 16), ("reference", 12)):
        padding = [(0, 0), (0, more)] + [(0, 0)] * (larger[key].ndim - 2)
        larger[key] = np.pad(larger[key], padding)
    assert losses_of(model, larger) == pytest.approx(losses_of(model, speech.batch), rel=1e-4)


def test_a_batch_of_fillers_gives_zero_and_no_gradient(size: ModelSize) -> None:
    model = make(size)
    empty = {
        "tokens": np.zeros((2, 6), np.int32),
        "mels": np.zeros((2, 8, MELS), np.float32),
        "reference": np.zeros((2, 8, MELS), np.float32),
        "weights": np.zeros(2, np.float32),
    }
    for key in ("token_lengths", "mel_lengths", "reference_lengths", "language", "noise_seeds"):
        empty[key] = np.zeros(2, np.int32)
    with tf.GradientTape() as tape:
        losses = model.losses(tensors(empty))
    gradients = tape.gradient(losses["total"], model.trainable_variables)
    assert all(float(value) == 0 for value in losses.values())
    assert all(not tf.convert_to_tensor(gradient).numpy().any() for gradient in gradients)


def test_durations_do_not_teach_the_text_encoder_or_the_voice(model: XTTS, speech: Speech) -> None:
    with tf.GradientTape() as tape:
        loss = model.losses(speech.batch)["duration"]
    upstream = [model.token_embedding, model.language_embedding, model.encoder, model.voice]
    variables = [variable for layer in upstream for variable in layer.trainable_variables]
    assert tape.gradient(loss, variables) == [None] * len(variables)


def test_every_shape_is_static(model: XTTS, speech: Speech) -> None:
    graph = tf.function(model.losses).get_concrete_function(tensors(speech.batch)).graph
    dynamic = [
        f"{output.name} {output.shape}"
        for operation in graph.get_operations()
        for output in operation.outputs
        if output.dtype not in (tf.variant, tf.resource) and not output.shape.is_fully_defined()
    ]
    assert dynamic == []


@pytest.fixture(scope="module")
def speak(model: XTTS, speech: Speech) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Jitted synthesis of the held-out texts; one program for every speed."""
    keys = ("tokens", "token_lengths", "language", "reference", "reference_lengths")
    inputs = [tf.constant(speech.batch[key]) for key in keys]

    @tf.function(jit_compile=True)
    def synthesize(speed: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return model.synthesize(*inputs, max_frames=96, speed=speed)

    def run(speed: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        mels, lengths = synthesize(tf.constant(speed))
        return mels.numpy(), lengths.numpy()

    return run


def test_it_speaks_at_the_pace_it_learned(
    speak: Callable[..., tuple[np.ndarray, np.ndarray]], speech: Speech
) -> None:
    mels, lengths = speak()
    assert mels.shape == (4, 96, MELS) and mels.dtype == np.float32
    wanted = speech.batch["mel_lengths"]
    assert np.abs(lengths[:3] - wanted[:3]).max() <= 3 and lengths[3] == 0
    for row, length in enumerate(lengths):
        assert not mels[row, length:].any()


def test_speed_divides_time_down_to_one_frame_a_token(
    speak: Callable[..., tuple[np.ndarray, np.ndarray]], speech: Speech
) -> None:
    normal, slow, fast = speak()[1], speak(0.5)[1], speak(1000.0)[1]
    np.testing.assert_array_equal(fast, speech.batch["token_lengths"])
    assert (fast[:3] < normal[:3]).all() and (normal[:3] < slow[:3]).all()
    assert (speak(0.001)[1][:3] == 96).all()  # cut at max_frames


def test_an_odd_max_frames_is_refused(model: XTTS, speech: Speech) -> None:
    keys = ("tokens", "token_lengths", "language", "reference", "reference_lengths")
    with pytest.raises(ValueError, match="multiple of 2"):
        model.synthesize(*(tf.constant(speech.batch[key]) for key in keys), max_frames=31)


@pytest.fixture
def mixed_precision() -> Iterator[None]:
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_bfloat16")
    yield
    keras.config.set_dtype_policy(before)


def test_mixed_precision_keeps_alignment_and_losses_in_float32(
    mixed_precision: None, model: XTTS, size: ModelSize, speech: Speech
) -> None:
    mixed = make(size)
    for variable, trained in zip(mixed.trainable_variables, model.trainable_variables, strict=True):
        assert variable.dtype == "float32"
        variable.assign(trained)
    batch = tensors(speech.batch)
    voice = mixed.voice(batch["reference"], batch["reference_lengths"])
    reading = mixed._read(batch["tokens"], batch["token_lengths"], batch["language"], voice)
    assert reading.hidden.dtype == tf.bfloat16
    assert reading.prior.dtype == reading.log_durations.dtype == tf.float32
    losses = mixed.losses(batch)
    assert all(value.dtype == tf.float32 for value in losses.values())
    exact = losses_of(model, speech.batch)
    for part in PARTS:
        assert float(losses[part]) == pytest.approx(exact[part], rel=0.15, abs=0.01), part
    assert (mixed.alignment(batch).numpy() == model.alignment(batch).numpy()).mean() > 0.98


def test_what_losses_are_means_over_follows_from_lengths_alone():
    """Also with fewer frames than tokens, with no frame at all, and with a filler row."""
    rows, tokens, frames = 4, 8, 10
    lengths = {"token_lengths": np.array([5, 8, 3, 7]), "mel_lengths": np.array([9, 4, 0, 10])}
    weights = np.array([1, 1, 1, 0], np.float32)
    likelihood = np.random.default_rng(0).normal(size=(rows, tokens, frames)).astype(np.float32)
    index = alignment.search(ops.convert_to_tensor(likelihood), *map(np.int32, lengths.values()))
    aligned = ops.convert_to_numpy(alignment.durations(index, tokens))
    found = counted(lengths | {"weights": weights})
    assert float(found.frames) == (aligned.sum(axis=1) * weights).sum() == 13
    assert float(found.tokens) == ((aligned > 0).sum(axis=1) * weights).sum() == 9
