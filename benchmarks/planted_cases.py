"""Pipelines with one planted cause each, drawn from a seed before anything runs.

A case names its cause only when the cause dominates by arithmetic: taking it away would save at
least `LEAST` of the time, and at least `TWICE` as much as taking away what is planted beside it.
Whatever is drawn and does not dominate is drawn again. Nothing here has seen a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

import numpy as np

from myxtts.training.planting import STAGES as ORDER
from myxtts.training.planting import Planted, draws, parse

LEAST = 0.15
TWICE = 2.0
DEEPEST = 16
"""`pipeline_depth_max` as it comes: what a ring may become by itself."""
HOST, READY = 4, 3
COMPILING = 10.0
"""Steps that meeting a shape costs, as in the stand-in for the model."""
USEFUL = 0.93
"""Useful / padded frames where nothing is planted."""

Way = Literal["sleeping", "real"]
DATA_STAGES = ("disk", "decode", "preprocess", "transfer")
SEVERITIES = (1.25, 1.5, 2.0, 3.0)
"""The slowest thread's time / training's."""


@dataclass(frozen=True)
class Case:
    """One run, and what it should be called."""

    number: int
    way: Way
    cause: str
    train_ms: float
    steps: int
    seed: int
    main: tuple[str, ...] = ()
    """`--plant` of the cause."""
    beside: tuple[str, ...] = ()
    """`--plant` of what else is planted."""
    base: tuple[str, ...] = ()
    """What the stages of a sleeping pipeline take by themselves."""
    useful: float = USEFUL
    shapes: int = 0
    """Different shapes that come up; 0: all were compiled before."""

    @property
    def planted(self) -> Planted:
        return parse((*self.base, *self.beside, *self.main), self.seed)

    @property
    def healthy(self) -> bool:
        return self.cause in ("training", "balanced")

    def told(self) -> dict[str, Any]:
        """For the list of cases: enough to run it again."""
        return {
            "number": self.number, "way": self.way, "cause": self.cause, "seed": self.seed,
            "train_ms": round(self.train_ms, 1), "steps": self.steps,
            "plant": [*self.main, *self.beside],
        }  # fmt: skip


# -- arithmetic -----------------------------------------------------------------------------------


def simulated(case: Case) -> float:
    """Seconds of the case in a pipeline that costs nothing itself.

    As in a run, the rings are full when the first step begins; the last one is as deep as it may
    become.
    """
    planted, steps = case.planted, case.steps
    drawn = {stage: _times(planted, stage, steps) for stage in STAGES}
    rate = planted.disk_mb_per_second
    megabytes = BATCH_MB if case.way == "sleeping" else REAL_BATCH_MB
    disk = drawn["disk"] + (megabytes / rate if rate else 0.0)
    own = [0.0, 0.0] if case.way == "sleeping" else [of / 1e3 for of in REAL_MS]
    lanes = [
        disk + drawn["decode"] + drawn["load"] + own[0],
        drawn["preprocess"] + drawn["transfer"] + own[1],
    ]
    settings = planted.settings
    host = int(settings.get("data.prefetch_buffer_size", HOST))
    ready = int(settings.get("data.pipeline_depth", READY))
    last = int(settings.get("data.pipeline_depth_max", DEEPEST))
    lanes[0][: host + ready + 2] = 0.0  # prepared before the first step
    lanes[1][: ready + 1] = 0.0
    train = drawn["training"] + case.train_ms / 1e3
    return _wall(lanes, [host, last], train + _pauses(case, train))


STAGES = ("disk", "decode", "load", "preprocess", "transfer", "training")
BATCH_MB, REAL_BATCH_MB = 1.0, 0.45
"""What a batch reads: of a sleeping pipeline, and of a real one about."""
REAL_MS = (4.0, 7.0)
"""What the two threads of a real pipeline need by themselves, about."""


def _times(planted: Planted, stage: str, steps: int) -> np.ndarray:
    """What `Delays` will draw, of a stage with one delay all at once."""
    delays = [delay for delay in planted.delays if delay.stage == stage]
    if not delays:
        return np.zeros(steps)
    if len(delays) > 1:
        return np.array(list(islice(draws(planted, stage), steps)))
    (delay,) = delays
    if not delay.jitter:
        return np.full(steps, delay.seconds)
    sigma = math.sqrt(math.log1p(delay.jitter**2))
    rng = np.random.default_rng((planted.seed, ORDER.index(stage)))
    return rng.lognormal(math.log(delay.seconds) - sigma**2 / 2, sigma, steps)


def _pauses(case: Case, train: np.ndarray) -> np.ndarray:
    """Checkpoints, validations and compilations, at the step after which they come."""
    planted, steps = case.planted, case.steps
    pauses = np.zeros(steps)
    for stage, key in (
        ("checkpoint", "checkpoint_interval"),
        ("validation", "validation_interval"),
    ):
        every = planted.settings.get(f"training.{key}")
        if every:
            pauses[every - 1 :: every] += _times(planted, stage, len(pauses[every - 1 :: every]))
    met: set[int] = set()
    for step, shape in enumerate(shapes_of(case)):
        if shape not in met:
            met.add(shape)
            pauses[step] += COMPILING * train[step]
    return pauses


def shapes_of(case: Case) -> list[int]:
    """The shape of each batch; none: all are known."""
    if not case.shapes:
        return []
    rng = np.random.default_rng((case.seed, 99))
    return [int(shape) for shape in rng.integers(0, case.shapes, case.steps)]


def _wall(lanes: Sequence[np.ndarray], depths: Sequence[int], train: np.ndarray) -> float:
    """From the first batch to the last step; the same recursion as in `ideal`, lane after lane."""
    taken: list[list[float]] = [[] for _ in lanes]
    free, trained = [0.0] * len(lanes), 0.0
    for number in range(len(train)):
        arrived = 0.0
        for lane, work in enumerate(lanes):
            begin = max(arrived, free[lane])
            if lane:
                taken[lane - 1].append(begin)
            arrived = begin + float(work[number])
            if number >= depths[lane]:
                arrived = max(arrived, taken[lane][number - depths[lane]])
            free[lane] = arrived
        taken[-1].append(max(arrived, trained))
        trained = taken[-1][-1] + float(train[number])
    return trained - taken[-1][0]


def dominates(case: Case) -> bool:
    """The cause costs enough, and enough more than what is beside it."""
    if case.cause == "jitter" and _stalled(case) < LEAST * case.steps * case.train_ms / 1e3:
        return False  # a sum says quickly that the stalls are not long enough
    if case.cause in ("jitter", "buffer") and not _means_fit(case):
        return False
    wall = simulated(case)
    if case.cause == "padding":
        trained = case.train_ms / 1e3 * case.steps / wall
        cost = trained * (1.0 - case.useful / 0.9)
    else:
        cost = 1.0 - simulated(replace(case, main=(), shapes=0)) / wall
    if case.cause == "buffer":  # the swing is not the cause: a deep ring takes most of it away
        cost = 1.0 - simulated(replace(case, main=case.main[1:])) / wall
        calm = 1.0 - simulated(replace(case, main=())) / wall
        if cost < 0.67 * calm:
            return False
    other = 1.0 - simulated(replace(case, beside=())) / wall if case.beside else 0.0
    return cost >= LEAST and cost >= TWICE * other


def _means_fit(case: Case) -> bool:
    """Each thread needs at most 0.8 of training's time in the mean of what was really drawn.

    Without the batches that are prepared before the first step, and with them.
    """
    for first in (0, HOST + READY + 2):
        mean = {s: 1e3 * _times(case.planted, s, case.steps)[first:].mean() for s in STAGES}
        own = (0.0, 0.0) if case.way == "sleeping" else REAL_MS
        host = mean["disk"] + mean["decode"] + mean["load"] + own[0]
        if max(host, mean["preprocess"] + mean["transfer"] + own[1]) > 0.8 * case.train_ms:
            return False
    return True


def _stalled(case: Case) -> float:
    """Seconds that single pieces of work take beyond what full rings last at the start."""
    stock = (HOST + READY + 2) * case.train_ms / 1e3
    times = [_times(case.planted, stage, case.steps)[HOST + READY + 2 :] for stage in STAGES]
    return float(sum(np.maximum(of - stock, 0.0).sum() for of in times))


# -- drawing --------------------------------------------------------------------------------------

Draw = Callable[[np.random.Generator, Case], Case]


def numbers(*, quick: bool = False) -> list[int]:
    """Of all cases; quick: of every sixth."""
    return list(range(0, len(PLAN), 6 if quick else 1))


def drawn(seed: int, number: int) -> Case:
    """One case; drawn again until what it plants dominates."""
    way, make = PLAN[number]
    rng = np.random.default_rng((seed, number))
    while True:
        case = make(rng, _blank(rng, number, way))
        if case.healthy or dominates(case):
            return case


def _plan() -> Iterator[tuple[Way, Draw]]:
    """What is drawn how often."""
    for stage in DATA_STAGES:
        for severity in SEVERITIES:
            yield "sleeping", _slow(stage, severity)
            yield "sleeping", _slow(stage, severity, swings=True)
    counts: list[tuple[Draw, int, int]] = [
        (_disk_rate, 4, 4), (_jitter, 12, 5), (_buffer, 12, 5), (_recompiling, 10, 4),
        (_padding, 10, 4), (_checkpoints, 10, 4), (_validation, 10, 4), (_two_at_once, 20, 6),
        (_fed, 20, 12), (_even, 16, 0),
    ]  # fmt: skip
    for make, sleeping, _ in counts:
        yield from (("sleeping", make) for _ in range(sleeping))
    for stage in ("disk", "decode", "load", "preprocess", "transfer"):
        for severity in (1.5, 2.0, 2.5, 3.0):
            yield "real", _slow(stage, severity)
    for make, _, real in counts:
        yield from (("real", make) for _ in range(real))


def _blank(rng: np.random.Generator, number: int, way: Way) -> Case:
    """A healthy pipeline to plant something in."""
    seed = int(rng.integers(1, 2**31))
    if way == "real":  # the stages' own work: some ms of this machine's processor
        return Case(number, way, "training", float(rng.uniform(22, 30)), 64, seed)
    train = float(rng.uniform(10, 20))
    shares = rng.uniform((0.05, 0.1, 0.05, 0.02), (0.2, 0.3, 0.35, 0.1))
    stages = ("disk", "decode", "preprocess", "transfer")
    base = tuple(_word(stage, share * train) for stage, share in zip(stages, shares, strict=True))
    return Case(number, way, "training", train, round(800 / train) + 40, seed, base=base)


def _lane(case: Case, stage: str) -> float:
    """Milliseconds that the thread of a stage needs anyway; of a real pipeline about."""
    host = stage in ("disk", "decode", "load")
    if case.way == "real":
        return REAL_MS[0 if host else 1]
    own = ("disk", "decode") if host else ("preprocess", "transfer")
    return sum(float(word.partition("=")[2]) for word in case.base if word.startswith(own))


def _slow(stage: str, severity: float, *, swings: bool = False) -> Draw:
    """A stage that makes its thread `severity` times as long as training."""

    def make(rng: np.random.Generator, case: Case) -> Case:
        missing = severity * float(rng.uniform(1.0, 1.1)) * case.train_ms - _lane(case, stage)
        word = _word(stage, missing, float(rng.uniform(0.2, 0.5)) if swings else 0.0)
        return replace(case, cause="decode" if stage == "load" else stage, main=(word,))

    return make


def _disk_rate(rng: np.random.Generator, case: Case) -> Case:
    """A disk that needs 1.5 to 3 times training's time for a batch."""
    seconds = float(rng.uniform(1.5, 3.0)) * case.train_ms / 1e3
    megabytes = BATCH_MB if case.way == "sleeping" else REAL_BATCH_MB
    return replace(case, cause="disk", main=(f"disk={megabytes / seconds:.2f}MB/s",))


