"""Drive a short real training run and hand back what it recorded.

A measured run gets a process of its own: devices can be placed only once in a process, several
configurations can be measured one after the other, and a run that dies leaves the tool alive. The
child is this module's `main`; it trains and, when the user must fix something, says so in a file.
Judging the recording is `findings`' job.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from myxtts import config_file
from myxtts.config import Config, parse
from myxtts.errors import COULD_NOT_MEASURE, MeasurementError, UsageError, UserError
from myxtts.files import explained, write_atomically
from myxtts.telemetry.session import Session, Step, load

if TYPE_CHECKING:
    from myxtts.training.progress import Report

Notice = Callable[[str], None]

DEMO_CLIPS = 96
DEMO_SEED = 0
STANDARD_ERROR = 2
_MISTAKE = "mistake.json"


def short_run(config: Config, folder: Path, *, steps: int) -> Config:
    """The same configuration, told to train `steps` steps into `folder` and nothing beside it."""
    if steps < 3:
        raise UsageError(
            "A profile needs at least 3 steps: the first one is not counted",
            received=f"--num-steps {steps}",
            remedy="--num-steps 100",
        )
    training = config.training.model_dump() | {
        "epochs": steps,  # an epoch has at least one step
        "max_steps": steps,
        "output_dir": str(folder),
        "checkpoint_dir": None,
        "checkpoint_interval": steps + 1,
        "report_interval": max(1, min(10, steps // 3)),
    }
    data = config.data.model_dump() | {"val_data": None}
    return parse(config.model_dump() | {"data": data, "training": training}, "the profile")


def on_devices(
    config: Config, *, data_gpu: int | None, model_gpu: int | None, virtual_gpus: int
) -> Config:
    """The same configuration on these devices; both None: on one."""
    data = config.data.model_dump() | {
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


def profile(config: Config, folder: Path, *, steps: int, notice: Notice) -> Session:
    """Train a few steps in a process of its own, recorded in `folder`."""
    if (folder / "run.jsonl").exists():
        raise UsageError(
            f"{folder} already holds a run", remedy="name another folder with --output"
        )
    wanted = short_run(with_corpus(config, notice), folder, steps=steps)
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    told = folder / "profile.yaml"
    config_file.save(wanted, told)
    code = _run_child(told)
    _raise_mistake(folder / _MISTAKE)
    if code != 0:
        raise MeasurementError(
            "The profiled run died before its end",
            received=f"exit code {code}" if code > 0 else f"signal {-code}",
            follows=f"what it recorded until then is in {folder}",
            remedy="try a smaller --batch-size, and read what it printed above",
        )
    return load(folder)


def fresh_folder(purpose: str) -> Path:
    """A new folder for one recording: `runs/profile-001`, …"""
    number = 1
    while (folder := Path("runs") / f"{purpose}-{number:03}").exists():
        number += 1
    return folder


def _run_child(told: Path) -> int:
    # Its words go to standard error: standard output belongs to the tool's result.
    here = str(Path(__file__).parents[2])  # the package need not be installed
    paths = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3"} | os.environ | {"PYTHONPATH": paths}
    command = [sys.executable, "-m", "myxtts.tools.profile_run", str(told)]
    return subprocess.run(command, stdout=STANDARD_ERROR, env=environment, check=False).returncode


def _raise_mistake(path: Path) -> None:
    if not path.exists():
        return
    mistake = json.loads(path.read_text())
    code = mistake.pop("exit_code")
    kinds = {kind.exit_code: kind for kind in (UsageError, MeasurementError)}
    raise kinds.get(code, UserError)(mistake.pop("rule"), **mistake)


def _demo_folder(config: Config) -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    base = Path(home) / "myxtts"
    if not os.access(base.parent if base.parent.exists() else Path.home(), os.W_OK):
        base = Path(tempfile.gettempdir()) / "myxtts"
    return base / f"demo-corpus-{DEMO_CLIPS}-{'-'.join(config.data.languages)}"


class _Lines:
    """A run's words on standard error."""

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def preparing(self, phase: str, done: int, total: int) -> None:
        if done == total:
            self.say(f"{phase}: {total}")

    def stepped(self, step: Step, total_steps: int) -> None: ...

    def reported(self, report: Report) -> None:
        self.say(report.line())


def main(told: Path) -> int:
    """The child: train as told; a user's mistake goes into a file beside the recording."""
    try:
        from myxtts.training.run import train

        train(config_file.load(told), _Lines())
    except UserError as error:
        mistake = {
            "rule": error.rule,
            "received": error.received,
            "follows": error.follows,
            "remedy": error.remedy,
            "exit_code": error.exit_code,
        }
        write_atomically(told.with_name(_MISTAKE), json.dumps(mistake, default=str).encode())
        return error.exit_code
    except KeyboardInterrupt:
        return COULD_NOT_MEASURE
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
