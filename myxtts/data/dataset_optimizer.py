"""tf.data settings for throughput, for any dataset.

Our own loader uses `get_optimized_dataset_options`; the rest is offered for datasets of your own.
Options come and go between TensorFlow versions: what was asked for and does not exist here is
named in the log and in the summary, never dropped in silence.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import tensorflow as tf

log = logging.getLogger(__name__)

REMOVED_OPTIONS = {
    "experimental_optimization.autotune": "autotune.enabled",
    "experimental_optimization.autotune_buffers": "autotune.enabled",
    "experimental_optimization.autotune_cpu_budget": "autotune.cpu_budget",
    "experimental_optimization.autotune_ram_budget": "autotune.ram_budget",
    "experimental_optimization.map_vectorization": "a map over whole batches",
}
"""Options of earlier TensorFlow versions, and what does their job now."""

_THROUGHPUT: dict[str, Any] = {
    "autotune.enabled": True,
    "experimental_optimization.apply_default_optimizations": True,
    "experimental_optimization.map_parallelization": True,
    "experimental_optimization.parallel_batch": True,
    "experimental_warm_start": True,
    "threading.max_intra_op_parallelism": 1,
}


def missing_options(requested: Mapping[str, Any] | Sequence[str]) -> list[str]:
    """The dotted names among `requested` that this TensorFlow's `tf.data.Options` does not have."""
    import tensorflow as tf

    options = tf.data.Options()
    return [name for name in requested if not _exists(options, name)]


def get_optimized_dataset_options(
    *, deterministic: bool = True, requested: Mapping[str, Any] | None = None
) -> tf.data.Options:
    """Options for throughput. `requested` maps dotted names to values and wins over ours.

    `deterministic=False` lets a slow element be overtaken; it costs a reproducible order.
    """
    import tensorflow as tf

    options = tf.data.Options()
    options.deterministic = deterministic
    for name, value in {**_THROUGHPUT, **(requested or {})}.items():
        if _exists(options, name):
            _assign(options, name, value)
        else:
            log.warning("%s", _gone(name))
    return options


def configure_tensorflow_for_max_throughput(
    *,
    num_workers: int = 0,
    deterministic: bool = True,
    intra_op_threads: int = 0,
    inter_op_threads: int = 0,
    requested: Mapping[str, Any] | None = None,
) -> tf.data.Options:
    """Set TensorFlow's thread pools and return the `tf.data.Options` to use.

    0 leaves a choice to TensorFlow. The pools can be set only before TensorFlow has started; too
    late is said in the log, and the options are returned all the same.
    """
    import tensorflow as tf

    try:
        if intra_op_threads:
            tf.config.threading.set_intra_op_parallelism_threads(intra_op_threads)
        if inter_op_threads:
            # With one thread, two pipeline stages run one after the other.
            tf.config.threading.set_inter_op_parallelism_threads(max(2, inter_op_threads))
    except RuntimeError:
        log.warning("TensorFlow has already started: its thread pools stay as they are")
    options = get_optimized_dataset_options(deterministic=deterministic, requested=requested)
    if num_workers:
        options.threading.private_threadpool_size = num_workers
    return options


def apply_aggressive_prefetching(
    dataset: tf.data.Dataset, batch_size: int, prefetch_to_device: str | None = None
) -> tf.data.Dataset:
    """Load batches ahead, and with `prefetch_to_device` ("/GPU:0") copy them there ahead too.

    Must be the last stage: a map after the copy brings the data back to the CPU.
    """
    import tensorflow as tf

    ahead = max(2, min(8, 64 // max(1, batch_size)))
    dataset = dataset.prefetch(ahead)
    if prefetch_to_device is None:
        return dataset
    return dataset.apply(tf.data.experimental.prefetch_to_device(prefetch_to_device, ahead))


def optimize_dataset_pipeline(
    dataset: tf.data.Dataset,
    batch_size: int,
    *,
    preprocess: Callable[..., Any] | None = None,
    cache: bool = False,
    num_workers: int = 0,
    deterministic: bool = True,
    prefetch_to_device: str | None = None,
    requested: Mapping[str, Any] | None = None,
) -> tf.data.Dataset:
    """Cache, parallel map, options, prefetch: the stages in the order that works.

    `dataset` yields batches already; `batch_size` only decides how many are loaded ahead.
    """
    import tensorflow as tf

    if cache:
        dataset = dataset.cache()
    if preprocess is not None:
        calls = num_workers or tf.data.AUTOTUNE
        dataset = dataset.map(preprocess, num_parallel_calls=calls, deterministic=deterministic)
    options = get_optimized_dataset_options(deterministic=deterministic, requested=requested)
    dataset = dataset.with_options(options)
    return apply_aggressive_prefetching(dataset, batch_size, prefetch_to_device)


def create_parallel_interleave_dataset(
    sources: Sequence[Any],
    open_source: Callable[[Any], tf.data.Dataset],
    *,
    cycle_length: int = 4,
    block_length: int = 1,
    num_workers: int = 0,
    deterministic: bool = True,
) -> tf.data.Dataset:
    """The elements of several sources (files, shards) read side by side, `block_length` each."""
    import tensorflow as tf

    return tf.data.Dataset.from_tensor_slices(np.asarray(sources)).interleave(
        open_source,
        cycle_length=min(cycle_length, max(1, len(sources))),
        block_length=block_length,
        num_parallel_calls=num_workers or tf.data.AUTOTUNE,
        deterministic=deterministic,
    )


def print_optimization_summary(
    options: tf.data.Options | None = None, requested: Mapping[str, Any] | Sequence[str] = ()
) -> list[str]:
    """Print, and return, one line for each option: its value, or what replaced it."""
    options = options or get_optimized_dataset_options()
    names = dict.fromkeys(["deterministic", *_THROUGHPUT, *requested])
    lines = []
    for name in names:
        if _exists(options, name):
            lines.append(f"{name} = {_value(options, name)}")
        else:
            lines.append(_gone(name))
    print("\n".join(lines))
    return lines


def _gone(name: str) -> str:
    line = f"{name}: does not exist in this TensorFlow"
    replacement = REMOVED_OPTIONS.get(name)
    return f"{line}; use {replacement}" if replacement else line


def _exists(options: tf.data.Options, name: str) -> bool:
    holder: Any = options
    for part in name.split("."):
        if not hasattr(holder, part):
            return False
        holder = getattr(holder, part)
    return True


def _value(options: tf.data.Options, name: str) -> Any:
    holder: Any = options
    for part in name.split("."):
        holder = getattr(holder, part)
    return holder


def _assign(options: tf.data.Options, name: str, value: Any) -> None:
    *path, last = name.split(".")
    holder: Any = options
    for part in path:
        holder = getattr(holder, part)
    setattr(holder, last, value)
