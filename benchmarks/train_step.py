"""One training step: ours against the same network in PyTorch, and its cost as networks grow.

    python benchmarks/train_step.py            # about half an hour on two cores
    python benchmarks/train_step.py --quick    # about 2 minutes, small shapes: to see that it works

Same layers, shapes, batch, threads and float32; alignment, clipping and AdamW included. That both
compute the same is tests/benchmarks/test_torch_xtts.py's to prove. Needs
`pip install -e ".[cpu,bench]"`; without PyTorch its side is reported as missing.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import speech_batch
import step_report
from notes import RESULTS, Notes, Say, write
from stepping import WAYS, Job, Turns, compare, fastest

from myxtts.models.sizes import SIZES, ModelSize

THREADS = 2
NETWORKS = ("tiny", "small")
LENGTH_ROWS = 8
"""Clips in a batch while their length grows."""


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    shape: speech_batch.Shape
    ways: tuple[str, ...]
    turns: int
    steps: dict[str, int]
    """Steps in a turn of each network."""
    curve_turns: int
    lengths: tuple[int, ...]
    """Frames of a clip."""
    widths: tuple[tuple[str, int], ...]
    """Networks of the curve over sizes."""


FULL = Plan(
    shape=speech_batch.shape(16, 400),
    ways=tuple(WAYS),
    turns=11,
    steps={"tiny": 5, "small": 2},
    curve_turns=3,
    lengths=(200, 400, 800),
    widths=(("tiny", 64), ("tiny", 128), ("small", 128), ("small", 256)),
)
QUICK = Plan(
    shape=speech_batch.shape(4, 96),
    ways=("xla", "eager"),
    turns=3,
    steps={"tiny": 3, "small": 2},
    curve_turns=1,
    lengths=(),
    widths=(),
)


def main() -> None:
    """Measure, print the table, write JSON and plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small shapes, about 2 minutes")
    parser.add_argument("--output", type=Path, help="folder of the results")
    options = parser.parse_args()
    plan = QUICK if options.quick else FULL
    result, points = measure(plan)
    print(step_report.table(result))
    # A quick run is no result: it is written only where it is asked for.
    output = options.output or (None if options.quick else RESULTS)
    if output is not None:
        plot = partial(step_report.plot, points, result["machine"]) if points else None
        write(output, "train_step", result, plot)


def measure(plan: Plan) -> tuple[dict[str, Any], list[step_report.Cost]]:
    """The contests at one shape, then the curves in the ways that were fastest there."""
    notes = Notes(
        threads=THREADS, precision="float32", turns=plan.turns, steps_in_a_turn=plan.steps
    )
    say = notes.say
    contests = []
    for name in NETWORKS:
        say(f"{name}, {plan.shape}")
        job = Job(SIZES[name], plan.shape, THREADS)
        outcome = compare(job, plan.ways, plan.turns, plan.steps[name], say)
        contests.append(step_report.Contest(name, plan.shape, outcome))
    best = {contest.size: _fastest_ways(contest.outcome) for contest in contests}
    points = _curves(plan, best, say)
    return step_report.document(contests, points, notes.about()), points


def _fastest_ways(outcome: dict[str, Turns]) -> list[str]:
    return [way for side in step_report.TITLES if (way := fastest(outcome, side)) is not None]


def _curves(plan: Plan, ways: dict[str, list[str]], say: Say) -> list[step_report.Cost]:
    points = []
    for network in NETWORKS:
        for frames in plan.lengths:
            shape = speech_batch.shape(LENGTH_ROWS, frames)
            say(f"{network}, {shape}")
            job = Job(SIZES[network], shape, THREADS)
            outcome = compare(job, ways[network], plan.curve_turns, plan.steps[network], say)
            points += step_report.costs("length", network, shape, outcome)
    for network, width in plan.widths:
        say(f"{network}, width {width}, {plan.shape}")
        job = Job(_narrowed(SIZES[network], width), plan.shape, THREADS)
        outcome = compare(job, ways[network], plan.curve_turns, plan.steps[network], say)
        points += step_report.costs("size", f"{network}, {width}", plan.shape, outcome)
    return points


def _narrowed(size: ModelSize, width: int) -> ModelSize:
    return replace(size, width=width, duration_width=width // 2, refiner_width=width)


if __name__ == "__main__":
    main()
