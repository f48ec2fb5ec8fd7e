"""What every benchmark says while it runs, remembers of the machine, and leaves in a folder."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine

from myxtts.files import write_atomically

RESULTS = Path(__file__).parent / "results"
"""Where whole runs leave their results; quick and partial ones are written where they are told."""

Say = Callable[[str], None]
"""Takes a line about the work."""


class Notes:
    """One run of a benchmark."""

    def __init__(self, **told: Any) -> None:
        """`told` is what the result says of the run besides machine and versions."""
        self._begin = time.monotonic()
        self._told = {"machine": machine.describe(), "versions": machine.versions(), **told}

    def say(self, line: str) -> None:
        """A line for whoever waits, with the seconds so far."""
        print(f"{time.monotonic() - self._begin:6.0f} s  {line}", file=sys.stderr, flush=True)

    def about(self) -> dict[str, Any]:
        """What was told, how long it took until now, and how busy the machine is."""
        return {
            **self._told,
            "seconds": round(time.monotonic() - self._begin),
            "load_average_at_the_end": machine.describe()["load_average"],
        }


def write(
    folder: Path, name: str, result: dict[str, Any], plot: Callable[[Path], None] | None = None
) -> None:
    """`name`.json and, drawn by `plot`, `name`.png."""
    content = json.dumps(result, indent=2, ensure_ascii=False, default=str) + "\n"
    write_atomically(folder / f"{name}.json", content.encode())
    if plot is None:
        return
    try:
        plot(folder / f"{name}.png")
    except ImportError:
        print("no plot: matplotlib is not installed", file=sys.stderr)
