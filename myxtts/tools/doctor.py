"""Is this installation whole? Python, TensorFlow, driver, speech, disks, configuration, corpus.

Each check looks at one thing and never stops the others; TensorFlow is started in a process of its
own, so that one that crashes is a line here and not the end. Sentences are in `doctor_words`.
Speed of training is not measured here: `diagnose` does that.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from myxtts import config_file
from myxtts.config import Config
from myxtts.errors import GOOD, MUST_FIX, UserError
from myxtts.tools.catalogue import Language
from myxtts.tools.doctor_words import label, meaning
from myxtts.tools.environment import Environment

OLDEST_PYTHON = (3, 11)
FEWEST_CORES = 2
LEAST_MEMORY_GB = 4.0
LEAST_FREE_GB = 2.0
"""A small corpus, its features and a few checkpoints."""
SLOW_DISK_MB = 30.0
"""Below this, writing checkpoints and reading features shows in training."""
SPEED_TEST_MB = 16
IMPORT_SECONDS = 180
_LIBRARIES = ("numpy", "scipy", "soundfile", "pydantic", "ruamel.yaml", "rich", "num2words",
              "py3langid")  # fmt: skip
_PROBE = (
    "import json, tensorflow as tf; print(json.dumps({'version': tf.__version__, "
    "'gpu_build': tf.test.is_built_with_cuda(), "
    "'gpus': len(tf.config.list_physical_devices('GPU'))}))"
)

Probe = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Checked:
    """One line: what was found, and what to type."""

    name: str
    good: bool | None
    """None: works, but not as well as it could; or cannot be said here."""
    found: str
    do: str = ""

    def as_json(self, language: Language = "en") -> dict[str, Any]:
        """Plain data with its sentences, for `--json`."""
        words = {"label": label(self.name, language), "meaning": meaning(self.name, language)}
        return asdict(self) | words


def examine(
    found: Environment,
    config: Path | None,
    train_data: str | None,
    probe: Probe | None = None,
) -> Iterator[Checked]:
    """All checks, in the order in which they should be put right."""
    yield _python()
    yield _libraries()
    yield from _tensorflow(found, probe or start_tensorflow)
    yield _driver(found)
    yield _espeak()
    yield _machine(found)
    settings = None
    try:
        settings = Config() if config is None else config_file.load(config)
        where = str(config) if config else "none found: the defaults are used"
        yield Checked("configuration", True if config else None, where,
                      "" if config else "myxtts config init config.yaml")  # fmt: skip
    except UserError as wrong:
        yield Checked("configuration", False, wrong.rule, wrong.remedy)
    settings = settings or Config()
    corpus = train_data or settings.data.train_data
    yield _corpus(corpus)
    yield _disk("runs_disk", Path(settings.training.output_dir))
    cache = settings.data.cache_dir or corpus
    if cache is not None and Path(cache).exists():
        yield _disk("cache_disk", Path(cache))


def exit_code(checks: list[Checked]) -> int:
    """1 when something must be put right."""
    return MUST_FIX if any(check.good is False for check in checks) else GOOD


def start_tensorflow() -> dict[str, Any]:
    """TensorFlow's own account of itself, or `{"error": …}`; takes some seconds."""
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3"} | os.environ
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROBE],
            capture_output=True, text=True, timeout=IMPORT_SECONDS, env=environment, check=False,
        )  # fmt: skip
    except (subprocess.TimeoutExpired, OSError) as error:
        return {"error": str(error)}
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"it ended with {done.returncode}"]
        return {"error": last[0]}
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def _python() -> Checked:
    new_enough = sys.version_info[:2] >= OLDEST_PYTHON
    version = ".".join(map(str, sys.version_info[:3]))
    return Checked(
        "python", new_enough, version, "" if new_enough else "install Python 3.11 or newer"
    )


def _libraries() -> Checked:
    broken = []
    for name in _LIBRARIES:
        try:
            importlib.import_module(name)
        except Exception as error:  # a shared library that is missing raises whatever it likes
            broken.append(f"{name}: {str(error).partition(chr(10))[0]}")
    if broken:
        return Checked(
            "libraries", False, "; ".join(broken), "pip install --force-reinstall myxtts"
        )
    return Checked("libraries", True, f"{len(_LIBRARIES)} load")


