from __future__ import annotations

from random import Random

import numpy as np
import pytest
import tensorflow as tf

from myxtts.models.attention import AttentionBlock, attend, heads, rotated
from myxtts.models.layers import FilmStack, sequence_mask


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def stack() -> FilmStack:
    """Two blocks with every variable moved away from its start."""
    stack = FilmStack("stack", 2, 8, 3, 3, Random(0), AttentionBlock)
    random = np.random.default_rng(0)
    for variable in stack.trainable_variables:
        variable.assign(variable + random.normal(size=variable.shape) * 0.3)
    return stack


@pytest.mark.parametrize(
    ("width", "expected"), [(640, 10), (256, 4), (200, 2), (96, 1), (32, 1), (18, 1)]
)
def test_heads_divide_the_width_into_pairs(width: int, expected: int) -> None:
    assert heads(width) == expected and width % (2 * expected) == 0


def test_an_odd_width_is_refused() -> None:
    with pytest.raises(ValueError, match=r"even width.*Received: 33"):
        heads(33)


def test_attention_is_the_softmax_of_products_over_those_present() -> None:
    queries, keys, values = normal(2, 3, 5, 4), normal(2, 3, 7, 4, seed=1), normal(2, 3, 7, 4)
    present = np.arange(7) < np.array([[7], [4]])
    found = attend(*(tf.constant(a) for a in (queries, keys, values)), tf.constant(present))
    for row in range(2):
        for head in range(3):
            here = present[row]
            scores = queries[row, head] @ keys[row, head, here].T
            shares = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
            mixed = shares @ values[row, head, here]
            np.testing.assert_allclose(
                found[row, :, head * 4 : head * 4 + 4], mixed, rtol=1e-5, atol=1e-6
            )


def test_scores_depend_on_the_distance_alone() -> None:
    query, key = normal(1, 1, 1, 8), normal(1, 1, 1, 8, seed=1)
    turned_queries = rotated(tf.repeat(query, 40, axis=2)).numpy()[0, 0]
    turned_keys = rotated(tf.repeat(key, 40, axis=2)).numpy()[0, 0]
    scores = turned_queries @ turned_keys.T
    for distance in (-7, 0, 7):
        diagonal = np.diagonal(scores, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-5)
    assert abs(scores[0, 7] - scores[0, 0]) > 0.01
    assert scores[0, 0] == pytest.approx(float((query * key).sum()) / 8**0.5, rel=1e-5)


def test_angles_are_exact_far_out_in_half_precision() -> None:
    far = rotated(tf.ones((1, 1, 4000, 8), tf.bfloat16))
    exact = rotated(tf.ones((1, 1, 4000, 8)))
    assert far.dtype == tf.bfloat16
    np.testing.assert_allclose(tf.cast(far, tf.float32), exact, atol=0.01)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_loud_scores_do_not_overflow(dtype: str) -> None:
    loud = tf.cast(tf.constant(normal(1, 1, 6, 64)) * 60, dtype)
    mixed = attend(rotated(loud), rotated(loud), loud, tf.constant([[True] * 6]))
    assert mixed.dtype == dtype and np.isfinite(tf.cast(mixed, "float32")).all()
    np.testing.assert_array_equal(mixed, loud[:, 0])  # each hears itself by far the best


def test_nobody_present_is_still_a_number() -> None:
    values = normal(1, 1, 5, 4)
    mixed = attend(*(tf.constant(values),) * 3, tf.constant([[False] * 5]))
    np.testing.assert_allclose(mixed[0, 0], values.mean(axis=2)[0, 0], rtol=1e-5)


def test_a_new_stack_returns_its_masked_input() -> None:
    new = FilmStack("stack", 2, 8, 3, 3, Random(0), AttentionBlock)
    mask = sequence_mask(tf.constant([7, 4]), 7)
    np.testing.assert_array_equal(
        new(normal(2, 7, 8), mask, np.ones((2, 3), np.float32)), normal(2, 7, 8) * mask
    )


def test_padding_neither_leaks_in_nor_appears() -> None:
    moved, x, voice = stack(), normal(1, 5, 8), normal(1, 3, seed=2)
    junk = np.concatenate([x, normal(1, 4, 8, seed=3)], axis=1)
    lengths = tf.constant([5])
    short = moved(x, sequence_mask(lengths, 5), voice).numpy()
    long = moved(junk, sequence_mask(lengths, 9), voice).numpy()
    np.testing.assert_allclose(long[:, :5], short, atol=1e-5)
    assert not long[:, 5:].any()


def test_every_position_hears_the_others_and_the_voice() -> None:
    moved, x, mask = stack(), normal(1, 30, 8), tf.ones((1, 30, 1))
    plain = moved(x, mask, tf.zeros((1, 3))).numpy()
    other = x.copy()
    other[0, -1] += normal(8, seed=4)
    assert np.abs(moved(other, mask, tf.zeros((1, 3))).numpy() - plain)[0, 0].max() > 1e-4
    assert np.abs(moved(x, mask, tf.ones((1, 3))).numpy() - plain).max() > 0.01