def _jitter(rng: np.random.Generator, case: Case) -> Case:
    stage = str(rng.choice(["load", "preprocess", "transfer"]))
    mean = float(rng.uniform(0.3, 0.7)) * case.train_ms - _lane(case, stage)
    word = _word(stage, max(1.0, mean), float(rng.uniform(3.0, 8.0)))
    return replace(case, cause="jitter", main=(word,), steps=max(case.steps, 90))


def _buffer(rng: np.random.Generator, case: Case) -> Case:
    stage = str(rng.choice(["load", "preprocess"]))
    mean = float(rng.uniform(0.6, 0.85)) * case.train_ms - _lane(case, stage)
    word = _word(stage, max(1.0, mean), float(rng.uniform(1.2, 2.5)))
    return replace(case, cause="buffer", main=("buffer=1", word))


def _recompiling(rng: np.random.Generator, case: Case) -> Case:
    shapes = int(rng.integers(5, 25))
    return replace(case, cause="recompilation", main=("shapes=dynamic",), shapes=shapes)


def _padding(rng: np.random.Generator, case: Case) -> Case:
    useful = float(rng.uniform(0.3, 0.65))
    return replace(case, cause="padding", main=("padding=single",), useful=useful)


def _pausing(stage: str, cause: str, rng: np.random.Generator, case: Case) -> Case:
    every = int(rng.integers(5, 15)) if stage == "checkpoint" else 10
    share = float(rng.uniform(0.2, 0.6))
    pause = share / (1.0 - share) * every * case.train_ms
    words = (
        _word(stage, pause),
        *((f"checkpoint-every={every}",) if stage == "checkpoint" else ()),
    )
    return replace(case, cause=cause, main=words)


