"""The ideal pipeline, by hand and against a ring that is walked through event by event."""

import random

import ideal
import pytest


def test_training_is_the_limit():
    """The first batch is there; every other one is ready in time."""
    assert ideal.seconds([1, 1, 1, 1], [3, 3, 3, 3], depth=3) == 12


def test_preparing_is_the_limit():
    assert ideal.seconds([3, 3, 3, 3], [1, 1, 1, 1], depth=3) == 3 * 3 + 1


def test_a_deeper_ring_bridges_a_longer_stall():
    prepare, train = [1] * 10 + [20] + [1] * 5, [2] * 16
    shallow, deep = (ideal.seconds(prepare, train, depth) for depth in (1, 8))
    assert deep < shallow
    assert ideal.seconds(prepare, train, 100) <= deep


def test_without_overlap_times_add_up():
    assert ideal.one_after_the_other([5, 1, 1], [2, 2, 2]) == 8


@pytest.mark.parametrize("seed", range(20))
def test_it_is_what_a_walk_through_time_gives(seed):
    rng = random.Random(seed)
    count, depth = rng.randint(1, 30), rng.randint(1, 5)
    prepare = [rng.randint(1, 9) for _ in range(count)]
    train = [rng.randint(1, 9) for _ in range(count)]
    assert ideal.seconds(prepare, train, depth) == _walk(prepare, train, depth)


def _walk(prepare: list[int], train: list[int], depth: int) -> int:
    """Tick by tick: a producer with at most one batch in hand, a ring, a consumer."""
    now, ring, first_taken = 0, 0, None
    made = done = 0
    producing, training, in_hand = prepare[0], 0, False
    while done < len(train) or training:
        moved = True
        while moved:  # hand-overs take no time
            moved = False
            if in_hand and ring < depth:
                ring, made, in_hand, moved = ring + 1, made + 1, False, True
                producing = prepare[made] if made < len(prepare) else 0
            if not training and ring and done < len(train):
                ring, training, done, moved = ring - 1, train[done], done + 1, True
                first_taken = now if first_taken is None else first_taken
        now += 1
        training = max(0, training - 1)
        if producing:
            producing -= 1
            in_hand = producing == 0
    return now - first_taken
