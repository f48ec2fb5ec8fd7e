"""The parts of a training step, made as the configuration says and put together.

Model and optimiser, and where they are asked for the averaged model and the gathered gradients
beside them, all on the model's device. What they do is their own modules' business.
"""

from __future__ import annotations

from collections.abc import Callable

import keras
import tensorflow as tf

from myxtts.config import Config
from myxtts.models.xtts import XTTS
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import network
from myxtts.training.accumulation import Accumulator
from myxtts.training.averaging import AveragedModel
from myxtts.training.step import TrainStep, make_optimizer

ChooseXla = Callable[[XTTS, keras.optimizers.Optimizer], bool]


def make_step(
    config: Config,
    tokenizer: Tokenizer,
    total_steps: int,
    dtype_policy: str,
    device: str,
    choose_xla: ChooseXla,
) -> TrainStep:
    """A step with `training.seed`'s weights, of which nothing is trained yet."""
    training = config.training

    def new_model() -> XTTS:
        return network.build(
            config.model, tokenizer, config.data.n_mels, dtype_policy, training.seed
        )

    with tf.device(device):
        model = new_model()
        optimizer = make_optimizer(config, total_steps, dtype_policy)
        optimizer.build(model.trainable_variables)
        accumulator = averaged = None
        if training.gradient_accumulation > 1:
            accumulator = Accumulator(model.trainable_variables)
        if training.ema_decay:
            averaged = AveragedModel(new_model(), model, training.ema_decay)
    return TrainStep(
        model,
        optimizer,
        device,
        xla=choose_xla(model, optimizer),
        accumulator=accumulator,
        averaged=averaged,
    )