def _tensorflow(found: Environment, probe: Probe) -> Iterator[Checked]:
    install = 'pip install "myxtts[gpu]" (without a GPU: "myxtts[cpu]")'
    if found.tensorflow is None:
        yield Checked("tensorflow", False, "not installed", install)
        return
    told = probe()
    if "error" in told:
        yield Checked("tensorflow", False, f"{found.tensorflow}: {told['error']}", install)
        return
    build = "GPU build" if told["gpu_build"] else "CPU build"
    yield Checked("tensorflow", True, f"{told['version']}, {build}")
    if found.gpus:
        seen = f"{told['gpus']} of {len(found.gpus)}"
        whole = told["gpus"] >= len(found.gpus)
        remedy = "" if whole else f"{install}, and look at CUDA_VISIBLE_DEVICES"
        yield Checked("gpus_seen", whole, seen, remedy)


def _driver(found: Environment) -> Checked:
    if not found.gpus:
        reason = found.no_gpu_reason or "the driver shows no GPU"
        return Checked("driver", None, reason, "without a GPU, rehearse with --virtual-gpus 2")
    cards = ", ".join(f"{gpu.index}: {gpu.name or 'N/A'}" for gpu in found.gpus)
    return Checked("driver", True, f"{found.driver or 'N/A'}; {cards}")


def _espeak() -> Checked:
    from myxtts.text import espeak

    try:
        heard = espeak.phonemes("hello", "en-us")
        return Checked("espeak", bool(heard), f"espeak-ng {espeak.version()}")
    except UserError as missing:
        return Checked("espeak", None, missing.rule, 'pip install "myxtts[phonemes]"')
    except (OSError, RuntimeError) as broken:
        return Checked("espeak", False, str(broken), 'pip install "myxtts[phonemes]"')


def _machine(found: Environment) -> Checked:
    enough = found.cores >= FEWEST_CORES and found.memory_gb >= LEAST_MEMORY_GB
    said = f"{found.cores} cores, {found.memory_gb} GB"
    return Checked("machine", True if enough else None, said,
                   "" if enough else "a smaller --batch-size and --model-size tiny")  # fmt: skip


def _corpus(folder: str | None) -> Checked:
    from myxtts.data.ljspeech import read_corpus

    if folder is None:
        return Checked("corpus", None, "none is named", "myxtts demo-corpus corpus --clips 40")
    try:
        clips = read_corpus(Path(folder))
    except UserError as wrong:
        return Checked("corpus", False, wrong.rule, wrong.remedy)
    there = sum(clip.audio.is_file() for clip in clips[:: max(1, len(clips) // 200)])
    if not there:
        return Checked("corpus", False, f"{folder}: its audio is missing",
                       f"myxtts corpus check {folder}")  # fmt: skip
    return Checked("corpus", True, f"{folder}: {len(clips)} clips")


def _disk(name: str, folder: Path) -> Checked:
    """Free space and speed of writing, in the nearest folder that exists."""
    place = next(one for one in (folder.absolute(), *folder.absolute().parents) if one.is_dir())
    free = shutil.disk_usage(place).free / 1e9
    try:
        speed = write_speed(place)
    except OSError as error:
        return Checked(
            name, False, f"{folder}: {error.strerror}", "choose another folder (--output)"
        )
    said = f"{folder}: {free:.1f} GB free, writes {speed:.0f} MB/s"
    if free < LEAST_FREE_GB:
        return Checked(name, False, said, "free some space")
    return Checked(name, True if speed >= SLOW_DISK_MB else None, said)


def write_speed(folder: Path) -> float:
    """MB a second until the bytes are on the disk."""
    content = os.urandom(1_000_000)
    with tempfile.TemporaryFile(dir=folder) as stream:
        started = time.perf_counter()
        for _ in range(SPEED_TEST_MB):
            stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
        return SPEED_TEST_MB / max(time.perf_counter() - started, 1e-9)
