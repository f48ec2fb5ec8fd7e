"""Training on two devices: one prepares batches, the other trains, each with memory of its own.

`MemoryIsolatedTrainer` is the `Trainer` of a dual plan: batches are preprocessed on the data
device and copied to the model device in a thread of their own, so that a step costs
max(prepare + transfer, train) and not their sum. The same way is open to any dataset of host
batches. Devices and their memory limits are set by `devices.place` before; the loop is `trainer`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from myxtts.config import Config
from myxtts.devices import DevicePlan
from myxtts.errors import UsageError
from myxtts.training.preprocess import Batch
from myxtts.training.progress import Display
from myxtts.training.stages import EndOfData, Parcel, Stage
from myxtts.training.study import Study
from myxtts.training.trainer import Trainer


class MemoryIsolatedTrainer(Trainer):
    """`pipeline_depth`, `enable_async_pipeline` and `step_times` are the `Trainer`'s."""

    def __init__(
        self,
        config: Config,
        plan: DevicePlan,
        display: Display | None = None,
        *,
        resume: bool = False,
        study: Study | None = None,
    ) -> None:
        if plan.kind != "dual":
            raise UsageError(
                "The memory-isolated trainer needs two devices",
                received=plan.describe(),
                remedy="--data-gpu 0 --model-gpu 1 (and --virtual-gpus 2 without GPUs)",
            )
        super().__init__(config, plan, display, resume=resume, study=study)

    def optimize_dataset_for_dual_gpu(self, dataset: Iterable[Batch]) -> Iterator[Batch]:
        """Batches of any dataset of host batches, prepared ahead, on the model device.

        `dataset` gives dicts with the keys of a host batch (a `tf.data.Dataset` does). The
        iterator's threads end with it.
        """
        batches = iter(dataset)

        def load(parcel: Parcel) -> None:
            parcel.batch = next(batches, None)
            if parcel.batch is None:
                raise EndOfData

        with self._feeder(count(), Stage("load", load)) as feeder:
            feeder.start()
            for parcel in feeder:
                yield parcel.batch
