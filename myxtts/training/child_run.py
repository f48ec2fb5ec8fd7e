"""A training run in a process of its own, recorded in a folder.

Devices can be placed only once in a process; with a child for each run, several configurations can
be measured one after the other, and a run that dies leaves its parent alive. The child is this
module's `main`; it trains and, when the user must fix something, says so in a file. What is
measured, and what follows from it, is the caller's business.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from myxtts import config_file
from myxtts.config import Config, parse
from myxtts.errors import COULD_NOT_MEASURE, MeasurementError, UsageError, UserError
from myxtts.files import explained, write_atomically
from myxtts.telemetry.session import Session, Step, load
from myxtts.training.study import Study

if TYPE_CHECKING:
    from myxtts.training.progress import Report

STANDARD_ERROR = 2
_TOLD, _STUDY, _MISTAKE = "told.yaml", "study.json", "mistake.json"


def shortened(config: Config, folder: Path, steps: int) -> Config:
    """The same configuration, told to train `steps` steps into `folder` and nothing beside it."""
    training = config.training.model_dump() | {
        "epochs": steps,  # an epoch has at least one step
        "max_steps": steps,
        "output_dir": str(folder),
        "checkpoint_dir": None,
        "checkpoint_interval": steps + 1,
        "report_interval": max(1, min(10, steps // 3)),
        "validation_share": 0.0,
        "early_stop_patience": 0,
    }
    data = config.data.model_dump() | {"val_data": None}
    return parse(config.model_dump() | {"data": data, "training": training}, "the short run")


def recorded(
    config: Config,
    folder: Path,
    what: str,
    words: int | IO[bytes] = STANDARD_ERROR,
    study: Study | None = None,
) -> Session:
    """Train as told, into `folder`; what the run says goes to `words`.

    `what` names the run when it dies. A mistake of the user's is raised here as in the child.
    """
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    told = folder / _TOLD
    config_file.save(config, told)
    if study is not None:
        study.save(folder / _STUDY)
    code = _start(told, words)
    _raise_mistake(folder / _MISTAKE)
    if code != 0:
        raise MeasurementError(
            f"{what} died before its end",
            received=f"exit code {code}" if code > 0 else f"signal {-code}",
            follows=f"what it recorded until then is in {folder}",
            remedy="try a smaller --batch-size, and read what it printed",
        )
    return load(folder)


def _start(told: Path, words: int | IO[bytes]) -> int:
    here = str(Path(__file__).parents[2])  # the package need not be installed
    paths = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3"} | os.environ | {"PYTHONPATH": paths}
    command = [sys.executable, "-m", "myxtts.training.child_run", str(told)]
    # Standard output belongs to the parent's result.
    return subprocess.run(
        command, stdout=words, stderr=words, env=environment, check=False
    ).returncode


def _raise_mistake(path: Path) -> None:
    if not path.exists():
        return
    mistake = json.loads(path.read_text())
    code = mistake.pop("exit_code")
    kinds = {kind.exit_code: kind for kind in (UsageError, MeasurementError)}
    raise kinds.get(code, UserError)(mistake.pop("rule"), **mistake)


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

        study = Study.load(told.with_name(_STUDY))
        train(config_file.load(told), _Lines(), study=study)
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
