"""The exact change that answers each verdict, from the settings that the run had."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from myxtts.telemetry.session import Session
from myxtts.tools.findings import (
    Change,
    data_settings,
    deeper_ring,
    fewer_padding,
    look_at,
    remedy,
)

ENOUGH_DEPTH = 16
SMALL_SHARE = 0.02
"""Of the time, in checkpoints or validation: after the change it should be about this."""

_INTERVALS = {"checkpointing": "checkpoint_interval", "validation": "validation_interval"}


def cause(session: Session, name: str, lost: float, swinging: Sequence[str]) -> Change:
    """What to change when `name` takes the share `lost`; `swinging`: the stages that are uneven."""
    data = data_settings(session)
    if name in _INTERVALS:
        return _rarer(session, _INTERVALS[name], lost)
    if name == "disk" and not data.get("cache_dataset", False):
        return Change({"data.cache_dataset": True})
    if name in ("disk", "decode"):
        return remedy(session, "load")
    if name in ("preprocess", "transfer"):
        return remedy(session, name)
    if name == "buffer":
        return _deeper(session)
    if name == "jitter":
        return remedy(session, next(iter(swinging), ""))
    if name == "recompilation":
        fixed = data.get("pad_to_fixed_length", True)
        return Change(command=look_at(session)) if fixed else _settings("pad_to_fixed_length", True)
    if name == "padding":
        return fewer_padding(data, len(session.header.get("buckets", [])))
    return Change()


def depth_limit(session: Session) -> int:
    """The most batches that may wait for training in the last ring."""
    data = data_settings(session)
    key, _ = deeper_ring(data, ENOUGH_DEPTH)
    return min(int(data.get(key) or 1), int(data.get("pipeline_buffer_size") or ENOUGH_DEPTH))


def _deeper(session: Session) -> Change:
    """Whichever key keeps the ring from being deeper."""
    data = data_settings(session)
    key, _ = deeper_ring(data, ENOUGH_DEPTH)
    in_flight = int(data.get("pipeline_buffer_size") or ENOUGH_DEPTH)
    if in_flight < int(data.get(key) or 1):
        return _settings("pipeline_buffer_size", max(50, in_flight))
    return _settings(key, ENOUGH_DEPTH)


def _rarer(session: Session, key: str, lost: float) -> Change:
    """Long enough apart that the pauses take a small share."""
    interval = int(session.header.get("config", {}).get("training", {}).get(key) or 1)
    times = math.ceil(lost / max(1e-9, 1.0 - lost) * (1.0 - SMALL_SHARE) / SMALL_SHARE)
    return Change({f"training.{key}": interval * max(2, times)})


def _settings(key: str, value: Any) -> Change:
    return Change({f"data.{key}": value})
