"""The loop: takes prepared batches, trains on each, and books where the time went.

It owns the position of a run and what a step may do to it: a bad loss is skipped or sends the run
back to a checkpoint, a batch that did not fit is told about. Batches come from a `Feeder`, which
lasts until the run ends or goes back; what a step computes is `step`'s, what happens between steps
is `milestones`', and what is told and recorded is `journal`'s business.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from myxtts.errors import UserError
from myxtts.telemetry.accounts import Ledger
from myxtts.telemetry.session import Step
from myxtts.training import checkpoint, precision, state
from myxtts.training.bad_steps import BadSteps
from myxtts.training.feeder import Feeder
from myxtts.training.journal import Journal
from myxtts.training.milestones import Milestones, Trained
from myxtts.training.stages import Parcel, blame


@dataclass(frozen=True)
class Taken:
    """A batch as the loop received it; moments by the loop's clock."""

    parcel: Parcel
    started: float
    """When the loop began to wait for it."""
    ended: float
    blame: dict[str, float]
    ready: dict[str, int]
    """Batches in each ring when the wait began."""


@dataclass(frozen=True)
class Done:
    """What training on a batch came to."""

    losses: dict[str, float]
    compiled: bool
    ended: float


class Loop:
    """Runs in the thread that trains; `position` is the number of batches done so far."""

    def __init__(
        self,
        trained: Trained,
        checkpoints: Path,
        position: int,
        total_steps: int,
        ledger: Ledger,
        journal: Journal,
        milestones: Milestones,
    ) -> None:
        self.position = position
        self.ring_depth: int | None = None
        """How many batches the last ring may hold; None: there are no rings."""
        self._trained = trained
        self._step = trained.step
        self._compute = trained.delays.behind("training", trained.step)
        self._checkpoints = checkpoints
        self._total_steps = total_steps
        self._interval = trained.config.training.report_interval
        self._gathered = trained.config.training.gradient_accumulation
        self._ledger = ledger
        self._journal = journal
        self._milestones = milestones
        self._bad_steps = BadSteps(trained.config.training.max_bad_steps)
        self._clock = time.perf_counter
        self._scale = precision.loss_scale(trained.step.optimizer)

    def warm_up(self) -> None:
        """Compile every shape before the first step, while the pipeline fills."""
        buckets = self._trained.data.buckets
        if self._trained.config.data.pad_to_fixed_length:
            for number, bucket in enumerate(buckets):
                with self._ledger.account("compiling"):
                    seconds = self._step.compile(self._trained.path.example(number))
                self._journal.write(
                    "compile", what="step", bucket=number, shape=asdict(bucket), seconds=seconds
                )
                self._journal.display.preparing("compile", number + 1, len(buckets))
        self._tell_of_shortages(self.position)
        self._journal.write("warm", compilations=self._step.compilations)

    def run(self, feeder: Feeder) -> bool:
        """Train until nothing is left to do: True.

        False: the run went back to a checkpoint, and other batches than this feeder's come next.
        """
        parcels = iter(feeder)
        previous = self._clock()
        while (taken := self._take(feeder, parcels)) is not None:
            done = self._train(taken)
            number, self.position = self.position, self.position + 1
            self._tell_of_shortages(number)
            if math.isfinite(done.losses["total"]):
                self._bad_steps.good()
                self._note_overflow(number)
                self._journal.stepped(self._record(taken, done, previous), done.losses)
            elif not self._skip(taken.parcel, done):
                return False
            previous = done.ended
            if self.position % self._interval == 0:
                for ring in feeder.states():
                    self._journal.write("ring", **asdict(ring))
            if self._milestones.reached(self.position):
                previous = self._clock()
            if self._milestones.stopped:
                self._milestones.say_stopped(self.position)
                return True
        return True

    def _take(self, feeder: Feeder, parcels: Iterator[Parcel]) -> Taken | None:
        """The next batch; the wait for it is booked to whatever it waited for."""
        states = feeder.states()
        self.ring_depth = states[-1].depth if states else None
        started = self._clock()
        with self._ledger.account("data_wait"):
            parcel = next(parcels, None)
        ended = self._clock()
        if parcel is None:
            return None
        shares = blame(parcel, started, ended)
        self._ledger.move(shares.get("transfer", 0.0), "data_wait", "transfer")
        ready = {ring.name: ring.occupancy for ring in states}
        return Taken(parcel, started, ended, shares, ready)

    def _train(self, taken: Taken) -> Done:
        compilations = self._step.compilations
        with self._ledger.account("training"):
            losses = self._compute(taken.parcel.batch, update=self._ends_in_update())
        ended = self._clock()
        compiled = self._step.compilations > compilations
        if compiled:
            self._ledger.move(ended - taken.ended, "training", "compiling")
        return Done(losses, compiled, ended)

    def _ends_in_update(self) -> bool:
        """Whether the batch at this position is the last that its update gathers."""
        done = self.position + 1
        return done % self._gathered == 0 or done == self._total_steps

    def _record(self, taken: Taken, done: Done, previous: float) -> Step:
        parcel, journal = taken.parcel, self._journal
        return Step(
            step=parcel.step,
            t=journal.since(done.ended),
            seconds=done.ended - previous,
            wait=taken.ended - taken.started,
            train=done.ended - taken.ended,
            loss=done.losses["total"],
            bucket=parcel.facts["bucket"],
            useful_frames=parcel.facts["useful"],
            padded_frames=parcel.facts["padded"],
            compiled=done.compiled,
            blame=taken.blame,
            stages=parcel.seconds,
            rings=taken.ready,
            finished={stage: journal.since(when) for stage, when in parcel.finished.items()},
            parts=parcel.parts,
        )

    def _note_overflow(self, number: int) -> None:
        """A loss scale that was lowered means that the update of this step was left out."""
        before, self._scale = self._scale, precision.loss_scale(self._step.optimizer)
        if self._scale is not None and before is not None and self._scale < before:
            self._journal.write("overflow", step=number, loss_scale=self._scale)

    def _tell_of_shortages(self, number: int) -> None:
        for shortages in (self._step.shortages, self._trained.path.shortages):
            while shortages:
                self._journal.ran_short(number, shortages.popleft())

    def _skip(self, parcel: Parcel, done: Done) -> bool:
        """Leave a bad step out: True; or, when there are too many, go back: False."""
        clips = parcel.facts["clips"]
        self._journal.skipped(parcel.step, done.losses, clips)
        verdict = self._bad_steps.bad(parcel.step)
        if verdict == "skip":
            return True
        found = self._before(self._bad_steps.first) if verdict == "back" else None
        if found is None:
            raise self._hopeless(parcel, done.losses)
        self._go_back(parcel.step, found)
        return False

    def _before(self, step: int | None) -> Path | None:
        """The newest checkpoint that no bad step came before; None: there is none."""
        kept = checkpoint.list_checkpoints(self._checkpoints)
        good = [path for path in kept if checkpoint.step_of(path) <= (step or 0)]
        return good[-1] if good else None

    def _go_back(self, step: int, path: Path) -> None:
        with self._ledger.account("checkpointing"):
            found = checkpoint.load(path)
            state.go_on(self._step, found)
        self._bad_steps.went_back(step)
        self.position = found.step
        self._scale = precision.loss_scale(self._step.optimizer)
        self._milestones.went_back(found)
        self._journal.went_back(step, found.step, path)

    def _hopeless(self, parcel: Parcel, losses: dict[str, float]) -> UserError:
        half = self._trained.dtype_policy == "mixed_float16"
        again = f", as in the {self._bad_steps.most - 1} steps before it"
        return UserError(
            f"The loss is not a number at step {parcel.step}"
            + (again if self._bad_steps.most > 1 else ""),
            received=f"{losses} from the clips {', '.join(parcel.facts['clips'])}",
            follows="there is no checkpoint from before to go back to, or going back did not help: "
            f"training stops; the checkpoints in {self._checkpoints} are unharmed",
            remedy="lower training.learning_rate, or look at these clips, and go on with --resume"
            + ("; or data.mixed_precision: bfloat16" if half else ""),
        )
