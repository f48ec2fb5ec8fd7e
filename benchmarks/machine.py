"""What a figure was measured on: processor, memory, load, versions."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "myxtts", "numpy", "scipy", "soundfile", "tensorflow-cpu", "tensorflow", "keras",
    "espeakng-loader", "torch", "numba", "librosa", "nvidia-dali-cuda120", "phonemizer",
    "matplotlib",
)  # fmt: skip


def describe() -> dict[str, Any]:
    """The machine, and how busy it is now."""
    return {
        "cpu": _field("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(int(_field("/proc/meminfo", "MemTotal").split()[0]) / 1e6, 1),
        "system": platform.platform(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }


def versions() -> dict[str, str]:
    """Of Python and of every package that takes part and is installed."""
    found = {"python": sys.version.split()[0]}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def memory_mb(field: str) -> float:
    """A memory figure of this process: `VmRSS` now, `VmHWM` at most since `forget_peak`."""
    return int(_field("/proc/self/status", field).split()[0]) / 1e3


def forget_peak() -> None:
    """Let `VmHWM` begin again from what is in use now."""
    Path("/proc/self/clear_refs").write_text("5")


def _field(path: str, name: str) -> str:
    for line in Path(path).read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    raise KeyError(f"{path} has no {name}")
