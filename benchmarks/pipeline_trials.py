"""Random pipelines with planted mishaps: no deadlock, no batch lost, doubled or out of order.

    python benchmarks/pipeline_trials.py --runs 1000      # seeds 0 to 999
    python benchmarks/pipeline_trials.py --seed 17        # one of them again

A seed draws the lanes, their stages and depths, the limits, how long everybody sleeps, and what
goes wrong: exceptions, a stage that hangs, Ctrl-C, a consumer that leaves, data that ends early.
What must come out is known beforehand; `run` returns in how far it did not.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Self

import numpy as np

from myxtts.errors import UserError
from myxtts.training.feeder import Feeder
from myxtts.training.stages import EndOfData, Lane, Parcel, Stage, StageError, StageHung

WATCHDOG_SECONDS = 30.0
STAGE_TIMEOUT = 0.3
IN_STAGES = ("exception", "user error", "end of data", "hang")
IN_CONSUMER = ("interrupt", "signal", "early close")


@dataclass(frozen=True)
class Mishap:
    """Something that goes wrong: at a step, in a stage or in the consumer."""

    kind: str
    step: int
    stage: int = -1
    """Position among all stages; -1: the consumer."""


@dataclass(frozen=True)
class Trial:
    """Everything that a seed decides."""

    seed: int
    steps: int
    lanes: tuple[int, ...]
    """Stages of each."""
    depths: tuple[int, ...]
    deepest: tuple[int | None, ...]
    in_flight: int
    in_flight_bytes: int | None
    synchronous: bool
    naps: tuple[float, ...]
    """The longest sleep of each stage and, last, of the consumer, in seconds."""
    mishaps: tuple[Mishap, ...]

    @property
    def hangs(self) -> bool:
        return any(mishap.kind == "hang" for mishap in self.mishaps)

    def expected(self) -> Mishap | None:
        """The mishap that the consumer meets: the earliest step, in it the earliest stage.

        A signal is not among them: it comes when it comes.
        """
        order = sorted(self.mishaps, key=lambda m: (m.step, m.stage == -1, m.stage))
        reached = (m for m in order if m.step < self.steps and m.kind != "signal")
        return next(reached, None)


def draw(seed: int) -> Trial:
    """The trial of a seed."""
    rng = random.Random(seed)
    lanes = tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 4)))
    steps = rng.choice((0, 1, 2, rng.randint(3, 20), rng.randint(20, 60)))
    depths = tuple(rng.randint(1, 5) for _ in lanes)
    synchronous = rng.random() < 0.1
    mishaps: dict[tuple[int, int], Mishap] = {}
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        kind, step = rng.choice(IN_STAGES + IN_CONSUMER), rng.randrange(max(steps, 1))
        # In the consumer's own thread nobody can be called hung.
        if kind == "hang" and synchronous:
            kind = "exception"
        stage = rng.randrange(sum(lanes)) if kind in IN_STAGES else -1
        mishaps.setdefault((step, stage), Mishap(kind, step, stage))
    return Trial(
        seed=seed,
        steps=steps,
        lanes=lanes,
        depths=depths,
        deepest=tuple(rng.choice((None, depth, depth + 4)) for depth in depths),
        in_flight=rng.choice((1, 2, 5, 50)),
        in_flight_bytes=rng.choice((None, None, 1, 10, 40)),
        synchronous=synchronous,
        naps=tuple(rng.choice((0.0, 0.0, 0.0003, 0.001)) for _ in range(sum(lanes) + 1)),
        mishaps=tuple(mishaps.values()),
    )


class Run:
    """One trial, being carried out in the main thread."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.released = threading.Event()
        """Set when what hangs may go on."""
        self.seen: list[int] = []
        self.raised: BaseException | None = None
        self.problems: list[str] = []
        self._naps = random.Random(trial.seed + 1)

    def carry_out(self) -> list[str]:
        trial = self.trial
        feeder = Feeder(
            range(trial.steps),
            list(self._lanes()),
            synchronous=trial.synchronous,
            in_flight=trial.in_flight,
            in_flight_bytes=trial.in_flight_bytes,
            stage_timeout=STAGE_TIMEOUT if trial.hangs else WATCHDOG_SECONDS,
        )
        interrupts = Interrupts(WATCHDOG_SECONDS)
        try:
            with interrupts:
                self._consume(feeder, interrupts)
        except (Exception, KeyboardInterrupt) as error:
            self.raised = error
        left_behind = feeder.close(1.0 if trial.hangs else 10.0)
        if interrupts.barked:
            self.problems.append(f"deadlock: nothing came for {WATCHDOG_SECONDS:g} s")
        elif not (interrupts.pressed and isinstance(self.raised, KeyboardInterrupt)):
            self._check_outcome()
        self._check_threads(left_behind)
        return self.problems

    # -- the pipeline and its consumer -----------------------------------------------------------

    def _lanes(self) -> Iterator[Lane]:
        trial, at = self.trial, 0
        for number, count in enumerate(trial.lanes):
            stages = tuple(self._stage(position) for position in range(at, at + count))
            yield Lane(f"r{number}", trial.depths[number], stages, trial.deepest[number])
            at += count

    def _stage(self, position: int) -> Stage:
        planted = {m.step: m.kind for m in self.trial.mishaps if m.stage == position}
        nap = self.trial.naps[position]

        def work(parcel: Parcel) -> None:
            if position == 0:
                parcel.batch = np.zeros(0, np.uint8)
                parcel.facts["clips"] = [f"clip-{parcel.step}"]
            if nap:
                time.sleep(nap * random.random())
            if parcel.step in planted:
                self._mishap(planted[parcel.step])
            parcel.batch = np.append(parcel.batch, np.uint8(position))

        return Stage(f"s{position}", work)

    def _mishap(self, kind: str) -> None:
        if kind == "exception":
            raise OSError("planted")
        if kind == "user error":
            raise UserError("planted")
        if kind == "end of data":
            raise EndOfData
        self.released.wait()

    def _consume(self, feeder: Feeder, interrupts: Interrupts) -> None:
        planted = {m.step: m.kind for m in self.trial.mishaps if m.stage == -1}
        whole = list(range(sum(self.trial.lanes)))
        for expected, parcel in enumerate(feeder):
            if parcel.batch.tolist() != whole:
                self.problems.append(f"step {parcel.step} went through {parcel.batch}")
            if parcel.step != expected:
                self.problems.append(f"step {parcel.step} came in the place of {expected}")
            kind = planted.get(parcel.step)
            if kind == "interrupt":
                raise KeyboardInterrupt
            if kind == "early close":
                return
            if kind == "signal":  # at any moment from now on
                interrupts.press_after(self._naps.random() * 0.005)
            self.seen.append(parcel.step)
            if self.trial.naps[-1]:
                time.sleep(self.trial.naps[-1] * self._naps.random())
        interrupts.wait()
        if interrupts.pressed:
            self.problems.append("Ctrl-C was not heard")

    # -- what must have come of it ---------------------------------------------------------------

    def _check_outcome(self) -> None:
        expected = self.trial.expected()
        kind = "end of data" if expected is None else expected.kind
        steps = self.trial.steps if expected is None else expected.step
        if self.seen != list(range(steps)):
            self.problems.append(f"{kind}: {len(self.seen)} batches before it instead of {steps}")
        self._check_error(kind, expected)

    def _check_error(self, kind: str, mishap: Mishap | None) -> None:
        wanted: dict[str, type[BaseException] | None] = {
            "exception": StageError, "user error": UserError, "hang": StageHung,
            "interrupt": KeyboardInterrupt, "end of data": None, "early close": None,
        }  # fmt: skip
        raised, type_wanted = self.raised, wanted[kind]
        if (type(raised) if raised is not None else None) is not type_wanted:
            self.problems.append(f"{kind}: {raised!r} came instead")
        elif mishap is not None and isinstance(raised, StageError | StageHung):
            told = (raised.stage, raised.step, raised.clips)
            if told != (f"s{mishap.stage}", mishap.step, (f"clip-{mishap.step}",)):
                self.problems.append(f"{kind}: told as {told}")
        elif mishap is not None and isinstance(raised, UserError):
            place = f"stage s{mishap.stage}, step {mishap.step}, clips clip-{mishap.step}"
            if raised.received != place:
                self.problems.append(f"{kind}: told as {raised.received}")

    def _check_threads(self, left_behind: list[str]) -> None:
        hung = [f"stage s{m.stage}, step {m.step}" for m in self.trial.mishaps if m.kind == "hang"]
        if not set(left_behind) <= set(hung):
            self.problems.append(f"left behind, but not hung: {left_behind}")
        if len(pipeline_threads()) != len(left_behind):
            self.problems.append(f"{pipeline_threads()} alive, {left_behind} named")
        self.released.set()
        for thread in pipeline_threads():
            thread.join(WATCHDOG_SECONDS)
            if thread.is_alive():
                self.problems.append(f"{thread.name} does not end")


