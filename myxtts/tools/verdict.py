"""What holds a recorded run up: one cause, how sure it is, and what to change.

A pure function of a Session. The buffers own the verdict: it begins with what training waited for
and with how busy each thread was (`lane_figures`), and with the pauses that the run booked; the
rates of the stages on their own (events of kind `rate`) only confirm or doubt it. Findings list all
that is worth changing; a verdict names the one thing that limits the run.

The confidence, 0–1, is made of three parts and is no probability: half is there from the start;
up to 0.3 for how far the cause stands out (its loss against its threshold and against the next
cause's loss); and 0.2 when the rates of the stages on their own agree, −0.2 when they do not. With
fewer steps than `ENOUGH_STEPS` it shrinks in proportion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from myxtts.telemetry.session import Session
from myxtts.tools import change_for, lane_figures
from myxtts.tools.findings import Change, data_settings
from myxtts.tools.lane_figures import Lane, Window
from myxtts.tools.stage_rates import slowest_alone

Cause = Literal[
    "disk", "decode", "preprocess", "transfer", "training", "jitter", "buffer", "recompilation",
    "padding", "checkpointing", "validation", "balanced",
]  # fmt: skip
CAUSES: tuple[Cause, ...] = get_args(Cause)

WAIT_FLOOR = 0.10
"""Below this share of waiting nothing is wrong: threads that take equally long miss each other by
so much on a machine that also does other things."""
BUSY_LIMIT = 0.90
"""A thread that works this share of the time is what the others wait for; below it, each of them
had time left, and what is missing is evenness."""
SWING_FLOOR = 0.25
"""std/mean of a thread's work from which on it may be the swing that training waits for."""
DEEP_RING = 16
"""The depth up to which memory is cheap against a wait: `pipeline_depth_max` as it comes."""
ABSORBED = 0.5
"""A depth is to blame when a deep ring would have taken away at least this part of the waits."""
PAUSE_FLOOR = 0.08
"""Share of the time in checkpoints, or in validation, from which on it is the cause."""
COMPILE_FLOOR = 0.05
"""The same for compiling: after warm-up none is expected at all."""
PADDING_FLOOR = 0.15
"""Share of the time lost to padding beyond what shapes that fit would leave. A small corpus fills
its last batches badly, whatever the shapes."""
USEFUL_REACHABLE = 0.90
"""Useful frames / computed frames with shapes chosen from the corpus."""
BALANCED_FROM = 0.88
"""Preparation that takes at least this part of training's time is about as long as training."""
TRAINING_FROM = 0.60
"""Share of training above which its device is the limit; below, nothing stands out."""
ENOUGH_STEPS = 40

HEALTHY: tuple[Cause, ...] = ("training", "balanced")


@dataclass(frozen=True)
class Verdict:
    """The cause, and the numbers that it rests on."""

    cause: Cause
    confidence: float
    """0–1; see the module's docstring for how it is made."""
    lost: float
    """Share of the wall time that removing the cause would win at most."""
    evidence: Mapping[str, Any]
    change: Change

    @property
    def healthy(self) -> bool:
        """Nothing in the pipeline is to be repaired."""
        return self.cause in HEALTHY

    def as_json(self, language: Literal["en", "fa"] = "en") -> dict[str, Any]:
        """Plain data with its sentences, for `--json`."""
        from myxtts.tools.verdict_words import said

        return {
            "cause": self.cause,
            "healthy": self.healthy,
            "confidence": self.confidence,
            "lost": self.lost,
            "evidence": dict(self.evidence),
            "change": {"settings": dict(self.change.settings), "command": self.change.command},
            **said(self, language),
        }


def verdict(session: Session) -> Verdict | None:
    """What limits the run; None: too few steps to say."""
    compiling = _compiling(session)
    seen = lane_figures.window(session)
    if seen is None:
        if compiling < COMPILE_FLOOR or len(session.steps) < lane_figures.FEWEST_STEPS:
            return None
        counted = {"compiling": compiling, "compiled_steps": _compiled(session)}
        change = change_for.cause(session, "recompilation", compiling, ())
        return Verdict("recompilation", 0.8, compiling, counted, change)
    losses = _losses(seen, compiling)
    floors = {"wait": WAIT_FLOOR, "recompilation": COMPILE_FLOOR, "padding": PADDING_FLOOR}
    over = {name: lost for name, lost in losses.items() if lost >= floors.get(name, PAUSE_FLOOR)}
    if over:
        name = max(over, key=lambda one: over[one])
        cause, swings = _waited_for(seen) if name == "wait" else (_named(name), None)
        lost = over[name]
    else:
        cause, swings, lost = _healthy(seen), None, losses["wait"]
    evidence = _evidence(seen, losses, swings)
    alone = slowest_alone(session)
    evidence |= {"rates": alone.means, "rates_agree": alone.agrees(cause, swings)}
    runner_up = max((of for name, of in losses.items() if of < lost), default=0.0)
    return Verdict(
        cause,
        _confidence(cause, lost, runner_up, evidence["rates_agree"], len(seen.steps)),
        lost,
        evidence,
        change_for.cause(session, cause, lost, () if swings is None else swings.stages),
    )


# -- what is lost, and to what --------------------------------------------------------------------


