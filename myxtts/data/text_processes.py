"""Transcripts to token ids in several processes, in the order in which they were given.

espeak-ng keeps global state, so each process has its own. They are plain child processes that ask
nothing of the caller's main module. This file is both ends: imported it is the asking side, run
with `python -m` it is the answering side. Whether processes are worth their start, `text_cache`
decides.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

import numpy as np

from myxtts.errors import UserError
from myxtts.text.tokenizer import Encoded, Tokenizer, Units

_CHUNK = 256  # transcripts in one question: small beside the work of answering it
_AHEAD = 2  # questions for each process, so that none waits for the asking side

Text = tuple[str, str]
"""(transcript, language code)"""


def encode_in_processes(
    texts: Sequence[Text], tokenizer: Tokenizer, processes: int
) -> Iterator[Encoded]:
    """What `tokenizer.encode` gives for each text."""
    with ExitStack() as stack:
        idle: SimpleQueue[_Reader] = SimpleQueue()
        for _ in range(processes):
            idle.put(stack.enter_context(_Reader(tokenizer)))
        pool = ThreadPoolExecutor(processes, thread_name_prefix="text")  # threads only wait
        stack.callback(pool.shutdown, wait=True, cancel_futures=True)

        def ask(chunk: Sequence[Text]) -> list[Encoded]:
            reader = idle.get()
            try:
                return reader.encode(chunk)
            finally:
                idle.put(reader)

        asked: deque[Future[list[Encoded]]] = deque()
        for start in range(0, len(texts), _CHUNK):
            asked.append(pool.submit(ask, texts[start : start + _CHUNK]))
            if len(asked) > _AHEAD * processes:
                yield from asked.popleft().result()
        while asked:
            yield from asked.popleft().result()


class _Reader:
    """One answering process; a context manager, used by one thread at a time."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "myxtts.data.text_processes", self._tokenizer.units],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def encode(self, texts: Sequence[Text]) -> list[Encoded]:
        """One question and its answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(texts).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it ended; the empty answer below says so
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {}
        ids = np.frombuffer(self._process.stdout.read(2 * sum(answer.get("lengths", ()))), "<i2")
        if answer.get("fingerprint") != self._tokenizer.fingerprint:
            raise UserError(
                "A process that reads transcripts ended, or reads them in another way",
                received=f"exit code {self._process.poll()}, {len(texts)} transcripts unread",
                follows="the transcripts before these are kept in the cache",
                remedy="run the same command again, or with one process: --num-workers 1",
            )
        parts = np.split(ids, np.cumsum(answer["lengths"])[:-1])
        unknown = {int(row): Counter(counts) for row, counts in answer["unknown"].items()}
        return [Encoded(part, unknown.get(row, Counter())) for row, part in enumerate(parts)]


def _answer(units: Units) -> None:
    """The answering side: one JSON line in, one JSON line and the ids out, until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the asking side's to answer
    tokenizer = Tokenizer(units)
    for line in sys.stdin.buffer:
        encoded = [tokenizer.encode(text, language) for text, language in json.loads(line)]
        answer = {
            "fingerprint": tokenizer.fingerprint,
            "lengths": [len(one.ids) for one in encoded],
            "unknown": {row: one.unknown for row, one in enumerate(encoded) if one.unknown},
        }
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.write(b"".join(one.ids.astype("<i2").tobytes() for one in encoded))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _answer(sys.argv[1])  # type: ignore[arg-type]
