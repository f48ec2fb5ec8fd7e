"""A process of its own for a contender, which answers one question again and again.

Libraries that disturb each other (TensorFlow, PyTorch, DALI) never share a process, and a process
that is not asked sleeps.
"""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

Answers = Callable[..., Iterator[Any]]
"""A generator: the first answer says that the contender is ready, every later one is asked for.
It is found again by name in the new process."""


class Server:
    """The process, seen from here."""

    def __init__(self, name: str, answers: Answers, *arguments: Any) -> None:
        """Start it and wait until it is ready."""
        context = multiprocessing.get_context("spawn")
        self._connection, far = context.Pipe()
        self._process = context.Process(target=_serve, args=(answers, arguments, far), name=name)
        self._process.start()
        far.close()
        self.missing: str | None = None
        """Why there is no such contender."""
        self.ready: Any = None
        """Its first answer."""
        kind, answer = self._receive()
        if kind == "answer":
            self.ready = answer
        else:
            self.missing = answer

    def ask(self) -> Any:
        """The next answer."""
        self._connection.send("next")
        kind, answer = self._receive()
        if kind == "problem":
            raise RuntimeError(f"{self._process.name} failed: {answer}")
        return answer

    def end(self) -> None:
        self._connection.close()
        self._process.join()

    def _receive(self) -> tuple[str, Any]:
        try:
            answer: tuple[str, Any] = self._connection.recv()
        except EOFError:
            self._process.join()
            return "problem", f"its process ended with code {self._process.exitcode}"
        return answer


def _serve(answers: Answers, arguments: tuple[Any, ...], connection: Connection) -> None:
    try:
        for answer in answers(*arguments):
            connection.send(("answer", answer))
            connection.recv()
    except EOFError:
        os._exit(0)  # some libraries' threads do not end by themselves
    except ImportError as error:
        connection.send(("problem", f"not installed ({error})"))
    except Exception:
        connection.send(("problem", traceback.format_exc()))
    os._exit(1)