def run(seed: int) -> list[str]:
    """Carry out the trial of a seed; what went wrong with it, nothing when all is well."""
    return Run(draw(seed)).carry_out()


def pipeline_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("myxtts-")]


class Interrupts:
    """Ctrl-C reaches the block that this is around, and nothing after it. Main thread only.

    After `seconds` the watchdog presses it.
    """

    def __init__(self, seconds: float) -> None:
        self.pressed = False
        self.barked = False
        self._armed = False
        self._missed = False
        self._timers: list[threading.Timer] = []
        self._watchdog = threading.Timer(seconds, self._bark)
        self._watchdog.daemon = True

    def press_after(self, seconds: float) -> None:
        """Press Ctrl-C a little later, from another thread."""
        self._armed = False  # an earlier one waits until this timer is complete
        timer = threading.Timer(seconds, self._press)
        timer.start()
        self._timers.append(timer)
        self.pressed = True
        self._armed = True
        if self._missed:
            self._handle()

    def wait(self) -> None:
        """Until everything that was to be pressed has been."""
        for timer in self._timers:
            timer.join()

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._handle)
        self._armed = True
        self._watchdog.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._armed = False
        self._watchdog.cancel()
        self.wait()
        signal.signal(signal.SIGINT, self._before)

    def _press(self) -> None:
        # As a terminal does: a real signal also wakes the main thread from a wait.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def _bark(self) -> None:
        self.barked = True
        self._press()

    def _handle(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        if self._armed:
            self._armed = False
            raise KeyboardInterrupt
        self._missed = True


def run_many(seeds: range) -> dict[int, list[str]]:
    """The seeds that failed, with what went wrong; each is said at once."""
    failed = {}
    for seed in seeds:
        problems = run(seed)
        if problems:
            failed[seed] = problems
            print(f"seed {seed}: {'; '.join(problems)}", file=sys.stderr, flush=True)
            print(f"  again: python benchmarks/pipeline_trials.py --seed {seed}", file=sys.stderr)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000, help="how many seeds, from 0 on")
    parser.add_argument("--seed", type=int, help="only this one, with what it draws")
    options = parser.parse_args()
    if options.seed is not None:
        print(draw(options.seed))
    seeds = range(options.runs) if options.seed is None else range(options.seed, options.seed + 1)
    failed = run_many(seeds)
    print(f"{len(seeds)} runs, {len(failed)} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
