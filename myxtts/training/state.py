"""What a checkpoint holds of a training step, and putting it back.

Groups of arrays: `model`, `optimizer`; where the run has them also `ema` (averaged weights),
`loss_scale` (float16) and `accumulated` (gradients gathered since the last update), so that a run
goes on exactly where it was, even between two updates. Files are `checkpoint`'s business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from myxtts.training import network, precision
from myxtts.training.checkpoint import Checkpoint
from myxtts.training.step import TrainStep


def arrays_of(step: TrainStep) -> dict[str, list[np.ndarray]]:
    """The step's state, copied to the host."""
    return {
        group: [variable.numpy() for variable in variables]
        for group, variables in _groups(step).items()
    }


def go_on(step: TrainStep, found: Checkpoint) -> None:
    """Put a run's own state back; what the checkpoint lacks starts as new."""
    for group, variables in _groups(step).items():
        if group in found.arrays:
            network.restore(variables, found.arrays[group], found, group)
    if step.averaged is not None and "ema" not in found.arrays:
        averages = step.averaged.model.trainable_variables
        network.restore(averages, found.weights, found, "weights")


def start_from(step: TrainStep, found: Checkpoint) -> None:
    """Take a checkpoint's weights and nothing else of it: a new training begins."""
    if step.averaged is not None:
        network.restore(step.averaged.model.trainable_variables, found.weights, found, "weights")
    network.restore(step.model.trainable_variables, found.weights, found, "weights")


def _groups(step: TrainStep) -> dict[str, Sequence[Any]]:
    groups: dict[str, Sequence[Any]] = {
        "model": step.model.trainable_variables,
        "optimizer": precision.inner(step.optimizer).variables,
    }
    if step.averaged is not None:
        groups["ema"] = step.averaged.model.trainable_variables
    if step.accumulator is not None:
        groups["accumulated"] = step.accumulator.variables
    if scale := precision.scale_state(step.optimizer):
        groups["loss_scale"] = scale
    return groups
