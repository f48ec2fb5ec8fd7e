"""The folder of a run: what it holds, and that no earlier run in it is ever lost.

runs/latest/  config.yaml  run.jsonl  checkpoints/step-…  tensorboard/  samples/step-…
              trace.json.gz (on request)
"""

from __future__ import annotations

from pathlib import Path

from myxtts import config_file
from myxtts.config import Config
from myxtts.errors import UsageError
from myxtts.files import explained
from myxtts.training import checkpoint
from myxtts.training.checkpoint import Checkpoint


class RunFolder:
    """Paths of one run; `open` decides between a new run and going on with one."""

    def __init__(self, config: Config) -> None:
        self.path = Path(config.training.output_dir)
        told = config.training.checkpoint_dir
        self.checkpoints = Path(told) if told else self.path / "checkpoints"
        self.log = self.path / "run.jsonl"
        self.tensorboard = self.path / "tensorboard"
        self.samples = self.path / "samples"
        self.trace = self.path / "trace.json.gz"

    def open(self, config: Config, *, resume: bool) -> Checkpoint | None:
        """Make the folder, or find the checkpoint to go on from; None: start at step 0."""
        found = self.check(resume=resume)
        last = checkpoint.load(found[-1]) if resume else None
        self._keep_earlier_log()
        config_file.save(config, self.path / "config.yaml")
        return last

    def check(self, *, resume: bool) -> list[Path]:
        """Refuse to overwrite a run, or to go on with none; the checkpoints there are."""
        found = checkpoint.list_checkpoints(self.checkpoints)
        if (self.log.exists() or found) and not resume:
            raise UsageError(
                f"{self.path} already holds a run",
                follows="it is not overwritten",
                remedy="--resume to go on with it, or --output FOLDER for a new one",
            )
        if resume and not found:
            raise UsageError(
                f"There is no checkpoint in {self.checkpoints} to go on from",
                remedy="leave out --resume to start a new run",
            )
        return found

    def _keep_earlier_log(self) -> None:
        """A resumed run has a log of its own; the earlier ones are numbered."""
        if not self.log.exists():
            return
        number = 1
        while (numbered := self.path / f"run.{number}.jsonl").exists():
            number += 1
        with explained(self.log):
            self.log.rename(numbered)