def _checkpoints(rng: np.random.Generator, case: Case) -> Case:
    return _pausing("checkpoint", "checkpointing", rng, case)


def _validation(rng: np.random.Generator, case: Case) -> Case:
    return _pausing("validation", "validation", rng, case)


def _two_at_once(rng: np.random.Generator, case: Case) -> Case:
    """One dominant cause, and a lesser one beside it."""
    makes: list[Draw] = [
        *(_slow(stage, float(rng.uniform(1.7, 3.0))) for stage in DATA_STAGES),
        _checkpoints, _validation,
    ]  # fmt: skip
    case = makes[int(rng.integers(len(makes)))](rng, case)
    train = case.train_ms
    lesser = {
        "preprocess": _word("preprocess", float(rng.uniform(0.3, 0.7)) * train, 0.3),
        "load": _word("load", float(rng.uniform(0.3, 0.7)) * train, 0.3),
        "checkpoint": _word("checkpoint", float(rng.uniform(0.5, 1.2)) * train),
        "transfer": _word("transfer", float(rng.uniform(0.2, 0.5)) * train),
    }
    alike = {"decode": "load", "checkpointing": "checkpoint"}.get(case.cause, case.cause)
    others = [word for name, word in lesser.items() if name != alike]
    return replace(case, beside=(others[int(rng.integers(len(others)))],))


def _fed(rng: np.random.Generator, case: Case) -> Case:
    """Training is the limit: preparing takes at most three quarters of its time."""
    stage = str(rng.choice(["load", "preprocess"]))
    most = 0.75 * case.train_ms - _lane(case, stage)
    word = _word(stage, float(rng.uniform(0.1, 1.0)) * most, float(rng.uniform(0.0, 0.3)))
    if case.way == "real" and rng.random() < 0.5:
        return case  # nothing planted at all
    return replace(case, beside=(word,))


def _even(rng: np.random.Generator, case: Case) -> Case:
    """Preparing and training take the same time, within 4 percent."""
    stage = str(rng.choice(["load", "preprocess"]))
    wanted = float(rng.uniform(0.96, 1.02)) * case.train_ms
    return replace(case, cause="balanced", beside=(_word(stage, wanted - _lane(case, stage)),))


def _word(stage: str, milliseconds: float, jitter: float = 0.0) -> str:
    rounded = max(0.01, math.floor(100 * milliseconds) / 100)
    return f"{stage}={rounded}" + (f":{jitter:.2f}" if jitter >= 0.01 else "")


PLAN = tuple(_plan())
