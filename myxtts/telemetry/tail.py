"""A run.jsonl that another process is still writing, read as it grows.

Each `read` gives the lines that have become whole since the one before. A line that is only half
there waits for its rest. What the lines mean is the caller's business.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from myxtts.telemetry.session import parsed


class Tail:
    """Where the reading of one file has got to; belongs to one thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = 0
        """Whole lines that could not be understood."""
        self._offset = 0
        self._rest = b""

    def exists(self) -> bool:
        """Whether there is anything to read yet."""
        return self.path.is_file()

    def read(self) -> list[dict[str, Any]]:
        """The events since the last call; none while the file is not there."""
        try:
            with self.path.open("rb") as stream:
                if stream.seek(0, 2) < self._offset:  # another run took the file's place
                    self._offset, self._rest = 0, b""
                stream.seek(self._offset)
                new = stream.read()
        except FileNotFoundError:
            return []
        self._offset += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        events = [parsed(line) for line in lines if line.strip()]
        self.damaged += sum(event is None for event in events)
        return [event for event in events if event is not None]
