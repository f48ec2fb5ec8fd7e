"""The learning rate at each step: a warm-up, then a fall to 5 % at the last step."""

from __future__ import annotations

import math
from typing import Any

import keras
from keras import ops

from myxtts.config import TrainingConfig

FINAL_SHARE = 0.05


class WarmUpThenDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up from 0 to the peak, then linear, cosine or no decay."""

    def __init__(self, training: TrainingConfig, total_steps: int) -> None:
        self.peak = training.learning_rate
        self.shape = training.schedule
        self.warmup = max(1, training.warmup_steps)
        self.decay_steps = max(1, total_steps - training.warmup_steps)

    def __call__(self, step: Any) -> Any:
        step = ops.cast(step, "float32")
        rising = ops.minimum((step + 1.0) / self.warmup, 1.0)
        passed = ops.clip((step - self.warmup) / self.decay_steps, 0.0, 1.0)
        if self.shape == "linear":
            falling = 1.0 - passed
        elif self.shape == "cosine":
            falling = 0.5 * (1.0 + ops.cos(math.pi * passed))
        else:
            return self.peak * rising
        return self.peak * rising * (FINAL_SHARE + (1.0 - FINAL_SHARE) * falling)

    def get_config(self) -> dict[str, Any]:
        """What Keras shows of it; runs are restored from the configuration, not from this."""
        return {"peak": self.peak, "shape": self.shape, "warmup": self.warmup}
