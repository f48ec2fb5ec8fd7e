"""Batches from one device to another, by a way that was checked before it is trusted.

Some pairs of GPUs return zeros from a direct copy without a word. So the first use of a pair copies
known bytes and compares them; when they arrive changed, every batch takes a hop over the host's
memory instead, slower and right, and the run says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import tensorflow as tf

from myxtts.errors import UserError
from myxtts.training.preprocess import Batch

CHECK_BYTES = (4, 4096, 1_000_003, 16 * 2**20)

Way = Literal["direct", "host"]


@dataclass(frozen=True)
class Route:
    """How batches get from `source` to `target`; may be used from any thread."""

    source: str
    target: str
    way: Way

    def __call__(self, batch: Batch) -> Batch:
        """The batch on the target device."""
        return {name: moved(tensor, self.target, self.way) for name, tensor in batch.items()}


def checked_route(source: str, target: str) -> Route:
    """The direct way when copies arrive whole, else the one over the host."""
    ways: tuple[Way, ...] = ("direct", "host")
    for way in ways:
        if all(arrives_whole(source, target, way, size) for size in CHECK_BYTES):
            return Route(source, target, way)
    raise UserError(
        f"Copies from {source} to {target} arrive changed, even over the host's memory",
        follows="a model trained on them would learn noise",
        remedy="train on one device (leave out --data-gpu and --model-gpu), and have the "
        "hardware checked",
    )


def arrives_whole(source: str, target: str, way: Way, size: int) -> bool:
    """Whether `size` known bytes are the same, and on the right device, after the copy."""
    content = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    with tf.device(source):
        sent = tf.identity(content)
    received = moved(sent, target, way)
    return on(received, target) and received.numpy().tobytes() == content.tobytes()


def moved(tensor: Any, target: str, way: Way) -> Any:
    """One tensor, copied to the target device."""
    return direct(tensor, target) if way == "direct" else over_host(tensor, target)


def direct(tensor: Any, target: str) -> Any:
    """From device to device, as the driver does it."""
    with tf.device(target):
        return tf.identity(tensor)


def over_host(tensor: Any, target: str) -> Any:
    """Down to an array in the host's memory, and up again."""
    content = tensor.numpy()
    with tf.device(target):
        return tf.identity(content)


def on(tensor: Any, device: str) -> bool:
    """Whether TensorFlow says that a tensor lives on a logical device."""
    return str(tensor.device).endswith(device.replace("/", "device:"))