def _losses(seen: Window, compiling: float) -> dict[str, float]:
    """Share of the wall time that each kind of loss takes."""
    useful = sum(step.useful_frames for step in seen.steps)
    padded = sum(step.padded_frames for step in seen.steps)
    filled = min(1.0, useful / padded / USEFUL_REACHABLE) if padded else 1.0
    # What compiled is outside the window: the others share what it leaves.
    rest = 1.0 - compiling
    return {
        "wait": rest * seen.steady_wait,
        "recompilation": compiling,
        "padding": rest * seen.training * (1.0 - filled),
        **{name: rest * seconds / seen.wall for name, seconds in seen.pauses.items()},
    }


def _named(loss: str) -> Cause:
    causes: dict[str, Cause] = {
        "recompilation": "recompilation", "padding": "padding",
        "checkpointing": "checkpointing", "validation": "validation",
    }  # fmt: skip
    return causes[loss]


def _compiled(session: Session) -> int:
    return sum(step.compiled for step in session.steps[1:])


def _compiling(session: Session) -> float:
    """Share of the steps' time beyond that of an even step, in steps that compiled."""
    compiled = [step for step in session.steps[1:] if step.compiled]
    times = session.step_times
    even = sum(times) / len(times) if times else 0.0
    if not compiled:
        return 0.0
    first, last = session.steps[0].step, session.steps[-1].step
    wall = sum(step.seconds for step in session.steps[1:])
    wall += sum(lane_figures.pauses(session, first, last).values())
    return sum(max(0.0, step.seconds - even) for step in compiled) / wall if wall else 0.0


def _waited_for(seen: Window) -> tuple[Cause, Lane | None]:
    """The stage that training waits for; or, where none is too slow, the lane that swings."""
    if not seen.overlapping:
        return _stage(seen, [name for lane in seen.lanes for name in lane.stages]), None
    busiest = max(seen.lanes, key=lambda lane: lane.mean)
    if busiest.mean >= BUSY_LIMIT * seen.period:
        return _stage(seen, busiest.stages), None
    swinging = max(seen.lanes, key=lambda lane: lane.mean * lane.swing)
    if swinging.swing < SWING_FLOOR:  # neither slow nor uneven: then what the waits were blamed on
        return _blamed(seen), None
    if change_for.depth_limit(seen.session) < DEEP_RING:
        left = lane_figures.replayed_wait(seen, DEEP_RING)
        if left <= (1.0 - ABSORBED) * seen.wait:
            return "buffer", swinging
    return "jitter", swinging


def _blamed(seen: Window) -> Cause:
    stages = [name for lane in seen.lanes for name in lane.stages]
    return _cause_of(seen, max(stages, key=seen.blame))


def _stage(seen: Window, stages: tuple[str, ...] | list[str]) -> Cause:
    """The stage of a lane that works the longest."""
    return _cause_of(seen, max(stages, key=seen.stage))


def _cause_of(seen: Window, stage: str) -> Cause:
    if stage == "load":
        return _part_of_loading(seen)
    return "preprocess" if stage == "preprocess" else "transfer"


def _part_of_loading(seen: Window) -> Cause:
    """Reading, or everything else that loading does.

    A recording that does not tell them apart: the memory-mapped store only reads.
    """
    disk, decode = seen.part("disk"), seen.part("decode")
    if disk is None or decode is None:
        native = data_settings(seen.session).get("use_tf_native_loading", True)
        return "disk" if native else "decode"
    beside = max(0.0, seen.stage("load") - disk - decode)
    return "disk" if disk > decode + beside else "decode"


def _healthy(seen: Window) -> Cause:
    prepared = max((lane.mean for lane in seen.lanes), default=0.0)
    even = prepared >= BALANCED_FROM * seen.consumer
    return "balanced" if even or seen.training < TRAINING_FROM else "training"


# -- how sure, and on what grounds ----------------------------------------------------------------


def _confidence(
    cause: Cause, lost: float, runner_up: float, agree: bool | None, steps: int
) -> float:
    if cause in HEALTHY:  # the smaller the loss, the surer that there is none
        margin = 1.0 - min(1.0, lost / WAIT_FLOOR)
    else:
        margin = min(1.0, (lost - runner_up) / (2.0 * WAIT_FLOOR))
    support = {True: 0.2, False: -0.2, None: 0.0}[agree]
    sure = (0.5 + 0.3 * max(0.0, margin) + support) * min(1.0, steps / ENOUGH_STEPS)
    return round(min(0.99, max(0.05, sure)), 3)


def _evidence(seen: Window, losses: Mapping[str, float], swings: Lane | None) -> dict[str, Any]:
    """The account's shares, the threads, the queues and the parts of loading."""
    stages = [name for lane in seen.lanes for name in lane.stages]
    return {
        "steps": len(seen.steps),
        "period": seen.period,
        "waited": seen.wait,
        "training": seen.training,
        "losses": dict(losses),
        "waited_for": {name: seen.blame(name) for name in stages},
        "stages": {name: seen.stage(name) for name in stages},
        "lanes": {
            lane.ring: {"busy": lane.mean / seen.period, "swing": lane.swing} for lane in seen.lanes
        },
        "loading": {"disk": seen.part("disk"), "decode": seen.part("decode")},
        "swings": None if swings is None else swings.ring,
        "depth_limit": change_for.depth_limit(seen.session),
    }
