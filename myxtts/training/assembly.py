"""The parts of a training step, made as the configuration says and put together.

Model and optimiser, and where they are asked for the averaged model and the gathered gradients
beside them, on the model's device; with replicas, weights and optimiser on each of them. What they
do is their own modules' business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

import keras
import tensorflow as tf

from myxtts.config import Config
from myxtts.models.xtts import XTTS
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import network
from myxtts.training.accumulation import Accumulator
from myxtts.training.averaging import AveragedModel
from myxtts.training.replicas import ReplicaStep, SummedAdamW, mirrored
from myxtts.training.step import TrainStep, make_optimizer

ChooseXla = Callable[[Callable[[bool], TrainStep]], bool]
"""Is given a maker of bare steps, with XLA or without."""


def make_step(
    config: Config,
    tokenizer: Tokenizer,
    total_steps: int,
    dtype_policy: str,
    device: str,
    choose_xla: ChooseXla,
    replicas: Sequence[str] = (),
) -> TrainStep:
    """A step with `training.seed`'s weights, of which nothing is trained yet."""
    training = config.training
    strategy = mirrored(replicas) if replicas else None

    def new_model() -> XTTS:
        return network.build(
            config.model, tokenizer, config.data.n_mels, dtype_policy, training.seed
        )

    with ExitStack() as everywhere:
        everywhere.enter_context(tf.device(device) if strategy is None else strategy.scope())
        model = new_model()
        kind = keras.optimizers.AdamW if strategy is None else SummedAdamW
        optimizer = make_optimizer(config, total_steps, dtype_policy, kind)
        optimizer.build(model.trainable_variables)
    with tf.device(device):  # once, on the first replica where there are several
        accumulator = averaged = None
        if training.gradient_accumulation > 1:
            accumulator = Accumulator(model.trainable_variables)
        if training.ema_decay:
            averaged = AveragedModel(new_model(), model, training.ema_decay)
    new_step = (
        partial(TrainStep, model, optimizer, device)
        if strategy is None
        else partial(ReplicaStep, model, optimizer, device, strategy)
    )
    xla = choose_xla(lambda xla: new_step(xla=xla))
    return new_step(xla=xla, accumulator=accumulator, averaged=averaged)
