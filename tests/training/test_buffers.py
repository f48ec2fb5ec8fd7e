"""The ring: order, bounds, waits, closing from either side, errors carried across."""

import threading

import pytest

from myxtts.training.buffers import Closed, Ring
from myxtts.training.depth import WINDOW, AdaptiveDepth, DepthChange


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def in_thread(work) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_items_come_out_in_order():
    ring = Ring("r", 2)
    producer = in_thread(lambda: [ring.put(i) for i in range(100)])
    assert [ring.get() for _ in range(100)] == list(range(100))
    producer.join(5)


def test_it_never_holds_more_than_its_depth():
    ring, held = Ring("r", 3), []
    producer = in_thread(lambda: [ring.put(i) for i in range(50)])
    for _ in range(50):
        ring.wait_until_full(0.05)
        held.append(ring.state().occupancy)
        ring.get()
    producer.join(5)
    assert max(held) == 3


def test_closing_hands_out_what_is_left_and_then_the_error():
    ring = Ring("r", 4)
    ring.put("a")
    ring.close(ValueError("bad clip"))
    assert ring.get() == "a"
    with pytest.raises(ValueError, match="bad clip"):
        ring.get()


def test_closing_without_an_error_ends_the_consumer():
    ring = Ring("r", 1)
    ended = threading.Event()

    def consume():
        with pytest.raises(Closed):
            ring.get()
        ended.set()

    in_thread(consume)
    ring.close()
    assert ended.wait(5)


def test_abandoning_releases_a_producer_that_waits_for_room():
    ring = Ring("r", 1)
    ring.put(0)
    released = threading.Event()

    def produce():
        with pytest.raises(Closed):
            ring.put(1)
        released.set()

    in_thread(produce)
    assert not released.wait(0.05)
    ring.abandon()
    assert released.wait(5)
    assert ring.state().occupancy == 0


def test_waits_are_recorded_on_the_side_that_waited():
    clock = FakeClock()
    ring = Ring("r", 1, clock)
    taken = []
    consumer = in_thread(lambda: taken.append(ring.get()))
    threading.Event().wait(0.05)  # the consumer is waiting by now
    clock.now = 3.0
    ring.put("late")
    consumer.join(5)
    state = ring.state()
    assert taken == ["late"]
    assert state.consumer_wait == 3.0
    assert state.producer_wait == 0.0


def test_a_depth_below_one_is_refused():
    with pytest.raises(ValueError, match="depth=0"):
        Ring("r", 0)


def test_occupancy_is_what_the_consumer_found():
    ring = Ring("r", 3)
    for item in range(3):
        ring.put(item)
    for _ in range(3):
        ring.get()
    state = ring.state()
    assert (state.found, state.taken, state.most, state.empty, state.full) == (6, 3, 3, 0, 0)


def test_finding_nothing_and_finding_no_room_are_counted():
    ring = Ring("r", 1)
    producer = in_thread(lambda: [ring.put(item) for item in range(2)])
    threading.Event().wait(0.05)  # the second one finds no room
    ring.get()
    producer.join(5)
    ring.get()
    consumer = in_thread(ring.get)
    threading.Event().wait(0.05)
    ring.put("late")
    consumer.join(5)
    state = ring.state()
    assert (state.full, state.empty) == (1, 1)


def test_a_waiting_consumer_may_give_up():
    def tired() -> float:
        raise TimeoutError

    ring = Ring("r", 1)
    with pytest.raises(TimeoutError):
        ring.get(tired)
    ring.put("still works")
    assert ring.get(tired) == "still works"


def test_the_depth_grows_and_shrinks_and_every_change_is_told():
    clock, changes = FakeClock(), []
    ring = Ring("r", 2, clock, adaptive=AdaptiveDepth(2, 8), on_depth=changes.append)
    for _ in range(10):  # full, and a second of work for each item
        while ring.state().occupancy < ring.depth:
            ring.put("item")
        clock.now += 1.0
        ring.get()
    for _ in range(2):
        clock.now += 1.0
        consumer = in_thread(ring.get)  # the second time there is nothing left
        consumer.join(0.05)
    clock.now += 2.5
    ring.put("late")
    consumer.join(5)
    # It waited two and a half of its steps, so three more buffers would have done.
    assert changes == [DepthChange("r", 12, 2, 5, "empty after full")]
    for _ in range(WINDOW):
        while ring.state().occupancy < ring.depth:
            ring.put("item")
        clock.now += 1.0
        ring.get()
    assert [(change.before, change.after) for change in changes] == [(2, 5), (5, 4)]
    state = ring.state()
    assert (state.depth, state.deepest, state.depth_changes) == (4, 5, 2)
