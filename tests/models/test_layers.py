from __future__ import annotations

from random import Random

import numpy as np
import pytest
import tensorflow as tf

from myxtts.models.layers import FilmStack, sequence_mask, stack_frames, unstack_frames


@pytest.fixture
def stack() -> FilmStack:
    """Two blocks with every variable moved away from its start."""
    stack = FilmStack("stack", 2, 6, 3, 5, Random(0))
    random = np.random.default_rng(0)
    for variable in stack.trainable_variables:
        variable.assign(variable + random.normal(size=variable.shape) * 0.3)
    return stack


def test_a_new_stack_returns_its_masked_input() -> None:
    stack = FilmStack("stack", 2, 6, 3, 5, Random(0))
    x = np.random.default_rng(1).normal(size=(2, 7, 6)).astype(np.float32)
    mask = sequence_mask(tf.constant([7, 4]), 7)
    np.testing.assert_array_equal(stack(x, mask, np.ones((2, 3), np.float32)), x * mask)


def test_padding_neither_leaks_in_nor_appears(stack: FilmStack) -> None:
    random = np.random.default_rng(2)
    x, voice = random.normal(size=(1, 5, 6)), tf.constant(random.normal(size=(1, 3)), tf.float32)
    junk = np.concatenate([x, random.normal(size=(1, 4, 6))], axis=1).astype(np.float32)
    lengths = tf.constant([5])
    short = stack(x.astype(np.float32), sequence_mask(lengths, 5), voice).numpy()
    # What lies beyond the mask may be anything in the first block's input, never in its output.
    long = stack(junk, sequence_mask(lengths, 9), voice).numpy()
    np.testing.assert_allclose(long[:, :5], short, atol=1e-5)
    assert not long[:, 5:].any()


def test_the_voice_changes_what_is_said(stack: FilmStack) -> None:
    x = np.random.default_rng(3).normal(size=(1, 5, 6)).astype(np.float32)
    mask = tf.ones((1, 5, 1))
    one = stack(x, mask, tf.zeros((1, 3))).numpy()
    other = stack(x, mask, tf.ones((1, 3))).numpy()
    assert np.abs(one - other).max() > 0.01


def test_stacking_frames_can_be_undone() -> None:
    x = np.arange(2 * 6 * 3, dtype=np.float32).reshape(2, 6, 3)
    stacked = stack_frames(tf.constant(x), 2)
    assert stacked.shape == (2, 3, 6)
    np.testing.assert_array_equal(stacked[0, 0], [0, 1, 2, 3, 4, 5])
    np.testing.assert_array_equal(unstack_frames(stacked, 2), x)


def test_an_odd_frame_axis_is_refused() -> None:
    with pytest.raises(ValueError, match=r"multiple of 2\. Received: 5"):
        stack_frames(tf.zeros((1, 5, 3)), 2)
