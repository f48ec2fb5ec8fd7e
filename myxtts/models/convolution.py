"""One-dimensional convolutions, where it pays with fewer products (Toom and Cook, Winograd).

Four neighbouring outputs of a convolution with K taps are 4K products, but they follow from the
K + 3 products of two polynomials' values at as many points: 8 in place of 20 with five taps, 6 in
place of 12 with three. Points, sums and scales are exact; what differs is the rounding, in the
sixth digit. XLA's compiler for the CPU turns that into time, so a training step asks for it there
(`few_products`, while it is traced). A GPU's library has faster ways of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import keras
import numpy as np
from keras import ops

Tensor = Any
OUTPUTS = 4
"""Outputs that are computed together."""
POINTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
"""Where the polynomials are evaluated, besides infinity; more of them round worse."""
MOST_TAPS = len(POINTS) + 2 - OUTPUTS
NARROWEST = 64
"""Channels from which products take longer than the sums that replace them."""

_wanted: ContextVar[bool] = ContextVar("few_products", default=False)


@contextmanager
def few_products(wanted: bool) -> Iterator[None]:
    """Convolutions that are traced in here trade products for sums, or not."""
    token = _wanted.set(wanted)
    try:
        yield
    finally:
        _wanted.reset(token)


class Convolution(keras.layers.Conv1D):
    """Keras's layer, with its variables; in float32 it can do with fewer products."""

    def call(self, x: Tensor) -> Tensor:
        """`[B, L, inputs]` -> `[B, ceil(L / stride), outputs]`."""
        if not self._pays(x):
            return super().call(x)
        return self.activation(convolved(x, self.kernel) + self.bias)

    def _pays(self, x: Tensor) -> bool:
        taps, *channels = self.kernel.shape
        return (
            _wanted.get()
            and x.dtype == "float32"
            and self.strides == (1,)
            and 1 < taps <= MOST_TAPS
            and min(channels) >= NARROWEST
        )


def convolved(x: Tensor, kernel: Tensor) -> Tensor:
    """`x [B, L, I]`, `kernel [K, I, O]` -> `[B, L, O]`, padded with zeros as `same` pads."""
    taps, inputs, outputs = kernel.shape
    batch, length, _ = x.shape
    of_kernel, of_input, of_output = _transforms(taps)
    count = len(of_input)
    tiles = -(-length // OUTPUTS)
    spans = -(-count // OUTPUTS)  # tiles that the inputs of one lie in
    before = (taps - 1) // 2
    after = (tiles + spans - 1) * OUTPUTS - length - before
    x = ops.pad(x, ((0, 0), (before, after), (0, 0)))
    x = ops.reshape(x, (batch, tiles + spans - 1, OUTPUTS, inputs))
    heard = [x[:, n // OUTPUTS : n // OUTPUTS + tiles, n % OUTPUTS] for n in range(count)]

    values = ops.stack([_combined(row, heard) for row in of_input])  # [count, B, tiles, I]
    values = ops.reshape(values, (count, batch * tiles, inputs))
    taps_at = ops.matmul(of_kernel, ops.reshape(kernel, (taps, inputs * outputs)))
    products = ops.matmul(values, ops.reshape(taps_at, (count, inputs, outputs)))

    parts = [products[n] for n in range(count)]
    y = ops.stack([_combined(row, parts) for row in of_output], axis=1)  # [B * tiles, 4, O]
    return ops.reshape(y, (batch, tiles * OUTPUTS, outputs))[:, :length]


@lru_cache(maxsize=MOST_TAPS)
def _transforms(taps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For K taps and N = K + 3: `float32 [N, K]` of the kernel, `[N, N]` of the input, `[4, N]`.

    Values of the kernel's and of an output's polynomial, and, transposed, what leads back from the
    values of their product to its coefficients. Each row of the input's is scaled to sums of 1.
    """
    size = taps + OUTPUTS - 1
    back = np.linalg.inv(_values(size, size)).T
    scale = np.abs(back).sum(axis=1, keepdims=True)
    matrices = scale * _values(size, taps), back / scale, _values(size, OUTPUTS).T
    kernel, heard, out = (np.where(abs(m) < 1e-12, 0, m).astype(np.float32) for m in matrices)
    return kernel, heard, out


def _values(points: int, coefficients: int) -> np.ndarray:
    """What turns a polynomial into its values, the last one at infinity."""
    finite = np.vander(POINTS[: points - 1], coefficients, increasing=True)
    return np.vstack([finite, np.eye(coefficients)[-1]])


def _combined(row: np.ndarray, parts: Sequence[Tensor]) -> Tensor:
    """The sum of parts, each times its number."""
    terms = [part * float(factor) for factor, part in zip(row, parts, strict=True) if factor]
    return sum(terms[1:], terms[0])
