"""What the pipeline itself costs: steps whose stages do nothing, and the way from hand to hand."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any

from myxtts.training.bell import Bell
from myxtts.training.feeder import Feeder
from myxtts.training.stages import Lane, Parcel, Stage

BLOCK = 100
"""Empty steps come in bursts, as the threads take turns; a block of them is what can be timed."""
WAKES = 200
Sleep = Callable[[float], object]
PAUSE = 0.002
"""Seconds that a producer sleeps, so that the consumer really waits for it."""


def measure(steps: int) -> dict[str, Any]:
    """Microseconds; `step` is an empty step through two threads and two rings, of many blocks."""
    empty = _step_times(steps)
    handed = _hand_overs(steps // 10)
    lock, condition = threading.Lock(), threading.Condition()
    bell = Bell(lock)
    return {
        "steps": steps,
        "step_median": round(statistics.median(empty), 1),
        "step_mean": round(statistics.fmean(empty), 1),
        "step_highest_block": round(max(empty), 1),
        "hand_over_median": round(statistics.median(handed), 1),
        "hand_over_highest_of_100": round(statistics.quantiles(handed, n=100)[-1], 1),
        "wake_with_bell": round(_waking(lock, bell.wait, bell.ring), 1),
        "wake_with_condition": round(_waking(condition, condition.wait, condition.notify), 1),
    }


def _nothing(parcel: Parcel) -> None:
    del parcel


def _step_times(steps: int) -> list[float]:
    lanes = [
        Lane("host", 4, (Stage("load", _nothing), Stage("upload", _nothing))),
        Lane("ready", 3, (Stage("preprocess", _nothing), Stage("transfer", _nothing)), 16),
    ]
    moments = []
    with Feeder(range(steps), lanes, in_flight_bytes=2**30, stage_timeout=300.0) as feeder:
        for parcel in feeder:
            if parcel.step % BLOCK == 0:
                moments.append(time.perf_counter())
    return [1e6 * (after - before) / BLOCK for before, after in pairwise(moments)]


def _waking(lock: AbstractContextManager, wait: Sleep, ring: Callable[[], None]) -> float:
    """What waking a thread costs the one that does it, on a processor that slept just now."""
    stopping, costs = threading.Event(), []

    def sleeper() -> None:
        with lock:
            while not stopping.is_set():
                wait(1.0)

    thread = threading.Thread(target=sleeper, daemon=True)
    thread.start()
    for _ in range(WAKES):
        time.sleep(PAUSE)
        begin = time.perf_counter()
        with lock:
            ring()
        costs.append(1e6 * (time.perf_counter() - begin))
    stopping.set()
    thread.join()
    return statistics.median(costs)


def _hand_overs(steps: int) -> list[float]:
    """From the end of the last stage to the consumer's hands, when the consumer was waiting."""
    lane = Lane("ready", 3, (Stage("prepare", lambda _: time.sleep(PAUSE)),))
    taken = []
    with Feeder(range(steps), [lane]) as feeder:
        for parcel in feeder:
            taken.append(1e6 * (time.perf_counter() - parcel.finished["prepare"]))
    return taken
