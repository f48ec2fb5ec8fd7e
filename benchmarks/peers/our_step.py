"""Our training step, with XLA and without: what `enable_xla: auto` chooses between."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tensorflow as tf
from speech_batch import LANGUAGES, MELS, VOCABULARY

from myxtts.config import Config
from myxtts.models.sizes import ModelSize
from myxtts.models.xtts import XTTS
from myxtts.training.step import TrainStep, make_optimizer

DEVICE = "/CPU:0"
TOTAL_STEPS = 100_000
"""Length of the run that the learning rate is planned for."""


class OurStep:
    """Callable: losses out, weights updated."""

    def __init__(
        self, size: ModelSize, batch: Mapping[str, np.ndarray], threads: int, *, xla: bool
    ) -> None:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
        config = Config()
        with tf.device(DEVICE):
            model = XTTS(size, VOCABULARY, LANGUAGES, MELS, seed=config.training.seed)
            optimizer = make_optimizer(config, TOTAL_STEPS)
            optimizer.build(model.trainable_variables)
            self._batch = {name: tf.constant(array) for name, array in batch.items()}
        self._step = TrainStep(model, optimizer, DEVICE, xla=xla)
        self.parameters = sum(int(np.prod(v.shape)) for v in model.trainable_variables)

    def __call__(self) -> list[float]:
        return list(self._step(self._batch).values())
