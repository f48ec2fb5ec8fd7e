"""The best that any pipeline of a given depth could do with given times. Pure arithmetic.

One thread prepares, `depth` buffers wait behind it, the consumer trains; handing over is free:

    prepared(i) = started(i) + prepare(i)            put(i) = max(prepared(i), taken(i - depth))
    started(i + 1) = put(i)                          taken(i) = max(put(i), trained(i - 1))
"""

from __future__ import annotations

from collections.abc import Sequence


def seconds(prepare: Sequence[float], train: Sequence[float], depth: int) -> float:
    """From the moment the consumer holds the first batch to the end of its last step."""
    taken: list[float] = []
    started = trained = 0.0
    for number, (preparing, training) in enumerate(zip(prepare, train, strict=True)):
        put = started + preparing
        if number >= depth:
            put = max(put, taken[number - depth])
        started = put
        taken.append(max(put, trained))
        trained = taken[-1] + training
    return trained - taken[0]


def one_after_the_other(prepare: Sequence[float], train: Sequence[float]) -> float:
    """The same without any overlap."""
    return sum(train) + sum(prepare[1:])
