"""Every second is in exactly one account."""

import random

import pytest

from myxtts.telemetry.accounts import ACCOUNTS, Ledger


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_seconds_go_to_the_account_that_is_open():
    clock = FakeClock()
    ledger = Ledger(clock)
    clock.now += 1
    with ledger.account("training"):
        clock.now += 5
        with ledger.account("checkpointing"):
            clock.now += 2
        clock.now += 1
    clock.now += 3
    totals = ledger.totals()
    assert (totals["training"], totals["checkpointing"], totals["other"]) == (6, 2, 4)


def test_an_error_inside_closes_the_account():
    clock = FakeClock()
    ledger = Ledger(clock)
    with pytest.raises(ValueError), ledger.account("training"):
        clock.now += 1
        raise ValueError
    clock.now += 4
    assert ledger.totals()["other"] == 4


def test_moving_never_takes_more_than_there_is():
    clock = FakeClock()
    ledger = Ledger(clock)
    with ledger.account("data_wait"):
        clock.now += 2
    ledger.move(5.0, "data_wait", "transfer")
    assert (ledger.totals()["data_wait"], ledger.totals()["transfer"]) == (0, 2)


def test_any_sequence_sums_to_the_wall_time():
    clock, rng = FakeClock(), random.Random(0)
    ledger = Ledger(clock)
    for _ in range(500):
        with ledger.account(rng.choice(ACCOUNTS)):
            clock.now += rng.random()
            if rng.random() < 0.3:
                ledger.move(rng.random(), rng.choice(ACCOUNTS), rng.choice(ACCOUNTS))
        clock.now += rng.random()
    assert sum(ledger.totals().values()) == pytest.approx(ledger.wall)


def test_what_comes_after_the_books_are_closed_is_in_no_account():
    clock = FakeClock()
    ledger = Ledger(clock)
    with ledger.account("training"):
        clock.now += 5
    ledger.close()
    clock.now += 7
    with ledger.account("training"):
        clock.now += 1
    assert ledger.wall == sum(ledger.totals().values()) == 5
