"""Slowing one part of a run on purpose, so that anyone can check what the tools say about it.

    --plant load=20        20 ms more in every batch's loading
    --plant load=20:0.8    the same in the mean, log-normal with a std/mean of 0.8
    --plant disk=40MB/s    a disk that reads so much a second
    --plant buffer=1       one batch waits, where several would

A setting becomes a setting of the configuration; a delay sleeps behind the stage's own work. A run
says in run.jsonl what was planted (event `planted`); nothing that judges a run reads that.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ParamSpec, TypeVar

import numpy as np

from myxtts.errors import UsageError
from myxtts.training.stages import Lane, Stage

P = ParamSpec("P")
R = TypeVar("R")

STAGES = (
    "disk", "decode", "load", "preprocess", "transfer", "training", "checkpoint", "validation",
)  # fmt: skip
SETTINGS = ("buffer=N", "shapes=dynamic", "padding=single", "checkpoint-every=N", "disk=MB/s")
OFTEN = 10
"""Steps between checkpoints or validations, where only their delay is told."""
MOST_JITTER = 10.0


@dataclass(frozen=True)
class Delay:
    """A sleep behind every piece of one stage's work."""

    stage: str
    seconds: float
    """In the mean."""
    jitter: float = 0.0
    """std / mean of a log-normal; 0: always the same."""


@dataclass(frozen=True)
class Planted:
    """What is slowed, and what is set; nothing by default."""

    delays: tuple[Delay, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the configuration, as in `data.pipeline_depth`."""
    disk_mb_per_second: float | None = None
    seed: int = 0

    def __bool__(self) -> bool:
        return bool(self.delays or self.settings or self.disk_mb_per_second)

    def as_json(self) -> dict[str, Any]:
        """Plain data; `from_json` reads it back."""
        return asdict(self) | {"settings": dict(self.settings)}

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> Planted:
        """What `as_json` wrote."""
        delays = tuple(Delay(**delay) for delay in tree["delays"])
        return cls(delays, dict(tree["settings"]), tree["disk_mb_per_second"], tree["seed"])


NOTHING = Planted()


def parse(words: Sequence[str], seed: int = 0) -> Planted:
    """The values of `--plant`, one after the other; a `UsageError` for anything else."""
    planted = Planted(seed=seed)
    for word in words:
        name, _, value = word.partition("=")
        planted = _with(planted, word, name.strip(), value.strip())
    return planted


def _with(planted: Planted, word: str, name: str, value: str) -> Planted:
    if name == "disk" and value.lower().endswith("mb/s"):
        rate = _number(word, value[:-4])
        return replace(planted, disk_mb_per_second=rate)
    if name in STAGES:
        seconds, _, jitter = value.partition(":")
        swing = _number(word, jitter) if jitter else 0.0
        if swing > MOST_JITTER:
            raise _refused(word)
        delay = Delay(name, _number(word, seconds) / 1e3, swing)
        # Of checkpoints and validations there may be none in a short run.
        settings = _often(name) | dict(planted.settings)
        return replace(planted, delays=(*planted.delays, delay), settings=settings)
    return replace(planted, settings=dict(planted.settings) | _setting(word, name, value))


def _setting(word: str, name: str, value: str) -> dict[str, Any]:
    if (name, value) == ("shapes", "dynamic"):
        return {"data.pad_to_fixed_length": False}
    if (name, value) == ("padding", "single"):
        return {"data.static_shapes": "single"}
    if name not in ("buffer", "checkpoint-every"):
        raise _refused(word)
    count = int(value) if value.isdigit() else 0
    if count < 1:
        raise _refused(word)
    if name == "checkpoint-every":
        return {"training.checkpoint_interval": count}
    keys = ("pipeline_depth", "pipeline_depth_max", "prefetch_buffer_size")
    return {f"data.{key}": count for key in keys}


def _often(stage: str) -> dict[str, Any]:
    if stage == "checkpoint":
        return {"training.checkpoint_interval": OFTEN}
    if stage == "validation":
        return {"training.validation_interval": OFTEN, "training.validation_share": 0.1}
    return {}


def _number(word: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _refused(word) from None
    if not math.isfinite(value) or value <= 0:
        raise _refused(word)
    return value


def _refused(word: str) -> UsageError:
    return UsageError(
        "--plant is STAGE=MILLISECONDS, STAGE=MILLISECONDS:JITTER or one of " + ", ".join(SETTINGS),
        received=f"--plant {word}",
        follows=f"the stages are {', '.join(STAGES)}; numbers are above 0, jitter at most 10",
        remedy="--plant load=20, --plant preprocess=15:0.8 or --plant buffer=1",
    )


class Delays:
    """The delays of one run: each stage draws its own, one after the other, from the seed."""

    def __init__(self, planted: Planted = NOTHING) -> None:
        self._planted = planted
        self._drawn = {stage: draws(planted, stage) for stage in STAGES}
        # A disk is one, whoever reads from it; and a delay means a batch's, not a worker's.
        self._one_at_a_time = {stage: threading.Lock() for stage in STAGES}

    def __bool__(self) -> bool:
        return bool(self._planted)

    def pause(self, stage: str) -> None:
        """Sleep as long as is planted behind this piece of the stage's work."""
        with self._one_at_a_time[stage]:
            seconds = next(self._drawn[stage])
            if seconds:
                time.sleep(seconds)

    def read(self, nbytes: int) -> None:
        """What reading so many bytes takes longer; none were read: nothing."""
        if not nbytes:
            return
        self.pause("disk")
        rate = self._planted.disk_mb_per_second
        if rate is not None:
            with self._one_at_a_time["disk"]:
                time.sleep(nbytes / 1e6 / rate)

    def behind(self, stage: str, work: Callable[P, R]) -> Callable[P, R]:
        """The same work, slower; as it is where nothing is planted."""
        if all(delay.stage != stage for delay in self._planted.delays):
            return work

        def slow(*arguments: P.args, **settings: P.kwargs) -> R:
            result = work(*arguments, **settings)
            self.pause(stage)
            return result

        return slow

    def along(self, lanes: Sequence[Lane]) -> list[Lane]:
        """The same lanes with the delays in them; a `UsageError` where a stage is missing."""
        stages = {stage.name for lane in lanes for stage in lane.stages}
        wanted = {delay.stage for delay in self._planted.delays}
        if "transfer" in wanted - stages:
            raise UsageError(
                "A delay is planted in a stage that this run does not have",
                received="--plant transfer=…, and one device prepares and trains",
                remedy="--virtual-gpus 2, or another stage",
            )
        return [
            replace(
                lane,
                stages=tuple(
                    Stage(one.name, self.behind(one.name, one.work)) for one in lane.stages
                ),
            )
            for lane in lanes
        ]


def draws(planted: Planted, stage: str) -> Iterator[float]:
    """Seconds of each delay of a stage, without end."""
    delays = [delay for delay in planted.delays if delay.stage == stage]
    rng = np.random.default_rng((planted.seed, STAGES.index(stage)))
    while True:
        yield sum(drawn(rng, delay.seconds, delay.jitter) for delay in delays)


def drawn(rng: np.random.Generator, mean: float, jitter: float) -> float:
    """One value with this mean and this std/mean."""
    if not jitter:
        return mean
    sigma = math.sqrt(math.log1p(jitter**2))
    return float(rng.lognormal(math.log(mean) - sigma**2 / 2, sigma))
