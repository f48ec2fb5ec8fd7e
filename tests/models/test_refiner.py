from __future__ import annotations

from random import Random

import numpy as np
import pytest
import tensorflow as tf

from myxtts.models import noise
from myxtts.models.refiner import LATEST, Guide, Refiner

ROWS, FRAMES, MELS, WIDTH = 2, 12, 8, 16
LENGTHS = np.array([12, 7], np.int32)  # the second ends in half a position


def normal(*shape: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def mask(frames: int = FRAMES) -> np.ndarray:
    return (np.arange(frames) < LENGTHS[:, None]).astype(np.float32)[:, :, None]


def new() -> Refiner:
    return Refiner("refiner", MELS, 2, 24, WIDTH, 3, 2, Random(0))


@pytest.fixture(scope="module")
def refiner() -> Refiner:
    """With every variable moved away from its start."""
    refiner = new()
    random = np.random.default_rng(0)
    for variable in refiner.trainable_variables:
        variable.assign(variable + random.normal(size=variable.shape) * 0.1)
    return refiner


TARGET = normal(ROWS, FRAMES, MELS, seed=1) * mask()
TOLD = {
    "coarse": TARGET + normal(ROWS, FRAMES, MELS, seed=2) * 0.3 * mask(),
    "features": normal(ROWS, FRAMES // 2, WIDTH, seed=3) * mask()[:, ::2],
    "mask": mask(),
    "voice": normal(ROWS, WIDTH, seed=4),
}
"""What a refiner is told about two clips."""

SEEDS = np.array([3, 4], np.int32)


def guide(told: dict[str, np.ndarray] = TOLD) -> Guide:
    return Guide(**{name: tf.constant(array) for name, array in told.items()})


def error(
    refiner: Refiner,
    seeds: np.ndarray = SEEDS,
    target: np.ndarray = TARGET,
    told: dict[str, np.ndarray] = TOLD,
) -> np.ndarray:
    return refiner.error(tf.constant(target), guide(told), tf.constant(seeds)).numpy()


def refined(refiner: Refiner, steps: int = 6, told: dict[str, np.ndarray] = TOLD) -> np.ndarray:
    return refiner.refine(guide(told), steps).numpy()


def test_a_new_refiner_says_the_coarse_mel() -> None:
    np.testing.assert_allclose(refined(new()), TOLD["coarse"], atol=1e-5)


def test_the_error_is_the_velocitys() -> None:
    start = noise.normal(tf.constant(SEEDS), FRAMES, MELS) * mask()
    time = LATEST * noise.uniform(tf.constant(SEEDS))[:, None, None]
    state = (1 - time) * start + time * TARGET
    found = (TOLD["coarse"] - state) / (1 - time)  # a new refiner walks towards the coarse mel
    expected = np.abs(found - (TARGET - start)).mean(axis=-1)
    np.testing.assert_allclose(error(new()), expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("steps", [1, 4, 10])
def test_who_knows_the_end_walks_straight_to_it(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    walker, way = new(), []

    def known(state: tf.Tensor, time: tf.Tensor, *told: tf.Tensor) -> tf.Tensor:
        way.append((float(time[0]), state.numpy()))
        return TARGET

    monkeypatch.setattr(walker, "_clean", known)
    np.testing.assert_allclose(refined(walker, steps), TARGET, atol=1e-5)
    np.testing.assert_allclose([time for time, _ in way], np.arange(steps) / steps, atol=1e-6)
    for time, state in way:
        np.testing.assert_allclose(state, time * TARGET, atol=1e-5)


def test_the_seed_decides_noise_and_time(refiner: Refiner) -> None:
    np.testing.assert_array_equal(error(refiner), error(refiner))
    assert np.abs(error(refiner, SEEDS[::-1].copy()) - error(refiner)).max() > 0.01


def test_a_walk_is_the_same_every_time_and_its_steps_matter(refiner: Refiner) -> None:
    np.testing.assert_array_equal(refined(refiner), refined(refiner))
    assert np.abs(refined(refiner, 4) - refined(refiner, 10)).max() > 1e-3


def test_padding_neither_leaks_in_nor_appears(refiner: Refiner) -> None:
    def longer(array: np.ndarray, more: int) -> np.ndarray:
        return np.pad(array, [(0, 0), (0, more), (0, 0)])

    told = TOLD | {"coarse": longer(TOLD["coarse"], 8), "features": longer(TOLD["features"], 4)}
    told["mask"] = mask(FRAMES + 8)
    found = refined(refiner, told=told)
    np.testing.assert_allclose(found[:, :FRAMES], refined(refiner), atol=1e-5)
    errors = error(refiner, target=longer(TARGET, 8), told=told)
    np.testing.assert_allclose(errors[:, :FRAMES], error(refiner), rtol=1e-4, atol=1e-6)
    for row, length in enumerate(LENGTHS):
        assert not found[row, length:].any() and not errors[row, length:].any()


def test_rows_know_nothing_of_each_other(refiner: Refiner) -> None:
    alone = refined(refiner, told={name: array[1:] for name, array in TOLD.items()})
    np.testing.assert_allclose(alone[0], refined(refiner)[1], atol=1e-5)


def test_it_teaches_the_voice_and_nobody_else_upstream(refiner: Refiner) -> None:
    told = guide()
    upstream = [told.coarse, told.features, told.voice]
    with tf.GradientTape() as tape:
        tape.watch(upstream)
        loss = tf.reduce_sum(refiner.error(tf.constant(TARGET), told, tf.constant(SEEDS)))
    of_coarse, of_features, of_voice = tape.gradient(loss, upstream)
    assert of_coarse is None and of_features is None
    assert np.abs(of_voice).max() > 0


@pytest.mark.parametrize("name", ["coarse", "features", "voice"])
def test_everything_it_is_told_matters(refiner: Refiner, name: str) -> None:
    other = refined(refiner, told=TOLD | {name: TOLD[name] + 0.5})
    assert np.abs(other - refined(refiner)).max() > 1e-3
