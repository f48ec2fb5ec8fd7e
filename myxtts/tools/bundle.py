"""One archive for a maintainer: what the machine is, what was told to it, what the last run did.

Text and JSON only; never audio, and transcripts only when the user says so. Everything passes
through `redaction` before it is packed, and the manifest says what is inside and what was removed.
The order and the times inside the archive are fixed: the same content makes the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import zipfile
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from myxtts import __version__
from myxtts.errors import UserError
from myxtts.files import write_atomically
from myxtts.telemetry import session
from myxtts.telemetry.run_log import machine
from myxtts.tools.environment import Environment
from myxtts.tools.redaction import Redactor, is_secret
from myxtts.tools.summary import summarize

LARGE = 2_000_000
"""Bytes of a recording from which on only its head and its tail are sent."""
HEAD_LINES, TAIL_LINES = 200, 2000
LOG_LINES = 500
TRANSCRIPT_LINES = 100
WHEN = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the archive: a fixed one, so that equal content gives equal bytes."""
VARIABLES = ("CUDA_", "MYXTTS_", "NCCL_", "NVIDIA_", "OMP_", "TF_", "XLA_", "LD_LIBRARY_PATH",
             "PYTHONPATH", "LANG", "LC_ALL")  # fmt: skip
_PACKAGES = (
    "myxtts", "tensorflow", "tensorflow-cpu", "keras", "numpy", "scipy", "soundfile", "pydantic",
    "ruamel.yaml", "typer", "rich", "num2words", "py3langid", "nvidia-ml-py", "espeakng-loader",
    "nvidia-cudnn-cu12", "nvidia-cuda-runtime-cu12",
)  # fmt: skip
_README = """A help bundle of MyXTTS {version}.

manifest.json lists what is inside, and what was removed from it. Look through it before you send
it: it is text only.
"""


def collect(
    found: Environment,
    checks: Sequence[Mapping[str, Any]],
    *,
    config: Path | None,
    run: Path | None,
    transcripts: Path | None = None,
) -> dict[str, str]:
    """{name in the archive: text}, not redacted yet; what cannot be read says so in its place."""
    files = {
        "README.txt": _README.format(version=__version__),
        "system.json": _json(_system()),
        "gpus.json": _json(found.as_json()),
        "doctor.json": _json({"checks": list(checks)}),
    }
    if config is not None:
        files["config.yaml"] = _attempt(lambda: config.read_text(encoding="utf-8-sig"))
    if run is not None:
        files |= _of_run(run)
    if transcripts is not None:
        files["transcripts.txt"] = _attempt(lambda: _head(transcripts, TRANSCRIPT_LINES))
    return files


def pack(files: Mapping[str, str], redact: Redactor) -> bytes:
    """The archive, its manifest first."""
    clean = {name: redact(text) for name, text in sorted(files.items())}
    manifest = {
        "bundle": 1,
        "myxtts": __version__,
        "files": [
            {"name": name, "bytes": len(text.encode()), "sha256": _digest(text)}
            for name, text in clean.items()
        ],
        "removed": {kind: count for kind, count in sorted(redact.removed.items()) if count},
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in ({"manifest.json": _json(manifest)} | clean).items():
            entry = zipfile.ZipInfo(name, WHEN)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text.encode(), zipfile.ZIP_DEFLATED, 6)
    return stream.getvalue()


def write(path: Path, files: Mapping[str, str], redact: Redactor | None = None) -> dict[str, Any]:
    """Write the archive; returns its manifest."""
    content = pack(files, redact or Redactor())
    write_atomically(path, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        manifest: dict[str, Any] = json.loads(archive.read("manifest.json"))
    return manifest


def last_run(folder: Path) -> Path | None:
    """The newest recording below a folder of runs; None: there is none."""
    found = [file for file in folder.glob("*/run.jsonl") if file.is_file()]
    return max(found, key=lambda file: file.stat().st_mtime).parent if found else None


def _system() -> dict[str, Any]:
    variables = {
        name: "<removed>" if is_secret(name) else value
        for name, value in sorted(os.environ.items())
        if name.startswith(VARIABLES)
    }
    return {
        "machine": machine(),
        "platform": platform.platform(),
        "versions": {name: _version(name) for name in _PACKAGES},
        "variables": variables,
    }


def _of_run(run: Path) -> dict[str, str]:
    """The recording, what is said about it, and the last lines of the texts beside it."""
    recording = run / "run.jsonl" if run.is_dir() else run
    files = {
        "run/run.jsonl": _attempt(lambda: _shortened(recording)),
        "run/summary.json": _attempt(
            lambda: _json(summarize(session.load(recording)).as_json())
        ),
    }  # fmt: skip
    for pattern in ("*.yaml", "*.log", "*.txt"):
        for file in sorted(recording.parent.glob(pattern)):
            files[f"run/{file.name}"] = _attempt(lambda file=file: _tail(file, LOG_LINES))  # type: ignore[misc]
    return files


def _shortened(path: Path) -> str:
    """A recording; of a large one the head and the tail, with a word in between."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    lines = text.splitlines(keepends=True)
    if len(text) <= LARGE or len(lines) <= HEAD_LINES + TAIL_LINES:
        return text
    left_out = len(lines) - HEAD_LINES - TAIL_LINES
    between = json.dumps({"kind": "left_out", "t": 0, "lines": left_out}) + "\n"
    return "".join([*lines[:HEAD_LINES], between, *lines[-TAIL_LINES:]])


def _head(path: Path, lines: int) -> str:
    return "".join(path.read_text(encoding="utf-8", errors="replace").splitlines(True)[:lines])


def _tail(path: Path, lines: int) -> str:
    return "".join(path.read_text(encoding="utf-8", errors="replace").splitlines(True)[-lines:])


def _attempt(read: Callable[[], str]) -> str:
    """A text, or why there is none: one file that cannot be read must not cost the others."""
    try:
        return read()
    except (OSError, UnicodeDecodeError, UserError) as error:
        return f"could not be read: {error}\n"


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _json(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
