"""What happens between steps when its time has come: validation, samples, checkpoints, the end.

The best validation decides which checkpoint is never removed, and, with patience, when a run ends
before its last step. Weights that are not numbers are never saved, so that every checkpoint is one
to go back to. The loop itself is `loop`'s.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from myxtts.config import Config
from myxtts.telemetry.accounts import Ledger
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import checkpoint, references, state
from myxtts.training.batch_path import BatchPath
from myxtts.training.best import BestSoFar
from myxtts.training.checkpoint import Checkpoint
from myxtts.training.corpus import TrainingData
from myxtts.training.journal import Journal
from myxtts.training.planting import Delays
from myxtts.training.run_folder import RunFolder
from myxtts.training.samples import Rehearsal, keep
from myxtts.training.step import TrainStep
from myxtts.training.validation import mean_losses


@dataclass(frozen=True)
class Trained:
    """What a run is made of, as a checkpoint describes it."""

    config: Config
    tokenizer: Tokenizer
    dtype_policy: str
    mel_statistics: tuple[np.ndarray, np.ndarray]
    data: TrainingData
    path: BatchPath
    step: TrainStep
    delays: Delays = field(default_factory=Delays)
    """What is slowed on purpose; nothing in a training run."""


class Milestones:
    """Called by the training thread after every step."""

    def __init__(
        self,
        trained: Trained,
        folder: RunFolder,
        total_steps: int,
        best: BestSoFar,
        ledger: Ledger,
        journal: Journal,
    ) -> None:
        self.best = best
        self._trained = trained
        self._folder = folder
        self._total_steps = total_steps
        self._ledger = ledger
        self._journal = journal
        self._rehearsal: Rehearsal | None = None
        self._saved: int | None = None

    def reached(self, step: int) -> bool:
        """`step` batches are done: do what is due; True when anything was."""
        training = self._trained.config.training
        last = step == self._total_steps
        save = step % training.checkpoint_interval == 0 and not last
        validate = last or step % training.validation_interval == 0
        validate = validate and self._trained.data.validation is not None
        listen = training.sample_interval > 0 and step % training.sample_interval == 0
        if validate:
            save = self.best.saw(step, self.validate(step)) or save
        if listen:
            self.listen(step)
        if save:
            self.save(step)
        return validate or listen or save

    @property
    def stopped(self) -> bool:
        """No validation was better for as long as the patience lasts."""
        return self.best.exhausted

    def say_stopped(self, step: int) -> None:
        """Why the run ends before its last step."""
        best = self.best
        self._journal.write("early_stop", step=step, best_step=best.step, best_loss=best.loss)
        self._journal.display.say(
            f"stopped early at step {step}: {best.stale} validations in a row were not better "
            f"than {best.loss:.4f} at step {best.step} (early_stop_patience)"
        )

    def validate(self, step: int) -> float:
        """The mean loss over the validation clips, weighted by useful frames."""
        trained, started = self._trained, time.perf_counter()
        assert trained.data.validation is not None
        with self._ledger.account("validating"):
            validated = trained.delays.behind("validation", mean_losses)
            losses = validated(trained.step, trained.path, trained.data.validation)
        self._journal.validated(step, losses, time.perf_counter() - started)
        return losses["total"]

    def listen(self, step: int) -> None:
        """Let the model speak in every language of the corpus, and keep what it said."""
        trained, started = self._trained, time.perf_counter()
        with self._ledger.account("validating"):
            if self._rehearsal is None:
                self._rehearsal = Rehearsal(
                    trained.step.judged,
                    trained.data,
                    trained.path,
                    trained.step.device,
                    trained.mel_statistics,
                )
            rate = self._rehearsal.sample_rate
            folder = keep(self._rehearsal, rate, self._folder.samples, self._journal.board, step)
        self._journal.sampled(step, folder, time.perf_counter() - started)

    def save(self, step: int) -> None:
        """Write the checkpoint of this step, unless it is there."""
        if self._saved == step:
            return
        trained, started = self._trained, time.perf_counter()
        voices = [reference.mels for reference in trained.data.references]
        with self._ledger.account("checkpointing"):
            arrays = state.arrays_of(trained.step)
            if not all(np.isfinite(array).all() for array in arrays["model"]):
                self._journal.not_saved(step)
                return
            path = trained.delays.behind("checkpoint", checkpoint.save)(
                self._folder.checkpoints,
                step,
                arrays | {"references": voices},
                self._description(),
                trained.config.training.keep_checkpoints,
                self.best.step,
            )
        self._saved = step
        seconds = time.perf_counter() - started
        self._journal.write("checkpoint", step=step, path=str(path), seconds=seconds)

    def went_back(self, found: Checkpoint) -> None:
        """The run is again where it was at this checkpoint."""
        self.best = BestSoFar.remembered(self.best.patience, found.info)
        self._saved = found.step

    def _description(self) -> dict[str, Any]:
        trained = self._trained
        mean, deviation = trained.mel_statistics
        return {
            "config": trained.config.model_dump(),
            "tokenizer": trained.tokenizer.fingerprint,
            **references.described(trained.data.references),
            "mel_mean": mean.tolist(),
            "mel_std": deviation.tolist(),
            "xla": trained.step.xla,
            "precision": trained.dtype_policy,
            "best": self.best.as_json(),
        }
