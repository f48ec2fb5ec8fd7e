"""Dynamic time warping: which frame of one recording belongs to which of another.

The cost of a path is the sum of the distances of its pairs; steps go one frame ahead in the first,
in the second, or in both, and cost nothing by themselves. The table of costs is filled by
anti-diagonals: the cells of one do not depend on each other, so NumPy does each at once.
"""

from __future__ import annotations

import numpy as np


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Euclidean distance of each frame of `a` [n, d] to each of `b` [m, d]: float64 [n, m]."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    squared = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * a @ b.T
    return np.sqrt(np.maximum(squared, 0.0))


def warp(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cheapest path from first frames to last, int [length, 2]: pairs (in a, in b)."""
    if len(a) == 0 or len(b) == 0:
        raise ValueError(f"warp expects frames on both sides, received {len(a)} and {len(b)}")
    return _walk_back(*_totals(distances(a, b)))


def _totals(cost: np.ndarray) -> tuple[np.ndarray, int, int]:
    """The cheapest way to each cell, by anti-diagonals: [n + m - 1, n + 1], n, m.

    Cell (i, j) is at [i + j, i + 1]; column 0 and the cells outside the table are infinite.
    """
    n, m = cost.shape
    skewed = np.full((n + m - 1, n), np.inf)
    rows = np.arange(n)[:, None]
    skewed[rows + np.arange(m), rows] = cost
    total = np.full((n + m - 1, n + 1), np.inf)
    total[0, 1] = cost[0, 0]
    for diagonal in range(1, n + m - 1):
        last = total[diagonal - 1]
        best = np.minimum(last[1:], last[:-1])  # from (i, j-1) and from (i-1, j)
        if diagonal > 1:
            np.minimum(best, total[diagonal - 2, :-1], out=best)  # from (i-1, j-1)
        np.add(skewed[diagonal], best, out=total[diagonal, 1:])
    return total, n, m


def _walk_back(total: np.ndarray, n: int, m: int) -> np.ndarray:
    i, j = n - 1, m - 1
    path = [(i, j)]
    while i or j:
        steps = []  # the diagonal first: of equal ways the straight one
        if i and j:
            steps.append((total[i + j - 2, i], i - 1, j - 1))
        if i:
            steps.append((total[i + j - 1, i], i - 1, j))
        if j:
            steps.append((total[i + j - 1, i + 1], i, j - 1))
        _, i, j = min(steps, key=lambda step: step[0])
        path.append((i, j))
    return np.array(path[::-1], np.intp)
