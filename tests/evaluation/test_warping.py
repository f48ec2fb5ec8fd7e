"""Warping against a plain table and against a copy stretched in a known way."""

import numpy as np
import pytest

from myxtts.evaluation.warping import distances, warp


def cost_by_a_plain_table(cost: np.ndarray) -> float:
    total = np.full((cost.shape[0] + 1, cost.shape[1] + 1), np.inf)
    total[0, 0] = 0.0
    for i in range(cost.shape[0]):
        for j in range(cost.shape[1]):
            before = min(total[i, j], total[i, j + 1], total[i + 1, j])
            total[i + 1, j + 1] = cost[i, j] + before
    return float(total[-1, -1])


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (2, 2), (9, 9), (7, 23), (23, 7)])
def test_the_path_is_whole_and_the_cheapest(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape[0] * 100 + shape[1])
    a, b = rng.normal(size=(shape[0], 3)), rng.normal(size=(shape[1], 3))
    path = warp(a, b)
    assert tuple(path[0]) == (0, 0) and tuple(path[-1]) == (shape[0] - 1, shape[1] - 1)
    steps = {tuple(step) for step in np.diff(path, axis=0)}
    assert steps <= {(0, 1), (1, 0), (1, 1)}
    cost = distances(a, b)
    assert cost[path[:, 0], path[:, 1]].sum() == pytest.approx(cost_by_a_plain_table(cost))


def test_distances_are_euclidean() -> None:
    found = distances(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[3.0, 4.0]]))
    np.testing.assert_allclose(found, [[5.0], [np.hypot(2, 3)]])


def test_a_stretched_copy_is_found_frame_by_frame() -> None:
    rng = np.random.default_rng(1)
    frames = rng.normal(size=(40, 8))
    copies = np.repeat(np.arange(40), rng.integers(1, 4, 40))
    path = warp(frames, frames[copies])
    np.testing.assert_array_equal(path[:, 0], copies[path[:, 1]])


def test_nothing_cannot_be_warped() -> None:
    with pytest.raises(ValueError, match="both sides"):
        warp(np.zeros((0, 3)), np.zeros((4, 3)))
