"""Which changes are worth a trial, the most promising first.

Three sources: what the rules and the checks of the configuration ask for, what the plan predicts,
and a list of settings that are known to cost time. A change is left out when the recorded run shows
that it cannot help: no change of the data's way can win more than the time that training waited,
and a prediction whose whole range is no gain needs no trial. Trying is `fix_loop`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from myxtts.config import Config
from myxtts.errors import UserError
from myxtts.telemetry.session import Session
from myxtts.tools.audit import LARGEST_BATCH, audit
from myxtts.tools.findings import findings
from myxtts.tools.fix_loop import LEAST_GAIN, Candidate, Settings
from myxtts.tools.pieces import settled
from myxtts.tools.plan import Planner
from myxtts.tools.what_if import NotPredictable, WhatIf

DEEP = 8
"""Buffers that bridge what a few cannot."""
AHEAD = 8
DEEPEST = 16
MANY = 50
"""Batches in flight."""
USEFUL_FLOOR = 0.9
MOST_SIZES = 2
"""Batch sizes that are tried."""
WORTH_A_TRIAL = 1.04
"""The best that a prediction holds for possible must be at least this."""


def candidates(
    session: Session,
    config: Config,
    cores: int,
    gpu_memory_mb: Sequence[int],
    *,
    keep_batch: bool = False,
) -> list[Candidate]:
    """What to try on a configuration, given a recorded run of it."""
    planner = _planner(session)
    wait = _wait_share(session)
    found: dict[str, Candidate] = {}
    asked = [
        *_of_the_rules(session, config, cores, gpu_memory_mb),
        *_known_costs(session, config, wait),
        *([] if keep_batch else _batches(config)),
    ]
    for one in asked:
        if _has_already(config, one.settings):
            continue
        judged = _judged(one, planner, wait)
        if judged is not None:
            found.setdefault(str(sorted(judged.settings.items(), key=str)), judged)
    ordered = sorted(found.values(), key=lambda one: -(one.expected or 1.0))
    # Batch sizes last: what the others change, shapes above all, decides which size is right.
    sizes = [one for one in ordered if "data.batch_size" in one.settings]
    return [*(one for one in ordered if one not in sizes), *sizes[:MOST_SIZES]]


def _planner(session: Session) -> Planner | None:
    try:
        return Planner(session)
    except UserError:  # too short, or without its stages: then runs alone decide
        return None


def _wait_share(session: Session) -> float:
    """Time that training waited for data; in a run without overlap all preparation is that."""
    steps = settled(session)
    wall = sum(step.seconds for step in steps)
    return sum(step.wait for step in steps) / wall if wall else 1.0


def _of_the_rules(
    session: Session, config: Config, cores: int, gpus: Sequence[int]
) -> Iterator[Candidate]:
    for one in (*findings(session), *audit(config, cores, gpus)):
        if one.change.settings:
            gain = None if one.expected_gain is None else 1 / max(0.05, 1 - one.expected_gain)
            yield Candidate(one.change.settings, one.rule, gain)


def _known_costs(session: Session, config: Config, wait: float) -> Iterator[Candidate]:
    """Settings that cost time on some machine, each with the one that does not."""
    data = config.data

    def change(key: str, value: Any, expected: float | None = None) -> Candidate:
        return Candidate({f"data.{key}": value}, key, expected)

    yield change("pad_to_fixed_length", True)
    if data.enable_xla is False:
        yield change("enable_xla", "auto")
    useful = sum(step.useful_frames for step in session.steps)
    padded = sum(step.padded_frames for step in session.steps)
    if padded and useful / padded < USEFUL_FLOOR:
        less = USEFUL_FLOOR * padded / useful
        yield change("static_shapes", "buckets", less)
        yield change("max_buckets", max(AHEAD, data.max_buckets), less)
    # All of a wait is won by few changes; which, a run decides.
    won = 1 + (1 / max(0.05, 1 - wait) - 1) / 3
    yield change("optimize_cpu_gpu_overlap", True, won)
    if not any(key.startswith("augment_") for key in _unusual(config)):
        yield change("features", "cached", won)
    if _blamed(session, "load", "upload") > LEAST_GAIN:
        yield change("use_tf_native_loading", True, won)
        yield change("num_workers", 0, won)
        yield change("cache_dataset", True, won)
    yield Candidate(_roomy(config), "buffers", won)
    yield change("prefetch_to_gpu", True, won)
    yield change("enhanced_gpu_prefetch", True, won)


def _roomy(config: Config) -> Settings:
    """Room in every buffer: which of them was too small shows only when the others are not."""
    data = config.data
    wanted: dict[str, Any] = {
        "data.pipeline_depth": max(DEEP, data.pipeline_depth),
        "data.adaptive_depth": True,
        "data.pipeline_buffer_size": max(MANY, data.pipeline_buffer_size),
    }
    if data.host_batches_ahead < AHEAD:
        wanted["data.prefetch_buffer_size"] = AHEAD
    return {key: value for key, value in wanted.items() if not _has_already(config, {key: value})}


def _blamed(session: Session, *stages: str) -> float:
    """Share of the time that training waited for these stages."""
    steps = settled(session)
    wall = sum(step.seconds for step in steps)
    lost = sum(step.blame.get(stage, 0.0) for step in steps for stage in stages)
    return lost / wall if wall else 1.0


def _batches(config: Config) -> Iterator[Candidate]:
    size = config.data.batch_size
    for times in (4, 2, 8, 0.5):
        wanted = int(size * times)
        if 1 <= wanted <= LARGEST_BATCH:
            yield Candidate({"data.batch_size": wanted}, "batch_size")


_TRAINING_SIDE = {
    "data.batch_size", "data.pad_to_fixed_length", "data.static_shapes", "data.max_buckets",
    "data.enable_xla", "data.mixed_precision", "data.features",
}  # fmt: skip
"""Keys that also change how long training itself takes."""


def _judged(one: Candidate, planner: Planner | None, wait: float) -> Candidate | None:
    """The candidate with what the plan expects of it; None: no trial could show a gain."""
    keys = set(one.settings)
    if not keys & _TRAINING_SIDE and 1 / max(0.05, 1 - wait) < 1 + LEAST_GAIN:
        return None
    what_if = _as_what_if(one.settings)
    if planner is None or what_if is None:
        return _doubtful(one, planner)
    try:
        predicted = planner.predict(what_if)
    except NotPredictable:
        return _doubtful(one, planner)
    if predicted.ratio.high < WORTH_A_TRIAL:
        return None
    return Candidate(one.settings, one.why, predicted.ratio.point)


def _doubtful(one: Candidate, planner: Planner | None) -> Candidate | None:
    """What cannot be predicted is tried, but for a smaller batch: that is a last resort."""
    wanted = one.settings.get("data.batch_size")
    if wanted is not None and planner is not None:
        return one if wanted > planner.run.config.data.batch_size else None
    return one


_BUFFERS = {"data.pipeline_depth", "data.adaptive_depth", "data.prefetch_buffer_size"}


def _as_what_if(settings: Settings) -> WhatIf | None:
    """The same change in the plan's words; None: the plan has none for it."""
    if set(settings) & _BUFFERS and set(settings) <= _BUFFERS:
        return WhatIf(pipeline_depth=DEEPEST)  # no buffer anywhere can do more
    names = {
        "data.batch_size": "batch_size",
        "data.num_workers": "num_workers",
        "data.features": "features",
        "data.optimize_cpu_gpu_overlap": "overlap",
    }
    if not set(settings) <= set(names):
        return None
    return WhatIf(**{names[key]: value for key, value in settings.items()})


def _has_already(config: Config, settings: Settings) -> bool:
    tree = config.model_dump()
    return all(
        tree[key.split(".")[0]][key.split(".")[1]] == value for key, value in settings.items()
    )


def _unusual(config: Config) -> list[str]:
    """Keys of the data section that do not have their default."""
    usual = Config().data.model_dump()
    return [key for key, value in config.data.model_dump().items() if value != usual[key]]
