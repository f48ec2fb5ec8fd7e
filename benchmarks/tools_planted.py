"""Planted bottlenecks: how often the verdict names the cause, beside two rules of thumb.

    python benchmarks/tools_planted.py --case 17    # one case of the proof again, with its evidence
    python benchmarks/tools_planted.py --tuning     # the cases that thresholds were fixed on
    python benchmarks/tools_planted.py --keep FILE  # in portions: what is in FILE is not run again

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
from notes import Say
from planted_cases import LEAST, PLAN, TWICE, Case, drawn, numbers
from planted_rules import Judged

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


def run(say: Say, *, quick: bool, keep: Path | None = None) -> dict[str, Any]:
    """The proof, and the cost of a profile; `keep`: where outcomes are, and are added to."""
    outcomes = measured(PROOF_SEED, numbers(quick=quick), say, keep)
    cost = in_fresh_process(profile_cost.measure, 3 if quick else profile_cost.PAIRS)
    say(f"profile: {cost}")
    return figures(outcomes) | {
        "planted_in_portions": keep is not None,
        "profile_overhead_pct": cost["pct"],
        "profile_overhead": cost,
    }


def measured(seed: int, wanted: Sequence[int], say: Say, keep: Path | None = None) -> list[Outcome]:
    """Every case in turn, all in one process: TensorFlow is loaded once."""
    say(f"{len(wanted)} planted cases of seed {seed}")
    return in_fresh_process(_all, seed, list(wanted), keep)


def _all(seed: int, wanted: list[int], keep: Path | None) -> list[Outcome]:
    known = _kept(keep, seed)
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="myxtts-planted-") as name:
        scratch, corpus = Path(name), Path()
        for number in wanted:
            case = drawn(seed, number)
            if number not in known:
                if case.way == "real" and not corpus.name:
                    corpus = _corpus(scratch)
                known[number] = _judged(case, scratch, corpus)
                _keep(keep, seed, number, known[number])
            outcomes.append(Outcome(case, known[number]))
            _tell(outcomes[-1])
    return outcomes


def _kept(keep: Path | None, seed: int) -> dict[int, Judged]:
    """What an earlier portion found."""
    if keep is None or not keep.exists():
        return {}
    lines = [json.loads(line) for line in keep.read_text().splitlines()]
    return {one["number"]: Judged(**one["judged"]) for one in lines if one["seed"] == seed}


def _keep(keep: Path | None, seed: int, number: int, judged: Judged) -> None:
    if keep is not None:
        with keep.open("a") as stream:
            line = {"seed": seed, "number": number, "judged": asdict(judged)}
            stream.write(json.dumps(line) + "\n")


def _corpus(scratch: Path) -> Path:
    from planted_runs import CLIPS, CORPUS_SEED

    from myxtts.data import demo_corpus

    return demo_corpus.make(scratch / "corpus", clips=CLIPS, seed=CORPUS_SEED)


def _judged(case: Case, scratch: Path, corpus: Path) -> Judged:
    from planted_runs import recorded

    return planted_rules.judged(recorded(case, scratch / f"case-{case.number}", corpus))


def _tell(one: Outcome) -> None:
    planted = " ".join((*one.case.main, *one.case.beside))
    wrong = "" if one.right else f"  <- {one.case.cause}, {planted}"
    print(f"case {one.case.number} ({one.case.way}): {one.judged.ours}{wrong}", file=sys.stderr)


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


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """One case again, or the cases of tuning."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", type=int, action="append", help="run only this case")
    parser.add_argument("--tuning", action="store_true", help="the cases of the tuning seed")
    parser.add_argument("--quick", action="store_true", help="every sixth case")
    parser.add_argument("--way", choices=("sleeping", "real"), help="only these")
    parser.add_argument("--keep", type=Path, help="outcomes, one a line: read, and added to")
    options = parser.parse_args()
    wanted = [
        number
        for number in options.case or numbers(quick=options.quick)
        if options.way in (None, PLAN[number][0])
    ]
    seed = TUNING_SEED if options.tuning else PROOF_SEED
    found = figures(measured(seed, wanted, _say, options.keep))
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
