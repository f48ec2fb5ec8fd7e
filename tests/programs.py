"""Programs of the repository as users start them: from another folder, nothing installed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*command: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Start a program in `folder` and wait for its end."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment | {"NO_COLOR": "1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
