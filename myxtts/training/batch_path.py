"""The way of a batch: from the store over the host and the data device to the model's device.

Names the stages and lays them into lanes as the configuration says; `feeder` runs them. Loading
itself is `data.loader`'s, computing is `preprocess`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from myxtts.config import DataConfig
from myxtts.data.loader import Loader
from myxtts.training.corpus import TrainingData
from myxtts.training.fitting import OutOfMemory, Shortage, Shortages, shape_of
from myxtts.training.preprocess import Batch, Preprocessor
from myxtts.training.stages import Lane, Parcel, Stage
from myxtts.training.transfer import Route, checked_route

UPLOAD_DEPTH = 2


class BatchPath:
    """Stages between one corpus and one model device."""

    def __init__(
        self,
        data: TrainingData | None,
        config: DataConfig,
        preprocess: Preprocessor,
        model_device: str,
    ) -> None:
        """`data` is None when the batches come from elsewhere, whole."""
        self._corpus = data
        self._config = config
        self._preprocessor = preprocess
        self._model_device = model_device
        self._not_ahead: set[tuple[str, tuple[int, int]]] = set()

    @property
    def shortages(self) -> Shortages:
        """What did not fit into the data device's memory, or beside the batches in the model's."""
        return self._preprocessor.shortages

    def describe(self, depth: int, *, overlapping: bool) -> str:
        """One line for the log: which way the batches take."""
        config = self._config
        source = (
            "tf.data over the memory-mapped feature store"
            if config.use_tf_native_loading
            else "Python, clip by clip (use_tf_native_loading: false)"
        )
        if config.features == "live":
            source += f"; mels computed live on {self._preprocessor.device}"
        count = len(self._data.buckets)
        shapes = f"{count} static shape{'s' if count > 1 else ''}"
        if not config.pad_to_fixed_length:
            shapes = "shapes that change with every batch (pad_to_fixed_length: false)"
        overlap = (
            f"prepared ahead in threads, {self._depths(depth)} batches deep"
            if overlapping
            else "one after the other (optimize_cpu_gpu_overlap: false)"
        )
        line = f"loading path: {source}; {overlap}; {shapes}"
        if self.route is not None and self.route.way == "host":
            line += (
                f"; warning: direct copies from {self.route.source} to {self.route.target} "
                "arrive changed, so batches go over the host's memory"
            )
        return line

    @cached_property
    def route(self) -> Route | None:
        """The way between the two devices, checked when it is first asked for; None: only one."""
        if self._preprocessor.device == self._model_device:
            return None
        return checked_route(self._preprocessor.device, self._model_device)

    def on_model_device(self, depth: int, *, overlapping: bool) -> int:
        """The most batches on the model's device at once: in work, handed over, and waiting."""
        if not overlapping:
            return 1
        waiting = self._deepest(depth) or depth
        if self._preprocessor.device == self._model_device:
            if self._config.enhanced_gpu_prefetch:
                waiting += UPLOAD_DEPTH
            elif self._config.prefetch_to_gpu:
                waiting += self._config.host_batches_ahead
        return waiting + 2

    @property
    def _data(self) -> TrainingData:
        assert self._corpus is not None
        return self._corpus

    def lanes(self, load: Stage, depth: int) -> list[Lane]:
        """The threads of the pipeline: the host, and the data device.

        `prefetch_to_gpu` uploads in the host's thread, ahead of need; `enhanced_gpu_prefetch`
        gives the upload a thread and a ring of its own.
        """
        upload = Stage("upload", self._upload)
        host, between, device = [load], [], self.device_stages()
        if self._config.enhanced_gpu_prefetch:
            between.append(Lane("uploaded", UPLOAD_DEPTH, (upload,)))
        elif self._config.prefetch_to_gpu:
            host.append(upload)
        else:
            device.insert(0, upload)
        return [
            Lane("host", self._config.host_batches_ahead, tuple(host)),
            *between,
            Lane("ready", depth, tuple(device), self._deepest(depth)),
        ]

    def recorded(self, lanes: Sequence[Lane]) -> dict[str, Any]:
        """What run.jsonl tells of the way: rings, depths, stages, and how devices are crossed."""
        drawn = [
            {"ring": lane.ring, "depth": lane.depth, "stages": [each.name for each in lane.stages]}
            for lane in lanes
        ]
        return {"lanes": drawn, "copies": None if self.route is None else self.route.way}

    def device_stages(self) -> list[Stage]:
        """What the data device's thread does with each batch."""
        stages = [Stage("preprocess", self._preprocess)]
        if self._preprocessor.device != self._model_device:
            stages.append(Stage("transfer", self._transfer))
        return stages

    def load_stage(self, batches: Iterator[Batch], loader: Loader | None = None) -> Stage:
        """Take the next host batch and note what the loop wants to know of it.

        `loader`: where the batches come from; None: the corpus's own.
        """
        loader = loader or self._data.loader

        def load(parcel: Parcel) -> None:
            plan = loader.plan(parcel.step)
            # Before anything can fail: an error names the clips.
            parcel.facts["clips"] = [self._data.prepared.clip_ids[row] for row in plan.rows]
            parcel.batch = batch = next(batches)
            if loader.parts is not None:
                parcel.parts = loader.parts.taken(parcel.step)
            parcel.facts |= {
                "bucket": int(plan.bucket),
                "useful": int((batch["mel_lengths"] * batch["weights"]).sum()),
                "padded": loader.padded_frames(batch),
            }

        return Stage("load", load)

    def at_once(self, batch: Batch) -> Batch:
        """A host batch all the way to the model's device, in the calling thread, not augmented."""
        ready = self._preprocessor.plainly(batch)
        return ready if self.route is None else self._transferred(ready)

    def example(self, bucket: int) -> Batch:
        """A batch of a bucket on the model's device, to compile and to time with."""
        loader = self._data.loader
        steps = range(loader.batches_per_epoch)
        step = next((step for step in steps if loader.plan(step).bucket == bucket), None)
        empty = loader.empty(self._data.buckets[bucket])
        return self.at_once(empty if step is None else loader.load(step))

    def _deepest(self, depth: int) -> int | None:
        """How deep the last ring may become by itself; None: it may not."""
        config = self._config
        return max(depth, config.pipeline_depth_max) if config.adaptive_depth else None

    def _depths(self, depth: int) -> str:
        deepest = self._deepest(depth)
        return f"{depth}" if deepest is None else f"{depth} (adaptive, at most {deepest})"

    def _upload(self, parcel: Parcel) -> None:
        device = self._preprocessor.device
        parcel.batch = self._ahead("upload", device, parcel.batch, self._preprocessor.upload)

    def _preprocess(self, parcel: Parcel) -> None:
        parcel.batch = self._preprocessor(parcel.batch)

    def _transfer(self, parcel: Parcel) -> None:
        parcel.batch = self._transferred(parcel.batch)

    def _transferred(self, batch: Batch) -> Batch:
        assert self.route is not None  # else there is no such stage
        return self._ahead("transfer", self._model_device, batch, self.route)

    def _ahead(
        self, stage: str, device: str, batch: Batch, copy: Callable[[Batch], Batch]
    ) -> Batch:
        """A copy made ahead of need; where there is no room for one, the batch as it is.

        Whoever works on it next has it copied then, in parts if need be.
        """
        rows, length = shape = shape_of(batch)
        if (stage, shape) in self._not_ahead:
            return batch
        try:
            return copy(batch)
        except OutOfMemory:
            self._not_ahead.add((stage, shape))
            self.shortages.append(Shortage(stage, device, rows, length, parts=1))
            return batch
