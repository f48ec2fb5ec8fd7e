from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from myxtts.models import alignment


def plain_search(likelihood: np.ndarray, tokens: int, frames: int) -> np.ndarray:
    """The textbook search over one clip, a cell at a time: `[S, T]` -> `int32[T]`."""
    best = np.full((tokens, frames), -np.inf, np.float32)
    best[0, 0] = likelihood[0, 0]
    for t in range(1, frames):
        for s in range(tokens):
            before = max(best[s, t - 1], best[s - 1, t - 1] if s else -np.inf)
            best[s, t] = before + likelihood[s, t]
    path = np.full(likelihood.shape[1], -1, np.int32)
    token = tokens - 1
    for t in range(frames - 1, -1, -1):
        path[t] = token
        if token and t and best[token - 1, t - 1] > best[token, t - 1]:
            token -= 1
    return path


@pytest.fixture(scope="module", params=[True, False], ids=["xla", "graph"])
def search(request: pytest.FixtureRequest) -> Callable[..., tf.Tensor]:
    return tf.function(alignment.search, jit_compile=request.param)


def run(search: Callable[..., tf.Tensor], likelihood: np.ndarray, *lengths: object) -> np.ndarray:
    return search(
        tf.constant(likelihood), *(tf.constant(values, tf.int32) for values in lengths)
    ).numpy()


def test_search_equals_the_textbook_on_mixed_lengths_without_retracing(
    search: Callable[..., tf.Tensor],
) -> None:
    random = np.random.default_rng(1)
    rows, tokens, frames = 6, 12, 40
    traces = search.experimental_get_tracing_count()
    for spread in (0.1, 1.0, 30.0):
        likelihood = random.normal(-50, spread, (rows, tokens, frames)).astype(np.float32)
        token_lengths = random.integers(1, tokens + 1, rows)
        mel_lengths = random.integers(tokens, frames + 1, rows)
        token_lengths[0], mel_lengths[0] = tokens, tokens  # one frame each
        token_lengths[1], mel_lengths[1] = 1, frames  # one token for all
        token_lengths[2], mel_lengths[2] = tokens, frames  # no padding
        found = run(search, likelihood, token_lengths, mel_lengths)
        assert found.dtype == np.int32
        for row in range(rows):
            expected = plain_search(likelihood[row], token_lengths[row], mel_lengths[row])
            np.testing.assert_array_equal(found[row], expected)
    assert search.experimental_get_tracing_count() == traces + 1


def test_search_equals_the_textbook_on_a_thousand_cases(search: Callable[..., tf.Tensor]) -> None:
    random = np.random.default_rng(5)
    rows, tokens, frames, cases = 50, 16, 48, 1000
    for _ in range(cases // rows):
        spread = 10.0 ** random.uniform(-2, 2)
        likelihood = random.normal(-50, spread, (rows, tokens, frames)).astype(np.float32)
        token_lengths = random.integers(1, tokens + 1, rows)
        mel_lengths = random.integers(token_lengths, frames + 1)
        found = run(search, likelihood, token_lengths, mel_lengths)
        for row in range(rows):
            expected = plain_search(likelihood[row], token_lengths[row], mel_lengths[row])
            np.testing.assert_array_equal(found[row], expected)


def test_staying_wins_a_tie(search: Callable[..., tf.Tensor]) -> None:
    found = run(search, np.zeros((1, 2, 4), np.float32), [2], [4])
    np.testing.assert_array_equal(found, [[0, 1, 1, 1]])


def test_fewer_frames_than_tokens_gives_the_first_tokens_one_frame_each(
    search: Callable[..., tf.Tensor],
) -> None:
    likelihood = np.random.default_rng(2).normal(size=(3, 7, 8)).astype(np.float32)
    found = run(search, likelihood, [7, 7, 0], [3, 0, 0])
    np.testing.assert_array_equal(found[0], [0, 1, 2, -1, -1, -1, -1, -1])
    np.testing.assert_array_equal(found[1:], np.full((2, 8), -1))


def test_a_diverged_likelihood_does_not_leave_the_tokens(search: Callable[..., tf.Tensor]) -> None:
    for value in (np.nan, np.inf, -np.inf):
        likelihood = np.zeros((2, 5, 8), np.float32)
        likelihood[0] = value
        likelihood[1, 0] = value
        found = run(search, likelihood, [5, 5], [8, 8])
        assert found.min() >= 0 and found.max() < 5


def test_likelihood_ranks_tokens_as_a_unit_gaussian_does() -> None:
    random = np.random.default_rng(3)
    mean, mels = random.normal(size=(2, 5, 4)), random.normal(size=(2, 9, 4))
    found = alignment.log_likelihood(tf.constant(mean, tf.bfloat16), tf.constant(mels, tf.float32))
    assert found.dtype == tf.float32
    rounded = tf.cast(tf.constant(mean, tf.bfloat16), tf.float32).numpy()
    density = -0.5 * ((rounded[:, :, None] - mels[:, None]) ** 2).sum(-1)
    difference = found.numpy() - density
    np.testing.assert_allclose(difference - difference[:, :1], 0, atol=1e-5)


def test_durations_and_alignment_are_two_views_of_one_thing() -> None:
    index = np.array([[0, 0, 1, 2, 2, 2, -1, -1], [0, 1, 2, 3, 3, 3, 3, 3]], np.int32)
    frames = alignment.durations(tf.constant(index), 5).numpy()
    np.testing.assert_array_equal(frames, [[2, 1, 3, 0, 0], [1, 1, 1, 5, 0]])
    np.testing.assert_array_equal(alignment.from_durations(tf.constant(frames), 8), index)
    np.testing.assert_array_equal(alignment.from_durations(tf.constant(frames), 4), index[:, :4])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_expand_copies_each_tokens_features_to_its_frames(dtype: str) -> None:
    features = tf.cast(np.random.default_rng(4).normal(size=(2, 3, 4)), dtype)
    index = np.array([[0, 0, 1, 2, -1], [0, 1, 1, -1, -1]], np.int32)
    found = alignment.expand(features, tf.constant(index)).numpy()
    expected = np.take_along_axis(features.numpy(), np.maximum(index, 0)[..., None], axis=1)
    np.testing.assert_array_equal(found, np.where(index[..., None] >= 0, expected, 0))
