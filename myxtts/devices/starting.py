"""TensorFlow before it starts: found, imported quietly, and told about devices in time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from myxtts.errors import UserError

_INSTALL = 'pip install "myxtts[cpu]" (without a GPU) or pip install "myxtts[gpu]"'


def require_tensorflow() -> Any:
    """The tensorflow module, or an error that says how to install it."""
    if not _is_installed():
        raise UserError(
            "TensorFlow is not installed",
            follows="nothing can be trained, spoken or measured",
            remedy=_INSTALL,
        )
    try:
        with _quiet_import():
            import tensorflow
    except ImportError as broken:
        raise UserError(
            "TensorFlow is installed but cannot be loaded",
            received=str(broken).partition("\n")[0],
            follows="nothing can be trained, spoken or measured",
            remedy=f"install it again: {_INSTALL}",
        ) from broken
    return tensorflow


def _is_installed() -> bool:
    try:
        return find_spec("tensorflow") is not None
    except (ImportError, ValueError):  # something stands in its way
        return False


@contextmanager
def _quiet_import() -> Iterator[None]:
    """TensorFlow's native libraries write notices to descriptor 2 that no setting turns off."""
    if "tensorflow" in sys.modules or os.environ.get("MYXTTS_DEBUG"):
        yield
        return
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def before_start(call: Any, *arguments: object) -> None:
    """A setting that TensorFlow accepts only before it has started."""
    try:
        call(*arguments)
    except RuntimeError as error:
        raise UserError(
            "Devices must be chosen before TensorFlow starts",
            received=str(error),
            follows="the plan cannot be changed in this process any more",
            remedy="call myxtts.devices.place before any other TensorFlow call",
        ) from error
