"""Row numbers to host batches of one static shape.

`load(step)` is a pure function of the step: it may be called from any thread, in any order, and
again after a restart. `batches` runs it ahead of need: inside tf.data from the memory-mapped store
(no Python per clip), or, for comparison, decoding every clip from its audio file in Python.
Shapes and order come from `buckets` and `sampler`; nothing here knows a device.

With cached features a batch holds `mels` and `reference`, float16 log-mels. With live features it
holds `samples` and `reference_samples` instead, the 16-bit PCM that the data device computes the
same frames from (a few hops more than frames, see `recipe`), and its own number, `step`.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from myxtts.audio.decode import AudioError
from myxtts.config import DataConfig
from myxtts.data.buckets import Bucket, rounded_up
from myxtts.data.feature_store import fill
from myxtts.data.load_parts import LoadParts
from myxtts.data.prepare import PreparedCorpus, workers
from myxtts.data.sampler import BatchPlan, Sampler
from myxtts.errors import UserError

if TYPE_CHECKING:
    import tensorflow as tf

HostBatch = dict[str, np.ndarray]
Signature = dict[str, tuple[tuple[int, ...], np.dtype]]

_FOREVER = np.iinfo(np.int64).max

_open_loaders: weakref.WeakSet[Loader] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """tf.data's threads call Python; left running into the interpreter's end, they block it."""
    for loader in list(_open_loaders):
        loader.close()


class Loader:
    """Host batches of a prepared corpus."""

    def __init__(
        self,
        prepared: PreparedCorpus,
        buckets: Sequence[Bucket],
        sampler: Sampler,
        data: DataConfig,
        reference_frames: int = 256,
    ) -> None:
        self._prepared = prepared
        self._buckets = tuple(buckets)
        self._sampler = sampler
        self._data = data
        self._reference_frames = reference_frames
        self._token_lengths = prepared.token_lengths
        self._recipe = prepared.store.recipe
        self._closed = threading.Event()
        self._iterators: dict[object, Iterator[HostBatch]] = {}
        _open_loaders.add(self)
        self._failure: Exception | None = None
        self.parts: LoadParts | None = None
        """Tells reading from decoding; None: nobody asks."""

    @property
    def batches_per_epoch(self) -> int:
        """Steps of one pass over the corpus."""
        return self._sampler.batches_per_epoch

    @property
    def path(self) -> str:
        """One line that says how batches are loaded."""
        if not self._data.use_tf_native_loading:
            return f"Python: every clip decoded from its file, {workers(self._data)} threads"
        where = "in memory" if self._data.cache_dataset else "memory-mapped"
        size = self._prepared.store.nbytes / 1e6
        return f"tf.data: feature store {where} ({size:,.0f} MB), {workers(self._data)} calls"

    def plan(self, step: int) -> BatchPlan:
        """The rows of this step's batch."""
        return self._sampler.plan(step)

    def load(self, step: int) -> HostBatch:
        """The batch of this step."""
        plan = self._sampler.plan(step)
        if self.parts is None:
            return self._assembled(plan)
        return self.parts.loaded(step, lambda: self._read(plan), lambda: self._assembled(plan))

    def _assembled(self, plan: BatchPlan) -> HostBatch:
        bucket = self._buckets[plan.bucket]
        lengths = self._token_lengths[plan.rows]
        frames = self._prepared.frames[plan.rows]
        text_length, mel_frames = bucket.text_length, bucket.mel_frames
        if not self._data.pad_to_fixed_length:
            text_length = int(rounded_up(int(lengths.max())))
            mel_frames = int(rounded_up(int(frames.max())))
        room = np.maximum(self._prepared.frames[plan.references] - self._reference_frames, 0)
        starts = (plan.reference_positions * (room + 1)).astype(np.int64)
        reference_frames = self._prepared.frames[plan.references]
        return {
            "tokens": self._tokens(plan.rows, lengths, text_length),
            "token_lengths": lengths,
            "mel_lengths": frames,
            "reference_lengths": np.minimum(reference_frames, self._reference_frames),
            "language": self._prepared.language[plan.rows],
            "weights": plan.weights,
            "clips": plan.rows,
            "noise_seeds": plan.noise_seeds,
            **self._features(
                self._rows(plan.rows, mel_frames, None),
                self._rows(plan.references, self._reference_frames, starts),
                plan.step,
            ),
        }

    def signature(self, bucket: Bucket) -> Signature:
        """Shape and type of every array of a batch of this bucket."""
        size, int32 = bucket.batch_size, np.dtype(np.int32)
        features = self._features(
            self._no_rows(size, bucket.mel_frames), self._no_rows(size, self._reference_frames), 0
        )
        return {
            "tokens": ((size, bucket.text_length), int32),
            "token_lengths": ((size,), int32),
            "mel_lengths": ((size,), int32),
            "reference_lengths": ((size,), int32),
            "language": ((size,), int32),
            "weights": ((size,), np.dtype(np.float32)),
            "clips": ((size,), np.dtype(np.int64)),
            "noise_seeds": ((size,), int32),
            **{name: (array.shape, array.dtype) for name, array in features.items()},
        }

    def padded_frames(self, batch: HostBatch) -> int:
        """Frames that the model computes for a batch, padding included."""
        if self._recipe.kind == "mels":
            return int(np.prod(batch["mels"].shape[:2]))
        clips, samples = batch["samples"].shape
        return int(clips * (samples // self._recipe.width - self._recipe.overlap))

    def empty(self, bucket: Bucket) -> HostBatch:
        """A batch of zeros with this bucket's shape, to compile with."""
        return {name: np.zeros(*array) for name, array in self.signature(bucket).items()}

    def batches(self, start: int, stop: int | None = None) -> Iterator[HostBatch]:
        """The batches of the steps from `start` to before `stop` (none: without end), in order."""
        if self._data.use_tf_native_loading:
            return self._through_tf_data(start, stop)
        return self._through_python(start, stop)

    def dataset(self, start: int, stop: int | None = None) -> tf.data.Dataset:
        """The same batches as a tf.data.Dataset of dictionaries.

        It has no `prefetch` of its own: whoever iterates decides how many batches wait, and sees
        the waits.
        """
        import tensorflow as tf

        from myxtts.data.dataset_optimizer import get_optimized_dataset_options

        signature = self.signature(self._buckets[0])
        shapes = self._common_shapes()

        def load(step: np.ndarray) -> list[np.ndarray]:
            batch = self._load_or_remember(int(step))
            return [batch[name] for name in signature]

        def batch_of(step: tf.Tensor) -> dict[str, tf.Tensor]:
            arrays = tf.numpy_function(load, [step], [dtype for _, dtype in signature.values()])
            named = dict(zip(signature, arrays, strict=True))
            for name, array in named.items():
                array.set_shape(shapes[name])
            return named

        options = get_optimized_dataset_options(deterministic=True)
        # Nothing here is tuned, and the tuner's thread sleeps for up to a minute while an iterator
        # that is being closed waits for it.
        options.autotune.enabled = False
        return (
            tf.data.Dataset.range(start, _FOREVER if stop is None else stop)
            .map(batch_of, num_parallel_calls=workers(self._data), deterministic=True)
            .with_options(options)
        )

    def close(self) -> None:
        """End every iterator of `batches` at its next batch; tf.data's threads stop now."""
        self._closed.set()
        self._iterators.clear()

    def _through_tf_data(self, start: int, stop: int | None) -> Iterator[HostBatch]:
        import tensorflow as tf

        # Between batches the dictionary holds the only reference: `close` ends tf.data's threads.
        key = object()
        with tf.device("/CPU:0"):
            self._iterators[key] = self.dataset(start, stop).as_numpy_iterator()
        try:
            while (iterator := self._iterators.get(key)) is not None:
                batch = next(iterator)
                del iterator
                yield batch
        except StopIteration:
            return
        except tf.errors.OpError:
            # TensorFlow turns every exception into one of its own; ours says what to do.
            if self._failure is not None:
                raise self._failure from None
            raise
        finally:
            self._iterators.pop(key, None)

    def _through_python(self, start: int, stop: int | None) -> Iterator[HostBatch]:
        ahead: deque[Future[HostBatch]] = deque()
        step = start
        pool = ThreadPoolExecutor(workers(self._data), thread_name_prefix="loader")
        try:
            while not self._closed.is_set():
                while len(ahead) < self._data.host_batches_ahead and (stop is None or step < stop):
                    ahead.append(pool.submit(self.load, step))
                    step += 1
                if not ahead:
                    return
                yield ahead.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _load_or_remember(self, step: int) -> HostBatch:
        try:
            return self.load(step)
        except Exception as error:
            self._failure = error
            raise

    def _common_shapes(self) -> dict[str, list[int | None]]:
        """The dimensions that all buckets share; None where they differ."""
        signatures = [self.signature(bucket) for bucket in self._buckets]
        shapes: dict[str, list[int | None]] = {}
        for name in signatures[0]:
            sizes = [set(sizes) for sizes in zip(*(s[name][0] for s in signatures), strict=True)]
            shapes[name] = [size.pop() if len(size) == 1 else None for size in sizes]
        if not self._data.pad_to_fixed_length:
            for name in ("tokens", "mels", "samples"):
                if name in shapes:
                    shapes[name][1] = None
        return shapes

    def _tokens(self, rows: np.ndarray, lengths: np.ndarray, text_length: int) -> np.ndarray:
        """int32 [B, text_length], zeros beyond each length."""
        place = np.arange(text_length)
        inside = place < lengths[:, None]
        flat = self._prepared.token_offsets[rows][:, None] + place
        flat = np.where(inside, flat, 0)
        return np.where(inside, self._prepared.tokens[flat], 0).astype(np.int32)

    def _features(self, rows: np.ndarray, reference: np.ndarray, step: int) -> HostBatch:
        """The arrays of a batch that depend on the kind of features; [B, rows, width] each."""
        if self._recipe.kind == "mels":
            return {"mels": rows, "reference": reference}
        return {
            "samples": rows.reshape(len(rows), -1),
            "reference_samples": reference.reshape(len(reference), -1),
            "step": np.array(step, np.int64),
        }

    def _no_rows(self, clips: int, frames: int) -> np.ndarray:
        return np.zeros((clips, self._recipe.rows(frames), self._recipe.width), self._recipe.dtype)

    def _rows(self, rows: np.ndarray, frames: int, starts: np.ndarray | None) -> np.ndarray:
        """[B, rows of `frames`, width], from `starts` on, zeros beyond each clip."""
        if self._data.use_tf_native_loading:
            return self._prepared.store.gather(rows, frames, starts)
        batch = self._no_rows(len(rows), frames)
        for i, row in enumerate(rows):
            fill(batch[i], self._decoded(int(row)), 0 if starts is None else int(starts[i]))
        return batch

    def _read(self, plan: BatchPlan) -> int:
        """Fetch what a batch is made of; the bytes that are not kept in memory anyway."""
        rows = np.concatenate((plan.rows, plan.references))
        if self._data.use_tf_native_loading:
            return self._prepared.store.fetch(rows)
        return sum(len(self._prepared.audio[int(row)].read_bytes()) for row in rows)

    def _decoded(self, row: int) -> np.ndarray:
        """The rows of one clip, computed from its audio file."""
        try:
            rows = self._recipe.compute(self._prepared.audio[row])
        except AudioError as error:
            raise UserError(
                f"{error.path} was usable when the corpus was prepared and is not now",
                received=error.reason,
                remedy="run the same command again: the clip is then reported and left out",
            ) from error
        first = self._prepared.store.first_frames[row]
        return rows[first : first + self._recipe.rows(self._prepared.frames[row])]
