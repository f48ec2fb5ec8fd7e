"""One training step on several devices at once: each computes its share of every batch.

tf.distribute's MirroredStrategy keeps a copy of the weights and of the optimiser's state on every
device. A batch is divided by rows; each device takes losses and gradients of its rows as shares of
the whole batch's (the sums above the line are its own, the counts below it everybody's), the
shares are added up, and every device makes the same update. So the numbers are those of one
device but for the order of additions. A batch that cannot be divided evenly is filled up with rows
of no weight.

Averaged weights and gathered gradients live on the first device alone; validation and samples use
that one too. What a step is for is `step`'s business.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import keras
import tensorflow as tf

from myxtts.errors import UserError
from myxtts.models.xtts import XTTS, Counted, counted
from myxtts.training.accumulation import Accumulator
from myxtts.training.averaging import AveragedModel
from myxtts.training.fitting import cut
from myxtts.training.preprocess import Batch
from myxtts.training.program import program
from myxtts.training.step import TrainStep
from myxtts.training.transfer import CHECK_BYTES, arrives_whole


class SummedAdamW(keras.optimizers.AdamW):
    """AdamW for gradients that are already the sum over all devices.

    Keras's own sums them up after clipping: each device's share would be clipped for itself.
    """

    def _all_reduce_sum_gradients(self, grads_and_vars: Any) -> Any:
        return grads_and_vars


def mirrored(devices: Sequence[str]) -> tf.distribute.MirroredStrategy:
    """The strategy over these logical devices; refused where copies between them arrive changed.

    Shares are summed on the first device and handed back: for two devices the traffic of an
    all-reduce, in an order that is always the same, and by copies that were checked.
    """
    first = devices[0]
    for other in devices[1:]:
        for source, target in ((first, other), (other, first)):
            if not all(arrives_whole(source, target, "direct", size) for size in CHECK_BYTES):
                raise UserError(
                    f"Copies from {source} to {target} arrive changed",
                    received=f"the plan replicas over {', '.join(devices)}",
                    follows="gradients would be summed up wrong, without an error",
                    remedy="--plan dual --data-gpu 0 --model-gpu 1, whose batches can take "
                    "a hop over the host",
                )
    with _without_notices():
        return tf.distribute.MirroredStrategy(
            list(devices), cross_device_ops=tf.distribute.ReductionToOneDevice()
        )


@contextmanager
def _without_notices() -> Iterator[None]:
    """TensorFlow repeats, in its own words, what the device plan has said already."""
    logger = tf.get_logger()
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


class ReplicaStep(TrainStep):
    """A `TrainStep` over all devices of a strategy; batches come whole, on the first of them."""

    def __init__(
        self,
        model: XTTS,
        optimizer: keras.optimizers.Optimizer,
        device: str,
        strategy: tf.distribute.MirroredStrategy,
        *,
        xla: bool,
        accumulator: Accumulator | None = None,
        averaged: AveragedModel | None = None,
    ) -> None:
        self.strategy = strategy
        self._of_share = program(self._share_of_losses, device, xla=xla)
        super().__init__(
            model, optimizer, device, xla=xla, accumulator=accumulator, averaged=averaged
        )

    def traced(self, batch: Batch) -> Any:
        """The graph of one device's share."""
        with tf.device(self.device):
            share = self._shares(batch)[0]
            return self._of_share.get_concrete_function(share, counted(share)).graph

    def _program(self, function: Callable[..., Any]) -> Any:
        # XLA compiles the part that one device runs alone, not the traffic between them.
        return tf.function(function)

    def _losses_and_gradients(self, batch: Batch) -> tuple[dict[str, Any], list[Any]]:
        divided = self._shares(batch)
        shared = self.strategy.experimental_distribute_values_from_function(
            lambda context: divided[context.replica_id_in_sync_group]
        )
        losses, gradients = self.strategy.run(self._summed, args=(shared, counted(batch)))
        first = self.strategy.experimental_local_results
        if self.accumulator is not None:  # they are gathered on one device
            gradients = [first(gradient)[0] for gradient in gradients]
        return {name: first(loss)[0] for name, loss in losses.items()}, gradients

    def _shares(self, batch: Batch) -> list[Batch]:
        return cut(batch, self.strategy.num_replicas_in_sync, exactly=True)

    def _summed(self, share: Batch, whole: Counted) -> tuple[dict[str, Any], list[Any]]:
        """On one device: its share, then the sum of all shares."""
        losses, gradients = self._of_share(share, whole)
        context = tf.distribute.get_replica_context()
        return (
            {name: context.all_reduce("SUM", loss) for name, loss in losses.items()},
            context.all_reduce("SUM", gradients),
        )

    def _share_of_losses(self, share: Batch, whole: Counted) -> tuple[dict[str, Any], list[Any]]:
        with tf.GradientTape() as tape:
            losses = self.model.losses(share, whole)
            scaled = self.optimizer.scale_loss(losses["total"])
        return losses, tape.gradient(scaled, self.model.trainable_variables)

    def _update_weights(self, gradients: list[Any]) -> None:
        def update(gradients: list[Any]) -> None:
            self.optimizer.apply(gradients, self.model.trainable_variables)

        self.strategy.run(update, args=(gradients,))
