"""How much memory a run needs on its model's device, said before anything is compiled.

    weights + their averages + the optimiser's slots + gradients, gathered ones too
    + the batches that wait and the one in work + what the step's program computes in between

All but the last are sums of shapes. The last is read off the traced program (`program_memory`);
the trace is the one that is compiled afterwards, so it costs nothing. On the CPU the estimate of
the program is within 15 % of XLA's own buffer assignment (a test compares them); a GPU's libraries
take workspace besides, and nobody has measured there yet.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from myxtts.config import Config
from myxtts.data.buckets import Bucket
from myxtts.devices import DevicePlan
from myxtts.telemetry.gpu import memory_totals_mb
from myxtts.training.preprocess import Batch
from myxtts.training.program_memory import peak_bytes
from myxtts.training.step import TrainStep

GB = 2**30


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes on the model's device at the fullest moment of a step."""

    weights: int
    averages: int
    optimizer: int
    gradients: int
    batches: int
    activations: int

    @property
    def total(self) -> int:
        """All of it."""
        return sum(getattr(self, part.name) for part in fields(self))

    def compared(self, available: int | None, owner: str) -> list[str]:
        """Lines for the log; `available` bytes are `owner`'s."""
        parts = [(part.name, getattr(self, part.name)) for part in fields(self)]
        said = ", ".join(f"{name} {size(count)}" for name, count in parts if count)
        needs = f"memory: a step needs about {size(self.total)} ({said})"
        if available is None:
            return [needs]
        lines = [f"{needs}; {owner} has {size(available)}"]
        if self.total > available:
            lines.append(
                "warning: that is more than there is: a smaller --batch-size, and "
                "training.gradient_accumulation to make up for it"
            )
        return lines


def estimate(step: TrainStep, batch: Batch, config: Config, batches: int) -> MemoryEstimate:
    """Of a step with batches of this shape, `batches` of which are on the device at once."""
    weights = _bytes(step.model.trainable_variables)
    training = config.training
    return MemoryEstimate(
        weights=weights,
        averages=weights if training.ema_decay else 0,
        optimizer=_bytes(step.optimizer.variables),
        gradients=weights * (2 if training.gradient_accumulation > 1 else 1),
        batches=batches * _bytes(batch.values()),
        activations=peak_bytes(step.traced(batch), fused=step.xla),
    )


def largest_bucket(buckets: Sequence[Bucket]) -> int:
    """The position of the shape whose step takes the most memory."""
    return max(
        range(len(buckets)),
        key=lambda i: buckets[i].batch_size * buckets[i].mel_frames * buckets[i].text_length,
    )


def available(plan: DevicePlan, config: Config) -> tuple[int | None, str]:
    """Bytes of the memory that the model's device has, and whose they are; None: not known."""
    data = config.data
    if "GPU" not in plan.model_device:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), "this machine"
    if plan.isolated and data.model_gpu_memory is not None:
        return data.model_gpu_memory * 2**20, "your limit for the GPU"
    total = memory_totals_mb().get(data.model_gpu or 0)
    return None if total is None else total * 2**20, "your GPU"


def size(count: int) -> str:
    """Bytes as a person reads them."""
    return f"{count / GB:.1f} GB" if count >= GB else f"{count / 2**20:.0f} MB"


def _bytes(arrays: Iterable[Any]) -> int:
    return sum(
        math.prod(array.shape) * np.dtype(getattr(array.dtype, "name", array.dtype)).itemsize
        for array in arrays
    )
