"""Planted bottlenecks: how often the verdict names the cause, beside two rules of thumb.

    python benchmarks/tools_planted.py --case 17    # one case of the proof again, with its evidence
    python benchmarks/tools_planted.py --tuning     # the cases that thresholds were fixed on

The thresholds of the verdict were fixed on the cases of `TUNING_SEED`. Those of `PROOF_SEED` were
drawn for the proof and are what is reported. Also measured: what a profile costs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import planted_rules
import profile_cost
from fresh import in_fresh_process
from planted_cases import LEAST, TWICE, Case, draw
from planted_rules import Judged
from stepping import Say

TUNING_SEED = 20261
PROOF_SEED = 20262
HEALTHY = ("training", "balanced")


@dataclass(frozen=True)
class Outcome:
    """A case, and what was said of it."""

    case: Case
    judged: Judged

    @property
    def right(self) -> bool:
        return self.judged.ours == self.case.cause

    @property
    def false_alarm(self) -> bool:
        """Something is called a bottleneck where nothing was planted."""
        return self.case.healthy and self.judged.ours not in HEALTHY


def run(say: Say, *, quick: bool) -> dict[str, Any]:
    """The proof, and the cost of a profile."""
    outcomes = measured(draw(PROOF_SEED, quick=quick), say)
    cost = in_fresh_process(profile_cost.measure, 3 if quick else profile_cost.PAIRS)
    say(f"profile: {cost}")
    return figures(outcomes) | {"profile_overhead_pct": cost["pct"], "profile_overhead": cost}


def measured(cases: Sequence[Case], say: Say) -> list[Outcome]:
    """Every case in turn, all in one process: TensorFlow is loaded once."""
    say(f"{len(cases)} planted cases")
    return in_fresh_process(_all, list(cases))


def _all(cases: list[Case]) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="myxtts-planted-") as scratch:
        corpus = _corpus(Path(scratch)) if any(case.way == "real" for case in cases) else Path()
        return [_one(case, Path(scratch), corpus) for case in cases]


def _corpus(scratch: Path) -> Path:
    from planted_runs import CLIPS, CORPUS_SEED

    from myxtts.data import demo_corpus

    return demo_corpus.make(scratch / "corpus", clips=CLIPS, seed=CORPUS_SEED)


def _one(case: Case, scratch: Path, corpus: Path) -> Outcome:
    from planted_runs import recorded

    outcome = Outcome(
        case, planted_rules.judged(recorded(case, scratch / f"case-{case.number}", corpus))
    )
    mark = "" if outcome.right else f"  <- {case.cause}, {' '.join((*case.main, *case.beside))}"
    print(f"case {case.number} ({case.way}): {outcome.judged.ours}{mark}", file=sys.stderr)
    return outcome


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Shares, the table of confusions, and the wrong ones by name."""
    healthy = [one for one in outcomes if one.case.healthy]
    real = [one for one in outcomes if one.case.way == "real"]
    wrong = [one for one in outcomes if not one.right]
    confusion: dict[str, Counter[str]] = {}
    for one in outcomes:
        confusion.setdefault(one.case.cause, Counter())[str(one.judged.ours)] += 1
    return {
        "planted_cases": len(outcomes),
        "planted_real": len(real),
        "planted_healthy": len(healthy),
        "planted_accuracy": _share([one.right for one in outcomes]),
        "planted_accuracy_real": _share([one.right for one in real]),
        "false_alarm_rate": _share([one.false_alarm for one in healthy]),
        "planted_two_way": _share(
            [
                (one.judged.ours in planted_rules.DATA_SIDE)
                == (one.case.cause in planted_rules.DATA_SIDE)
                for one in outcomes
            ]
        ),
        "tensorboard_rule_accuracy": _share(
            [
                planted_rules.tensorboard_right(one.judged.tensorboard, one.case.cause)
                for one in outcomes
            ]
        ),
        "fixed_thresholds_accuracy": _share(
            [
                planted_rules.thresholds_right(one.judged.thresholds, one.case.cause)
                for one in outcomes
            ]
        ),
        "planted_confidence": {
            "right": _mean([one.judged.confidence for one in outcomes if one.right]),
            "wrong": _mean([one.judged.confidence for one in wrong]),
        },
        "planted_confusion": {cause: dict(said) for cause, said in sorted(confusion.items())},
        "planted_wrong": [one.case.told() | {"said": asdict(one.judged)} for one in wrong],
        "planted_seeds": {"tuning": TUNING_SEED, "proof": PROOF_SEED},
        "planted_dominant": f"taking the cause away saves at least {LEAST:.0%} of the time, and "
        f"at least {TWICE:g} times as much as taking away what is planted beside it",
    }


def _share(found: Sequence[bool]) -> float | None:
    return round(sum(found) / len(found), 4) if found else None


def _mean(values: Sequence[float]) -> float | None:
    return round(statistics.fmean(values), 3) if values else None


def main() -> None:
    """One case again, or the cases of tuning."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", type=int, action="append", help="run only this case")
    parser.add_argument("--tuning", action="store_true", help="the cases of the tuning seed")
    parser.add_argument("--quick", action="store_true", help="every sixth case")
    parser.add_argument("--way", choices=("sleeping", "real"), help="only these")
    options = parser.parse_args()
    cases = draw(TUNING_SEED if options.tuning else PROOF_SEED, quick=options.quick)
    cases = [case for case in cases if not options.case or case.number in options.case]
    cases = [case for case in cases if options.way in (None, case.way)]
    found = figures(measured(cases, print))
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
