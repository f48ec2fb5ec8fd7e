"""The depth of a ring: deeper after droughts, by as much as was missing; less deep when calm."""

import pytest

from myxtts.training.depth import (
    EMPTY_AFTER_FULL,
    LEAST,
    NEVER_EMPTY,
    OVER_BUDGET,
    WINDOW,
    AdaptiveDepth,
)


def calm(depth: AdaptiveDepth, takes: int, found: int | None = None) -> list[str]:
    """So many takes from a ring that is full, or holds `found`; the reasons of changes."""
    reasons = []
    for _ in range(takes):
        depth.filled()
        reasons.append(depth.taken(depth.depth if found is None else found, 0.0, worked=1.0))
    return [reason for reason in reasons if reason is not None]


def test_it_grows_by_what_would_have_bridged_the_wait():
    depth = AdaptiveDepth(3, most=16)
    calm(depth, 10)
    assert depth.taken(0, waited=4.5, worked=1.0) == EMPTY_AFTER_FULL
    assert depth.depth == 3 + 5


def test_waits_of_one_drought_add_up():
    depth = AdaptiveDepth(2, most=16)
    calm(depth, 10)
    for _ in range(8):
        depth.taken(0, waited=0.5, worked=1.0)
    assert depth.depth == 2 + 4


def test_it_never_grows_beyond_the_most():
    depth = AdaptiveDepth(3, most=6)
    calm(depth, 10)
    depth.taken(0, waited=100.0, worked=1.0)
    assert depth.depth == 6


def test_a_producer_that_is_always_too_slow_makes_nothing_grow():
    depth = AdaptiveDepth(3, most=16)
    assert {depth.taken(0, waited=1.0, worked=1.0) for _ in range(500)} == {None}
    assert depth.depth == 3


def test_a_drought_that_does_not_end_is_no_reason_to_grow():
    depth = AdaptiveDepth(3, most=10**6)
    depth.filled()
    for _ in range(WINDOW):
        depth.taken(0, waited=1.0, worked=1.0)
    grown = depth.depth
    for _ in range(WINDOW):
        depth.taken(0, waited=1.0, worked=1.0)
    assert depth.depth == grown


def test_one_buffer_is_given_back_after_each_calm_window():
    depth = AdaptiveDepth(6, most=16)
    assert calm(depth, WINDOW - 1) == []
    assert calm(depth, 1) == [NEVER_EMPTY]
    assert depth.depth == 5
    calm(depth, 100 * WINDOW)
    assert depth.depth == LEAST


def test_a_buffer_that_was_needed_stays():
    """Never empty, but down to the last buffer: none of them is spare."""
    depth = AdaptiveDepth(6, most=16)
    assert calm(depth, 10 * WINDOW, found=1) == []


def test_a_ring_told_to_be_one_deep_stays_so():
    depth = AdaptiveDepth(1, most=1)
    calm(depth, 10 * WINDOW)
    depth.taken(0, waited=9.0, worked=1.0)
    assert depth.depth == 1


def test_patience_doubles_after_a_mistake():
    depth = AdaptiveDepth(4, most=16)
    assert calm(depth, WINDOW) == [NEVER_EMPTY]
    depth.taken(0, waited=0.5, worked=1.0)
    assert depth.depth == 4
    assert calm(depth, 2 * WINDOW - 1) == []
    assert calm(depth, 1) == [NEVER_EMPTY]


def test_a_long_pause_of_the_consumer_is_not_taken_for_its_step():
    """Validation takes a minute; the wait after it is still measured in steps of a second."""
    depth = AdaptiveDepth(3, most=64)
    calm(depth, 50)
    depth.taken(3, 0.0, worked=60.0)
    depth.taken(0, waited=10.0, worked=1.0)
    assert depth.depth == pytest.approx(3 + 10, abs=2.5)


def test_the_budget_limits_growth_and_takes_back():
    room = [5]
    depth = AdaptiveDepth(3, most=16, room=lambda: room[0])
    calm(depth, 10)
    depth.taken(0, waited=100.0, worked=1.0)
    assert depth.depth == 5
    room[0] = -1
    assert [depth.taken(1, 0.0, 1.0) for _ in range(6)] == [OVER_BUDGET] * 4 + [None] * 2
    assert depth.depth == 1
