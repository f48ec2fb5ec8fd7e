"""The arithmetic of a run: what its layers compute in, and how small gradients survive it.

Weights, losses and the optimiser are float32 in every policy; layers may compute in 16 bits.
bfloat16 has the range of float32 and needs nothing more. float16 has not: gradients below 6e-8
become zero. So the loss is multiplied by a scale before the gradients are taken, and they are
divided by it, in float32, before anything looks at their size. A scale that made a gradient
overflow costs that update and is halved; after many good updates it is doubled.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from myxtts.config import Config

BFLOAT16_CAPABILITY = (8, 0)
"""The first CUDA compute capability whose cards multiply bfloat16."""

POLICIES = {"bfloat16": "mixed_bfloat16", "float16": "mixed_float16"}


def policy(config: Config, device: str) -> str:
    """The Keras dtype policy of a run: as told, or what the device is good at."""
    wanted = config.data.mixed_precision
    if isinstance(wanted, str) and wanted in POLICIES:
        return POLICIES[wanted]
    on_gpu = "GPU" in device
    has_bfloat16 = not on_gpu or _capability(device) >= BFLOAT16_CAPABILITY
    if wanted == "auto":
        wanted = on_gpu and has_bfloat16
    if not wanted:
        return "float32"
    return POLICIES["bfloat16" if has_bfloat16 else "float16"]


def with_loss_scale(
    optimizer: keras.optimizers.Optimizer, dtype_policy: str
) -> keras.optimizers.Optimizer:
    """The optimiser that this policy needs.

    Under float16 it is wrapped: `scale_loss` multiplies, `apply` divides and skips, and only then
    does the inner optimiser clip, so that the clip norm means the same in every precision.
    """
    if dtype_policy != POLICIES["float16"]:
        return optimizer
    return keras.optimizers.LossScaleOptimizer(optimizer)


def inner(optimizer: keras.optimizers.Optimizer) -> keras.optimizers.Optimizer:
    """The optimiser that holds learning rate and slots, whether it is wrapped or not."""
    return getattr(optimizer, "inner_optimizer", optimizer)


def scale_state(optimizer: keras.optimizers.Optimizer) -> list[Any]:
    """The variables of the loss scale: good updates in a row, and the scale; else none."""
    if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        return [optimizer.step_counter, optimizer.dynamic_scale]
    return []


def loss_scale(optimizer: keras.optimizers.Optimizer) -> float | None:
    """The scale in force; None: this precision needs none."""
    state = scale_state(optimizer)
    return float(state[-1].numpy()) if state else None


def _capability(device: str) -> tuple[int, ...]:
    position = int(device.rpartition(":")[2])
    gpus = tf.config.get_visible_devices("GPU")
    details = tf.config.experimental.get_device_details(gpus[position])
    return tuple(details.get("compute_capability") or (0, 0))
