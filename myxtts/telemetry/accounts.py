"""Where the wall time of a run went: every second in exactly one account.

The `Ledger` belongs to the thread that trains. At any moment it is in one account, so the accounts
sum to the wall time by construction and not by estimate. Other threads' work shows in their queues'
waits, never here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

Account = Literal[
    "data_wait", "transfer", "training", "compiling", "validating", "checkpointing", "other"
]
ACCOUNTS: tuple[Account, ...] = (
    "data_wait", "transfer", "training", "compiling", "validating", "checkpointing", "other",
)  # fmt: skip
Clock = Callable[[], float]


class Ledger:
    """Seconds per account of one thread."""

    def __init__(self, clock: Clock = time.perf_counter) -> None:
        self._clock = clock
        self._started = self._since = clock()
        self._current: Account = "other"
        self._seconds: dict[Account, float] = dict.fromkeys(ACCOUNTS, 0.0)

    @contextmanager
    def account(self, name: Account) -> Iterator[None]:
        """Book the time of the block to `name`; blocks inside it book to their own account."""
        outer = self._switch(name)
        try:
            yield
        finally:
            self._switch(outer)

    def move(self, seconds: float, source: Account, target: Account) -> None:
        """Book part of what `source` received to `target`, once its cause is known."""
        self._switch(self._current)
        seconds = min(max(seconds, 0.0), self._seconds[source])
        self._seconds[source] -= seconds
        self._seconds[target] += seconds

    @property
    def wall(self) -> float:
        """Seconds since the ledger was opened."""
        return self._clock() - self._started

    def totals(self) -> dict[Account, float]:
        """Seconds per account up to now; they sum to the wall time."""
        self._switch(self._current)
        return dict(self._seconds)

    def _switch(self, name: Account) -> Account:
        now = self._clock()
        self._seconds[self._current] += now - self._since
        self._since = now
        before, self._current = self._current, name
        return before
