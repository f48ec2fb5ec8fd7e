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
        self._ended: float | None = None

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

    def close(self) -> None:
        """The books end here: what comes after belongs to no account."""
        self._switch(self._current)
        self._ended = self._since

    @property
    def wall(self) -> float:
        """Seconds since the ledger was opened, until it was closed."""
        return self._now() - self._started

    def totals(self) -> dict[Account, float]:
        """Seconds per account up to now; they sum to the wall time."""
        self._switch(self._current)
        return dict(self._seconds)

    def _now(self) -> float:
        return self._clock() if self._ended is None else self._ended

    def _switch(self, name: Account) -> Account:
        now = self._now()
        self._seconds[self._current] += now - self._since
        self._since = now
        before, self._current = self._current, name
        return before
