import numpy as np
import pytest
import tensorflow as tf

from myxtts.data import dataset_optimizer as optimizer


def test_options_are_really_set() -> None:
    options = optimizer.get_optimized_dataset_options(
        deterministic=False, requested={"threading.private_threadpool_size": 3}
    )
    assert options.deterministic is False
    assert options.autotune.enabled is True
    assert options.threading.private_threadpool_size == 3
    assert options.experimental_warm_start is True


def test_an_option_that_no_longer_exists_is_said(caplog: pytest.LogCaptureFixture) -> None:
    gone = {
        "experimental_optimization.map_vectorization": True,
        "experimental_optimization.autotune": True,
        "autotune.enabled": False,
    }
    assert optimizer.missing_options(gone) == [
        "experimental_optimization.map_vectorization",
        "experimental_optimization.autotune",
    ]
    options = optimizer.get_optimized_dataset_options(requested=gone)
    assert options.autotune.enabled is False
    assert "autotune: does not exist in this TensorFlow; use autotune.enabled" in caplog.text


def test_every_option_called_removed_is_removed() -> None:
    assert optimizer.missing_options(optimizer.REMOVED_OPTIONS) == list(optimizer.REMOVED_OPTIONS)


def test_configure_returns_options_and_says_when_it_is_too_late(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tf.constant(1.0)  # TensorFlow has started
    options = optimizer.configure_tensorflow_for_max_throughput(num_workers=2, inter_op_threads=64)
    assert isinstance(options, tf.data.Options)
    assert options.threading.private_threadpool_size == 2
    assert "already started" in caplog.text


def test_prefetching_keeps_the_elements_also_on_a_device() -> None:
    for device in (None, "/CPU:0"):
        dataset = optimizer.apply_aggressive_prefetching(
            tf.data.Dataset.range(20).batch(4), 4, device
        )
        assert np.concatenate(list(dataset.as_numpy_iterator())).tolist() == list(range(20))


def test_the_pipeline_maps_caches_and_keeps_order() -> None:
    calls: list[int] = []

    def double(batch: np.ndarray) -> np.ndarray:
        calls.append(1)
        return batch * 2

    source = tf.data.Dataset.range(12).map(
        lambda x: tf.numpy_function(double, [x], tf.int64), num_parallel_calls=1
    )
    dataset = optimizer.optimize_dataset_pipeline(
        source, 1, preprocess=lambda x: x + 1, cache=True, num_workers=2
    )
    for _ in range(2):
        assert list(dataset.as_numpy_iterator()) == [2 * i + 1 for i in range(12)]
    assert len(calls) == 12
    assert dataset.options().deterministic is True


def test_interleave_reads_sources_side_by_side() -> None:
    dataset = optimizer.create_parallel_interleave_dataset(
        [0, 100, 200],
        lambda start: tf.data.Dataset.range(start, start + 3),
        cycle_length=3,
        num_workers=2,
    )
    assert list(dataset.as_numpy_iterator()) == [0, 100, 200, 1, 101, 201, 2, 102, 202]


def test_the_summary_prints_values_and_what_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    lines = optimizer.print_optimization_summary(
        requested=["experimental_optimization.map_vectorization"]
    )
    printed = capsys.readouterr().out
    assert printed.splitlines() == lines
    assert "autotune.enabled = True" in lines
    assert any("map_vectorization: does not exist" in line for line in lines)
