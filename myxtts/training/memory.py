"""How much memory a device has in use."""

from __future__ import annotations

import os
from pathlib import Path

import tensorflow as tf


def memory_mb(device: str) -> int | None:
    """The GPU's memory for a GPU, the process's otherwise; None: not known here."""
    if "GPU" in device:
        return int(tf.config.experimental.get_memory_info(device.strip("/"))["current"] / 2**20)
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20
