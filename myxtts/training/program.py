"""Functions compiled for a device.

One place decides what every program of a step has in common, so that a batch done in parts, or on
replicas, is computed as it is done whole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import tensorflow as tf

from myxtts.models.convolution import few_products


def program(function: Callable[..., Any], device: str, *, xla: bool) -> Any:
    """A `tf.function`; for XLA on the CPU its convolutions trade products for sums."""
    saves = xla and "CPU" in device.upper()

    @wraps(function)
    def traced(*arguments: Any) -> Any:
        with few_products(saves):
            return function(*arguments)

    return tf.function(traced, jit_compile=xla)
