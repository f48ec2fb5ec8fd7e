"""Recommended settings into a configuration file: shown as a diff, applied with a backup.

Comments and order of the file stay. Which settings are recommended is the findings' business.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from myxtts import config_file
from myxtts.files import write_atomically


def diff(path: Path, settings: Mapping[str, Any]) -> str:
    """What would change, as a unified diff; empty when nothing would."""
    before = path.read_text(encoding="utf-8-sig")
    after = config_file.set_values(path, settings) if settings else before
    return "".join(
        difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            fromfile=str(path),
            tofile=f"{path} (recommended)",
        )
    )


def apply(path: Path, settings: Mapping[str, Any]) -> Path:
    """Write the settings into the file; returns the backup of what it was."""
    changed = config_file.set_values(path, settings)
    backup = _free_name(path)
    write_atomically(backup, path.read_bytes())
    write_atomically(path, changed.encode())
    return backup


def _free_name(path: Path) -> Path:
    number = 1
    while (backup := path.with_name(f"{path.name}.backup-{number}")).exists():
        number += 1
    return backup
