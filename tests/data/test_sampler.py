from concurrent.futures import ThreadPoolExecutor

import numpy as np

from myxtts.data.buckets import Bucket
from myxtts.data.sampler import Sampler

SHAPES = (Bucket(16, 64, 5), Bucket(32, 128, 3))
ASSIGNMENT = np.array([0] * 13 + [1] * 7, np.int32)
SPEAKER = np.array([0, 1, 1, 2] * 5, np.int32)


def sampler(seed: int = 0, shuffle: bool = True) -> Sampler:
    return Sampler(ASSIGNMENT, SHAPES, SPEAKER, seed, shuffle)


def real_rows(source: Sampler, epoch: int) -> list[int]:
    rows: list[int] = []
    for step in range(epoch * source.batches_per_epoch, (epoch + 1) * source.batches_per_epoch):
        plan = source.plan(step)
        rows += plan.rows[plan.weights == 1].tolist()
    return rows


def test_every_clip_once_an_epoch_in_another_order() -> None:
    source = sampler()
    assert source.batches_per_epoch == 3 + 3
    orders = [real_rows(source, epoch) for epoch in range(3)]
    assert all(sorted(order) == list(range(20)) for order in orders)
    assert orders[0] != orders[1] != orders[2]


def test_a_batch_has_its_buckets_size_and_clips() -> None:
    source = sampler()
    for step in range(source.batches_per_epoch):
        plan = source.plan(step)
        assert len(plan.rows) == SHAPES[plan.bucket].batch_size
        assert (ASSIGNMENT[plan.rows] == plan.bucket).all()


def test_the_last_batch_is_filled_with_rows_of_weight_zero() -> None:
    plans = [sampler().plan(step) for step in range(6)]
    fillers = [int((plan.weights == 0).sum()) for plan in plans]
    assert sorted(fillers) == [0, 0, 0, 0, 2, 2]
    for plan in plans:
        real = set(plan.rows[plan.weights == 1].tolist())
        assert set(plan.rows.tolist()) == real


def test_buckets_are_mixed_within_an_epoch() -> None:
    buckets = [[sampler(seed).plan(step).bucket for step in range(6)] for seed in range(20)]
    assert len({tuple(order) for order in buckets}) > 3


def test_a_plan_depends_on_seed_and_step_alone() -> None:
    one, other = sampler(), sampler()
    for step in (40, 3, 17, 3, 0):  # any order, again and again
        assert_equal(one.plan(step), other.plan(step))
    assert real_rows(sampler(1), 0) != real_rows(sampler(2), 0)


def test_the_order_is_the_same_in_every_version() -> None:
    """A resumed run on another machine must see the same clips: these numbers never change."""
    plan = sampler(seed=7).plan(9)
    assert plan.rows.tolist() == [9, 8, 2, 9, 9]
    assert plan.references.tolist() == [17, 16, 18, 17, 17]


def test_threads_see_the_same_plans() -> None:
    expected = [sampler().plan(step) for step in range(200)]
    shared = sampler()
    with ThreadPoolExecutor(8) as pool:
        for one, other in zip(expected, pool.map(shared.plan, range(200)), strict=True):
            assert_equal(one, other)


def test_a_reference_is_another_clip_of_the_same_speaker() -> None:
    source = sampler()
    seen = set()
    for step in range(source.batches_per_epoch * 120):
        plan = source.plan(step)
        assert (SPEAKER[plan.references] == SPEAKER[plan.rows]).all()
        assert (plan.references != plan.rows).all()
        assert ((plan.reference_positions >= 0) & (plan.reference_positions < 1)).all()
        seen |= {(int(a), int(b)) for a, b in zip(plan.rows, plan.references, strict=True)}
    pairs = sum(n * (n - 1) for n in np.bincount(SPEAKER))
    assert len(seen) == pairs  # and every other clip gets its turn


def test_noise_is_drawn_anew_for_every_clip_and_epoch() -> None:
    source = sampler()
    plans = [source.plan(step) for step in range(source.batches_per_epoch * 3)]
    drawn = {
        (plan.epoch, int(row), int(seed))
        for plan in plans
        for row, seed in zip(plan.rows, plan.noise_seeds, strict=True)
    }
    assert len(drawn) == len({seed for _, _, seed in drawn}) == 3 * 20
    assert all(
        plan.noise_seeds.dtype == np.int32 and (plan.noise_seeds >= 0).all() for plan in plans
    )
    assert sampler(seed=7).plan(9).noise_seeds.tolist()[:2] == [1741091943, 278852523]


def test_a_lonely_clip_is_its_own_reference() -> None:
    source = Sampler(np.zeros(3, np.int32), (Bucket(8, 8, 3),), np.array([0, 0, 1]), 0)
    plan = source.plan(0)
    assert plan.references[plan.rows == 2].tolist() == [2]


def test_without_shuffle_every_epoch_is_the_same() -> None:
    source = sampler(shuffle=False)
    assert real_rows(source, 0) == list(range(20))
    assert_equal(source.plan(1), source.plan(1 + source.batches_per_epoch), ignore_step=True)


def assert_equal(one: object, other: object, ignore_step: bool = False) -> None:
    for name, value in vars(one).items():
        if not (ignore_step and name in ("step", "epoch")):
            np.testing.assert_array_equal(value, getattr(other, name))
