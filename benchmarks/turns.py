"""Contenders that take turns: each in a process of its own, asleep while it has no turn.

Libraries that disturb each other (TensorFlow, PyTorch, DALI) never share a process. What a turn
is and how it is measured is the contender's business.
"""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any


class Missing(Exception):
    """A contender's library is not installed."""


class Contestant:
    """The iterator that `start(*args)` gives, living in its own process."""

    def __init__(self, name: str, start: Callable[..., Iterator[Any]], *args: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, far = context.Pipe()
        self._process = context.Process(target=_serve, args=(start, args, far), name=name)
        self._process.start()
        far.close()

    def turn(self) -> Any:
        """The iterator's next value; `Missing`, or `RuntimeError` with what went wrong there."""
        self._connection.send("next")
        try:
            kind, answer = self._connection.recv()
        except EOFError:
            self._process.join()
            kind, answer = "failed", f"its process ended with code {self._process.exitcode}"
        if kind == "missing":
            raise Missing(answer)
        if kind == "failed":
            raise RuntimeError(f"{self._process.name} failed: {answer}")
        return answer

    def end(self) -> None:
        """Let the process go."""
        self._connection.close()
        self._process.join()


def _serve(start: Callable[..., Iterator[Any]], args: tuple[Any, ...], to: Connection) -> None:
    """The contender's process: a value for every request until the pipe closes."""
    try:
        to.recv()
        values = start(*args)
        while True:
            to.send(("value", next(values)))
            to.recv()
    except EOFError:
        os._exit(0)  # some libraries' threads do not end by themselves
    except ImportError as error:
        to.send(("missing", f"not installed ({error})"))
    except Exception:
        to.send(("failed", traceback.format_exc()))
    os._exit(1)
