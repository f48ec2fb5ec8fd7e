"""A sleeper wakes when it is rung for, when its time is over, and on Ctrl-C; the lock is held."""

import signal
import threading

import pytest

from myxtts.training.bell import Bell


@pytest.fixture
def lock():
    return threading.Lock()


def ringing(bell: Bell, lock: threading.Lock) -> None:
    with lock:
        bell.ring()


def test_it_wakes_the_sleeper(lock):
    bell = Bell(lock)
    threading.Timer(0.02, ringing, (bell, lock)).start()
    with lock:
        bell.wait(timeout=30)
        assert lock.locked()
    assert not lock.locked()


def test_nobody_is_woken_twice_by_one_ring(lock):
    bell = Bell(lock)
    with lock:
        bell.ring()  # nobody sleeps: it is not remembered
        bell.wait(timeout=0.01)
        assert lock.locked()
    assert bell._gate.locked()


def test_a_ring_that_comes_with_the_end_of_the_sleep_is_not_left_over(lock):
    """Many sleeps that end at about the moment of a ring: the gate is shut after each."""
    bell, stop = Bell(lock), threading.Event()

    def ring_all_the_time() -> None:
        while not stop.is_set():
            ringing(bell, lock)

    thread = threading.Thread(target=ring_all_the_time, daemon=True)
    thread.start()
    for _ in range(300):
        with lock:
            bell.wait(timeout=1e-6)
            assert bell._gate.locked()
    stop.set()
    thread.join(5)


def test_ctrl_c_ends_the_sleep_and_leaves_the_lock_usable(lock):
    bell, main = Bell(lock), threading.main_thread().ident
    threading.Timer(0.02, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt), lock:
        bell.wait(timeout=30)
    assert not lock.locked()
    with lock:
        bell.wait(timeout=0.001)
