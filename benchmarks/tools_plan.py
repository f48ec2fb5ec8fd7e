"""Is `myxtts plan` right? Every prediction is checked by a run.

    python benchmarks/tools_plan.py                 # about 8 minutes
    python benchmarks/tools_plan.py --quick         # a few cases, to see that it works
    python benchmarks/tools_plan.py --only sleeping

Pipelines whose stages sleep through the product's own threads, rings and loop; and the tiny model
in TensorFlow on two virtual devices. From the recording of a base run the change is predicted, then
the changed run is measured. A direction is wrong when it was advised and the measured effect is on
the other side beyond its noise.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fresh import in_fresh_process
from notes import Notes, Say, write
from plan_cases import COMMON, REAL, SLEEPING, Settings

from myxtts.tools.plan import Planner
from myxtts.tools.what_if import WhatIf

SLEEPING_STEPS = 160
REAL_ROUNDS, REAL_STEPS = 7, 7
SLEEPING_PIECES = 8
CORPUS_CLIPS, CORPUS_SEED = 192, 5
RESAMPLES = 2000


@dataclass(frozen=True)
class Check:
    """A prediction and what came of it; useful frames a second."""

    case: str
    kind: str
    """sleeping or real."""
    change: str
    predicted: float
    low: float
    high: float
    direction: str
    measured: float
    ratio: tuple[float, float, float]
    """Measured / base: low, point, high (95 % of resampled steps)."""

    @property
    def error(self) -> float:
        """|predicted - measured| / measured."""
        return abs(self.predicted - self.measured) / self.measured

    @property
    def covered(self) -> bool:
        """Whether the predicted range and that of the measurement meet."""
        half = self.measured / self.ratio[1]
        return self.low <= half * self.ratio[2] and self.high >= half * self.ratio[0]

    @property
    def wrong_direction(self) -> bool:
        low, _, high = self.ratio
        return (self.direction == "faster" and high < 1) or (self.direction == "slower" and low > 1)

    def to_json(self) -> dict[str, Any]:
        return {
            "case": self.case,
            "kind": self.kind,
            "change": self.change,
            "predicted": round(self.predicted),
            "range": [round(self.low), round(self.high)],
            "direction": self.direction,
            "measured": round(self.measured),
            "measured_ratio": [round(value, 3) for value in self.ratio],
            "error": round(self.error, 4),
            "covered": self.covered,
            "wrong_direction": self.wrong_direction,
        }


def run(say: Say, *, quick: bool) -> dict[str, Any]:
    """Predict and check; the figures of `plan`."""
    checks = sleeping(say, quick=quick)
    for group in range(1 if quick else len(REAL)):
        checks += real(group, say, quick=quick)
    return summary(checks)


def summary(checks: Sequence[Check]) -> dict[str, Any]:
    """The figures, and every check."""

    def median(kind: str) -> float | None:
        errors = [check.error for check in checks if kind in ("", check.kind)]
        return round(statistics.median(errors), 4) if errors else None

    return {
        "plan_predictions": len(checks),
        "plan_real_predictions": sum(check.kind == "real" for check in checks),
        "plan_median_error": median(""),
        "plan_median_error_sleeping": median("sleeping"),
        "plan_median_error_real": median("real"),
        "plan_largest_error": round(max(check.error for check in checks), 4),
        "plan_wrong_direction": sum(check.wrong_direction for check in checks),
        "plan_advised": sum(check.direction != "unclear" for check in checks),
        "plan_ranges_hold": round(statistics.fmean(check.covered for check in checks), 3),
        "checks": [check.to_json() for check in checks],
    }


def checked(
    case: str, kind: str, planner: Planner, what_if: WhatIf, changed: Planner, pieces: int
) -> Check:
    """Put a prediction beside the run that shows what is true."""
    predicted = planner.predict(what_if)
    ratio = _ratio(planner, changed, pieces, turns=kind == "real")
    return Check(
        case, kind, str(what_if),
        predicted.frames_per_second.point,
        predicted.frames_per_second.low,
        predicted.frames_per_second.high,
        predicted.direction,
        planner.run.frames_per_second * ratio[1],
        ratio,
    )  # fmt: skip


def _ratio(
    base: Planner, changed: Planner, pieces: int, *, turns: bool
) -> tuple[float, float, float]:
    """How many times the frames a second: low, point, high.

    Both runs in as many pieces. Pieces of runs that took turns are neighbours in time, and the
    machine's speed drifts: their ratios are taken pair by pair, and the median counts.
    """
    rates = []
    for run in (base.run, changed.run):
        # Runs that took turns have left such steps out in every turn.
        kept = slice(0 if turns else run.skipped, None)
        parts = [np.array_split(some[kept], pieces) for some in (run.useful, run.seconds)]
        rates.append(np.array([u.sum() / s.sum() for u, s in zip(*parts, strict=True)]))
    ratios = rates[1] / rates[0]
    drawn = np.random.default_rng(0).integers(0, pieces, (RESAMPLES, pieces))
    low, high = np.percentile(np.median(ratios[drawn], axis=1), (2.5, 97.5))
    return float(low), float(np.median(ratios)), float(high)


# -- pipelines that sleep ------------------------------------------------------------------------


def sleeping(say: Say, *, quick: bool) -> list[Check]:
    """Every case in a process of its own; sleeping costs no processor."""
    cases = list(SLEEPING)[:2] if quick else list(SLEEPING)
    checks: list[Check] = []
    for case in cases:
        checks += in_fresh_process(_sleeping_case, case, 2 if quick else None)
        say(f"sleeping, {case}: errors {[round(c.error, 3) for c in checks if c.case == case]}")
    return checks


def _sleeping_case(case: str, most: int | None) -> list[Check]:
    from sleeping_run import Machine, record

    costs, settings, changes = SLEEPING[case]
    machine, config = Machine(**costs), _sleeping_config(settings)
    base = record(config, machine, SLEEPING_STEPS)
    planner, checks = Planner(base), []
    for number, what_if in enumerate(changes[:most]):
        faster = what_if.model_faster or 1.0
        changed = config.replaced(what_if.settings(config))
        trained = tuple(part / faster for part in machine.train)
        found = record(
            changed, Machine(**costs | {"train": trained}), SLEEPING_STEPS,
            rates=False, seed=1 + number,
        )  # fmt: skip
        checks.append(
            checked(case, "sleeping", planner, what_if, Planner(found, draws=1), SLEEPING_PIECES)
        )
    return checks


def _sleeping_config(settings: Settings) -> Any:
    from myxtts.config import Config

    return Config().replaced({f"data.{key}": value for key, value in settings.items()})


# -- the tiny model on two virtual devices -------------------------------------------------------


def real(group: int, say: Say, *, quick: bool) -> list[Check]:
    """One base run and its changes, taking turns in one process."""
    checks: list[Check] = in_fresh_process(_real_group, group, 1 if quick else REAL_ROUNDS)
    told = {check.change: (round(check.error, 3), check.direction) for check in checks}
    say(f"real, group {group + 1}: {told}")
    return checks


def _real_group(group: int, rounds: int) -> list[Check]:
    from real_runs import Workshop

    from myxtts.data import demo_corpus

    settings, dual, changes = REAL[group]
    with tempfile.TemporaryDirectory(prefix="myxtts-plan-") as scratch:
        corpus = demo_corpus.make(Path(scratch) / "corpus", clips=CORPUS_CLIPS, seed=CORPUS_SEED)
        shop = Workshop(Path(scratch), COMMON | {"data.train_data": str(corpus)})
        base = {f"data.{key}": value for key, value in settings.items()}
        runs = [shop.run(base, dual=dual)]
        for what_if in changes:
            # Device keys are the workshop's: one process has placed its devices once.
            keys = _without_devices(what_if).settings(runs[0].config)
            on_two = dual if what_if.device_plan is None else what_if.device_plan == "dual"
            runs.append(shop.run(base | keys, dual=on_two))
        for number in range(rounds):
            for one in runs if number % 2 else runs[::-1]:
                one.advance(REAL_STEPS)
            runs[0].time_alone()
        planner = Planner(runs[0].recorded())
        return [
            checked(
                f"group {group + 1}", "real", planner, what_if,
                Planner(one.recorded(), draws=1), rounds,
            )
            for what_if, one in zip(changes, runs[1:], strict=True)
        ]  # fmt: skip


def _without_devices(what_if: WhatIf) -> WhatIf:
    return WhatIf(**{k: v for k, v in what_if.asked.items() if k != "device_plan"})


def _parts() -> Iterator[str]:
    yield "sleeping"
    for number in range(len(REAL)):
        yield f"real-{number + 1}"


def main() -> None:
    """Measure and print; the result is written only where it is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few cases")
    parser.add_argument("--only", choices=list(_parts()), action="append", help="this part alone")
    parser.add_argument("--output", type=Path, help="folder of tools-plan.json")
    options = parser.parse_args()
    notes = Notes()
    checks: list[Check] = []
    for part in options.only or ():
        name, _, number = part.partition("-")
        checks += (
            sleeping(notes.say, quick=options.quick)
            if name == "sleeping"
            else real(int(number) - 1, notes.say, quick=options.quick)
        )
    result = summary(checks) if checks else run(notes.say, quick=options.quick)
    print(json.dumps(result, indent=2))
    if options.output is not None:
        write(options.output, "tools-plan", result | notes.about())


if __name__ == "__main__":
    main()
