"""Drive a short real training run and hand back what it recorded.

A measured run gets a process of its own (`training.child_run`). Judging the recording is
`findings`' job.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from myxtts.config import Config, parse
from myxtts.errors import UsageError
from myxtts.telemetry.session import Session
from myxtts.training import child_run
from myxtts.training.study import Study

Notice = Callable[[str], None]

DEMO_CLIPS = 96
DEMO_SEED = 0
PLAIN = Study(rates=True)


def short_run(config: Config, folder: Path, *, steps: int) -> Config:
    """The same configuration, told to train `steps` steps into `folder` and nothing beside it."""
    if steps < 3:
        raise UsageError(
            "A profile needs at least 3 steps: the first one is not counted",
            received=f"--num-steps {steps}",
            remedy="--num-steps 100",
        )
    return child_run.shortened(config, folder, steps)


def on_devices(
    config: Config, *, data_gpu: int | None, model_gpu: int | None, virtual_gpus: int
) -> Config:
    """The same configuration on these devices; both None: on one."""
    data = config.data.model_dump() | {
        "device_plan": "default",
        "data_gpu": data_gpu,
        "model_gpu": model_gpu,
        "virtual_gpus": virtual_gpus,
    }
    if data_gpu is None:
        isolation = ("enable_memory_isolation", "data_gpu_memory", "model_gpu_memory")
        data |= dict.fromkeys(isolation[1:]) | {isolation[0]: False}
    return parse(config.model_dump() | {"data": data}, "the profile")


def with_corpus(config: Config, notice: Notice) -> Config:
    """The configuration as it is, or with a demo corpus when it names none."""
    if config.data.train_data is not None:
        return config
    folder = _demo_folder(config)
    if not (folder / "metadata.csv").exists():
        notice(f"no corpus is configured: a demo corpus is spoken into {folder}")
        from myxtts.data import demo_corpus

        demo_corpus.make(folder, clips=DEMO_CLIPS, seed=DEMO_SEED, languages=config.data.languages)
    else:
        notice(f"no corpus is configured: the demo corpus in {folder} is used")
    return config.replaced({"data.train_data": str(folder)})


def profile(
    config: Config,
    folder: Path,
    *,
    steps: int,
    notice: Notice,
    study: Study = PLAIN,
) -> Session:
    """Train a few steps in a process of its own, recorded in `folder`.

    `study`: what is planted in it, what stands in for the model, and whether every stage is also
    measured on its own.
    """
    if (folder / "run.jsonl").exists():
        raise UsageError(
            f"{folder} already holds a run", remedy="name another folder with --output"
        )
    wanted = short_run(with_corpus(config, notice), folder, steps=steps)
    wanted = wanted.replaced(study.planted.settings)
    return child_run.recorded(wanted, folder, "The profiled run", study=study)


def fresh_folder(purpose: str) -> Path:
    """A new folder for one recording: `runs/profile-001`, …"""
    number = 1
    while (folder := Path("runs") / f"{purpose}-{number:03}").exists():
        number += 1
    return folder


def _demo_folder(config: Config) -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    base = Path(home) / "myxtts"
    if not os.access(base.parent if base.parent.exists() else Path.home(), os.W_OK):
        base = Path(tempfile.gettempdir()) / "myxtts"
    return base / f"demo-corpus-{DEMO_CLIPS}-{'-'.join(config.data.languages)}"
