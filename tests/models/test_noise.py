from __future__ import annotations

import numpy as np
import tensorflow as tf

from myxtts.models import noise


def normal(seeds: list[int], frames: int = 200, bins: int = 80) -> np.ndarray:
    return noise.normal(tf.constant(seeds, tf.int32), frames, bins).numpy()


def test_it_is_normal() -> None:
    draw = normal([0, 1, 2, 2**31 - 1], frames=800)
    assert abs(draw.mean()) < 0.01
    assert abs(draw.std() - 1) < 0.01
    assert abs((draw**3).mean()) < 0.03
    assert abs((draw**4).mean() - 3) < 0.06
    assert 4 < np.abs(draw).max() < 6


def test_seeds_frames_and_bins_have_nothing_to_do_with_each_other() -> None:
    draw = normal([5, 6, 7, 8])
    for axis in range(3):
        for step in (1, 2, 3):
            product = draw * np.roll(draw, step, axis=axis)
            assert abs(product.mean()) < 0.02, (axis, step)


def test_a_number_depends_on_its_seed_and_place_alone() -> None:
    draw = normal([11, 12])
    np.testing.assert_array_equal(normal([12, 13, 11], frames=260)[[2, 0], :200], draw)
    np.testing.assert_array_equal(normal([11, 12], bins=100)[:, :, :80], draw)


def test_compiling_changes_nothing_but_the_last_digit() -> None:
    compiled = tf.function(noise.normal, jit_compile=True)
    found = compiled(tf.constant([11, 12], tf.int32), 200, 80)
    np.testing.assert_allclose(found, normal([11, 12]), rtol=1e-4, atol=1e-6)


def test_times_fill_the_unit_interval_evenly() -> None:
    times = noise.uniform(tf.range(4000)).numpy()
    assert 0 < times.min() < 0.002 and 0.998 < times.max() < 1
    counts, _ = np.histogram(times, bins=10, range=(0, 1))
    assert abs(counts - 400).max() < 80
    assert abs(np.corrcoef(times[:-1], times[1:])[0, 1]) < 0.05
