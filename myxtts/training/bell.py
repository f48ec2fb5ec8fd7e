"""One thread sleeps, others wake it: what a ring needs of a condition variable, and no more.

A bare lock wakes a thread in a fraction of the time that `threading.Condition` takes, above all on
a processor that has just slept (`benchmarks/pipeline.py --only overhead` times both); and a step
hands over at least twice.
"""

from __future__ import annotations

import threading


class Bell:
    """Of one lock, for one sleeper; call both methods with the lock held."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock
        self._gate = threading.Lock()  # held, except from a ring until the sleeper wakes
        self._gate.acquire()
        self._asleep = False

    def wait(self, timeout: float | None = None) -> None:
        """Give the lock back and sleep until the bell rings or `timeout` seconds are over.

        The lock is held again afterwards, also when Ctrl-C ends the sleep. The sleeper looks for
        itself why it woke.
        """
        self._asleep = True
        try:
            self._lock.release()
            self._gate.acquire(timeout=-1 if timeout is None else timeout)
        finally:
            self._lock.acquire()
            if not self._asleep:
                # It rang. If that came too late for the sleep, the gate stands open: shut it.
                self._gate.acquire(blocking=False)
            self._asleep = False

    def ring(self) -> None:
        """Wake the sleeper, if there is one."""
        if self._asleep:
            self._asleep = False
            self._gate.release()
