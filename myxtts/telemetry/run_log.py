"""run.jsonl: one line of JSON per event, from the first second of a run to its end.

Any thread may write. Lines are appended and flushed at least every second, so a killed run leaves
all but its last moments; `session` reads them back. What an event means is the writer's business.

    {"kind": "header", "schema": 1, "machine": {…}, "config": {…}, "plan": {…}}
    {"kind": "step", "t": 12.3, "step": 40, "seconds": 0.19, "wait": 0.01, …}
    {"kind": "end", "reason": "finished", "wall": 61.2, "accounts": {…}}
"""

from __future__ import annotations

import json
import os
import platform
import threading
import time
from pathlib import Path
from typing import Any, Self

from myxtts.files import explained
from myxtts.telemetry.accounts import Clock

SCHEMA = 1
FLUSH_SECONDS = 1.0


class RunLog:
    """Appends events to a run.jsonl; `t` is seconds since this log was opened."""

    def __init__(self, path: Path, clock: Clock = time.perf_counter) -> None:
        self.path = path
        self._clock = clock
        self._started = self._flushed = clock()
        self._lock = threading.Lock()
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = path.open("a", encoding="utf-8")

    def since(self, moment: float) -> float:
        """The `t` of a moment by this log's clock."""
        return round(moment - self._started, 6)

    def write(self, kind: str, **fields: Any) -> None:
        """Append one event; after `close`, events of late threads are dropped.

        `t` is now, unless `fields` has one: that of what happened a moment ago.
        """
        now = self._clock()
        line = json.dumps({"kind": kind, "t": self.since(now), **fields}, default=str)
        with self._lock, explained(self.path):
            if self._stream.closed:
                return
            self._stream.write(line + "\n")
            if now - self._flushed >= FLUSH_SECONDS:
                self._stream.flush()
                self._flushed = now

    def close(self) -> None:
        """Put everything on the disk."""
        with self._lock, explained(self.path):
            if not self._stream.closed:
                self._stream.flush()
                os.fsync(self._stream.fileno())
                self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def machine() -> dict[str, Any]:
    """What a reader of figures must know of the machine they come from."""
    pages, page_size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": _cpu_name(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gb": round(pages * page_size / 2**30, 1),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
    }


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
