"""The pipeline side by side: no pipeline, tf.data, PyTorch's DataLoader, and the ideal.

    python benchmarks/pipeline.py            # under 30 minutes
    python benchmarks/pipeline.py --quick    # about 2 minutes, fewer steps: to see that it works

Stages that sleep show what a pipeline costs; then a depth that adapts beside fixed ones, random
pipelines with planted mishaps, and the real model on two virtual devices. Needs
`pip install -e ".[cpu,phonemes,bench]"`; a peer that is not installed is reported as missing.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import depths
import loads
import overhead
import pipeline_report
import pipeline_trials
import real_pipeline
import sleeping
import telemetry_cost
from fresh import in_fresh_process
from notes import RESULTS, Notes, Say, write
from pipeline_report import Measured

SEED = 1


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    rounds: int
    round_steps: int
    """Steps of a steady load in each round."""
    changing_steps: int
    changing_rounds: int
    overhead_steps: int
    telemetry: tuple[int, int, int]
    """Pairs of runs with and without, and the steps of each: idle ones, and of 50 ms."""
    trials: int
    real_rounds: int
    real_steps: int


FULL = Plan(3, 170, 1500, 2, 20_000, (20, 500, 20), 1000, 3, 120)
QUICK = Plan(1, 20, 300, 1, 2000, (3, 200, 5), 30, 1, 20)


def main() -> None:
    """Measure, print the table, write JSON and plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer steps, about 2 minutes")
    parser.add_argument("--only", choices=PARTS, action="append", help="measure only this part")
    parser.add_argument("--output", type=Path, help="folder of the results")
    options = parser.parse_args()
    plan = QUICK if options.quick else FULL
    measured, about = measure(plan, options.only or list(PARTS))
    result = pipeline_report.document(measured, about)
    print(pipeline_report.table(result))
    # A quick or partial run is no result: it is written only where it is asked for.
    partial = options.quick or options.only
    output = options.output or (None if partial else RESULTS)
    if output is not None:
        write(
            output,
            "pipeline",
            result,
            lambda path: pipeline_report.plot(measured, result["machine"], path),
        )


def measure(plan: Plan, parts: list[str]) -> tuple[Measured, dict[str, Any]]:
    """The parts, one at a time: beside another one, waking up takes longer."""
    notes = Notes(plan=vars(plan) | {"depth": sleeping.DEPTH, "seed": SEED})
    found: dict[str, Any] = {}
    for name, part in PARTS.items():
        if name in parts:
            notes.say(name)
            found |= part(plan, notes.say)
    return Measured(**found), notes.about()


def _overhead(plan: Plan, say: Say) -> dict[str, Any]:
    cost = in_fresh_process(overhead.measure, plan.overhead_steps)
    say(f"overhead: {cost}")
    return {"overhead": cost}


def _telemetry(plan: Plan, say: Say) -> dict[str, Any]:
    cost = in_fresh_process(telemetry_cost.measure, *plan.telemetry)
    say(f"telemetry: {cost}")
    return {"telemetry": cost}


def _steady(plan: Plan, say: Say) -> dict[str, Any]:
    # Each round draws its own times; the contenders of a round get the same ones.
    rounds = [list(loads.steady(plan.round_steps, SEED + n)) for n in range(plan.rounds)]
    races, missing = sleeping.race(rounds, say)
    return {"races": races, "missing": missing}


def _changing(plan: Plan, say: Say) -> dict[str, Any]:
    drawn = loads.changing(plan.changing_steps, SEED)
    return {"contests": depths.compare(drawn, plan.changing_rounds, say)}


def _trials(plan: Plan, say: Say) -> dict[str, Any]:
    failed = in_fresh_process(pipeline_trials.run_many, range(plan.trials))
    say(f"{plan.trials} random pipelines, {len(failed)} failures")
    return {"trials": plan.trials, "failed_seeds": sorted(failed)}


def _real(plan: Plan, say: Say) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="myxtts-pipeline-") as scratch:
        folder = Path(scratch)
        return {"real": real_pipeline.measure(plan.real_rounds, plan.real_steps, folder, say)}


PARTS: dict[str, Callable[[Plan, Say], dict[str, Any]]] = {
    "overhead": _overhead,
    "telemetry": _telemetry,
    "steady": _steady,
    "changing": _changing,
    "trials": _trials,
    "real": _real,
}


if __name__ == "__main__":
    main()
