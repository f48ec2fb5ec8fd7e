"""How a run is looked at while it runs: what is planted, what stands in for the model, the rates.

A profile hands this to its child process in a file beside the configuration, so that no key of a
user's configuration can slow a run down. A training run has none.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from myxtts.files import write_atomically
from myxtts.training.planting import NOTHING, Planted


@dataclass(frozen=True)
class Study:
    """Of one run."""

    planted: Planted = NOTHING
    dummy_step: float | None = None
    """Seconds of a step of the stand-in for the model; None: the model itself trains."""
    rates: bool = False
    """Measure every stage on its own after the last step, and tell reading from decoding."""

    def save(self, path: Path) -> None:
        """Write it for `load`."""
        tree = {
            "planted": self.planted.as_json(),
            "dummy_step": self.dummy_step,
            "rates": self.rates,
        }
        write_atomically(path, json.dumps(tree).encode())

    @classmethod
    def load(cls, path: Path) -> Study:
        """Of a file that `save` wrote; a run without one is not studied."""
        if not path.exists():
            return cls()
        tree = json.loads(path.read_text())
        return cls(Planted.from_json(tree["planted"]), tree["dummy_step"], tree["rates"])
