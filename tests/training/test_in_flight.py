"""The limits of what is in the pipeline: batches, bytes, and never a standstill."""

import threading

import numpy as np
import tensorflow as tf

from myxtts.training.in_flight import InFlight, weight


def blocked(flight: InFlight) -> threading.Thread:
    """A thread that asks for one more, still waiting."""
    thread = threading.Thread(target=flight.admit, daemon=True)
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    return thread


def test_no_more_batches_than_allowed():
    flight = InFlight(2)
    assert flight.admit() and flight.admit()
    waiting = blocked(flight)
    flight.taken(0)
    waiting.join(5)
    assert not waiting.is_alive()


def test_no_more_bytes_than_allowed():
    flight = InFlight(50, most_bytes=100)
    for _ in range(2):
        flight.admit()
        flight.weighed(0, 40)
    assert flight.room() == 0
    waiting = blocked(flight)  # a third batch may weigh 40 too
    flight.taken(40)
    waiting.join(5)
    assert not waiting.is_alive()
    flight.weighed(40, 90)
    assert flight.room() == 0 and flight.weighs
    flight.weighed(0, 20)
    assert flight.room() == -1


def test_one_batch_is_allowed_however_heavy():
    flight = InFlight(50, most_bytes=10)
    assert flight.admit()
    flight.weighed(0, 1000)
    flight.taken(1000)
    assert flight.admit()


def test_closing_lets_nobody_wait():
    flight = InFlight(1)
    flight.admit()
    waiting = blocked(flight)
    flight.close()
    waiting.join(5)
    assert not waiting.is_alive() and not flight.admit()


def test_arrays_and_tensors_weigh_their_bytes():
    batch = {"mels": np.zeros((2, 3), np.float16), "lengths": tf.zeros([5], tf.int32), "name": "x"}
    assert weight(batch) == 12 + 20
    assert weight(None) == 0 and weight(np.zeros(7, np.uint8)) == 7
