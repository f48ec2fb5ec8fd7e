"""A training step of ours beside the same network in PyTorch. One run, one result.

    python benchmarks/train_step.py            # about 25 minutes on two cores
    python benchmarks/train_step.py --quick    # about 3 minutes: to see that it works

Needs `pip install -e ".[cpu,bench]"` and a C++ compiler for torch.compile; what is not there is
reported as missing. tests/benchmarks/test_torch_xtts.py proves that both compute the same.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
import speech_batch
from step_contenders import ENTRIES, THREADS, Job, turns
from turns import Contestant, Missing

from myxtts.files import write_atomically

RESULTS = Path(__file__).parent / "results"
JUDGED = 400
"""Frames of the shape by which a size is judged: 4.6 s, a common length in LJSpeech."""
ROWS = 16
LENGTHS = (200, 400, 800)
PEERED = ("tiny", "small")
"""Sizes that are written in PyTorch, too; the others are timed alone."""
ALONE = ("normal", "big")
ALONE_ROWS = 4


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    lengths: tuple[int, ...]
    rounds: int
    rows: int
    alone: tuple[str, ...]


FULL = Plan(LENGTHS, 7, ROWS, ALONE)
QUICK = Plan((JUDGED,), 2, 4, ())


@dataclass(frozen=True)
class Outcome:
    """What one job took everyone who could take part."""

    job: Job
    seconds: dict[str, list[float]]
    """Of a step, round by round."""
    first_step: dict[str, float]
    missing: dict[str, str]

    def best(self, *, ours: bool) -> str | None:
        """The faster way of a side."""
        side = [name for name in self.seconds if ENTRIES[name].ours == ours]
        return min(side, key=self.median, default=None)

    def median(self, name: str) -> float:
        """Seconds of a step."""
        return statistics.median(self.seconds[name])

    def ratios(self) -> list[float]:
        """PyTorch's faster way over ours in each round; above 1 ours is faster."""
        ours, theirs = self.best(ours=True), self.best(ours=False)
        if ours is None or theirs is None:
            return []
        pairs = zip(self.seconds[theirs], self.seconds[ours], strict=True)
        return [their / our for their, our in pairs]

    def to_json(self) -> dict[str, Any]:
        ratios = self.ratios()
        return {
            "size": self.job.size,
            "rows": self.job.shape.rows,
            "tokens": self.job.shape.tokens,
            "frames": self.job.shape.frames,
            "step_vs_torch": round(statistics.median(ratios), 4) if ratios else None,
            "step_vs_torch_by_round": [round(ratio, 4) for ratio in ratios],
            "milliseconds": {
                name: [round(1e3 * second, 1) for second in found]
                for name, found in self.seconds.items()
            },
            "first_step_seconds": {n: round(s, 1) for n, s in self.first_step.items()},
            "missing": self.missing,
        }


def main() -> None:
    """Measure, print the table, write JSON and plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller, about 3 minutes")
    parser.add_argument("--output", type=Path, help="folder of the results")
    options = parser.parse_args()
    outcomes, result = measure(QUICK if options.quick else FULL)
    print(table(outcomes, result))
    # A quick run is no result: it is written only where it is asked for.
    output = options.output or (None if options.quick else RESULTS)
    if output is not None:
        content = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
        write_atomically(output / "train_step.json", content.encode())
        try:
            plot(outcomes, result["machine"], output / "train_step.png")
        except ImportError:
            print("no plot: matplotlib is not installed", file=sys.stderr)


def measure(plan: Plan) -> tuple[list[Outcome], dict[str, Any]]:
    """All sizes and lengths."""
    begin = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - begin:6.0f} s  {line}", file=sys.stderr, flush=True)

    about = {
        "machine": machine.describe(),
        "versions": machine.versions(),
        "threads": THREADS,
        "precision": "float32",
    }
    names = list(ENTRIES)
    jobs = [(Job(s, speech_batch.shape(plan.rows, n)), names) for s in PEERED for n in plan.lengths]
    own = [name for name in names if ENTRIES[name].ours]
    jobs += [(Job(s, speech_batch.shape(ALONE_ROWS, JUDGED)), own) for s in plan.alone]
    outcomes = [compare(job, names, plan.rounds, say) for job, names in jobs]
    about["seconds"] = round(time.monotonic() - begin)
    judged = {o.job.size: o.to_json() for o in outcomes if o.job.shape.frames == JUDGED}
    figures = {f"step_vs_torch_{size}": judged[size]["step_vs_torch"] for size in PEERED}
    return outcomes, {**figures, **about, "jobs": [outcome.to_json() for outcome in outcomes]}


def compare(job: Job, names: Sequence[str], rounds: int, say: Any) -> Outcome:
    """Every contender in turn, round after round."""
    contestants = {name: Contestant(name, turns, name, job) for name in names}
    first_step, missing = {}, {}
    for name, contestant in contestants.items():
        try:
            first_step[name] = contestant.turn()
        except (Missing, RuntimeError) as problem:
            missing[name] = str(problem).splitlines()[-1]
    seconds: dict[str, list[float]] = {name: [] for name in first_step}
    for _ in range(rounds):
        for name, found in seconds.items():
            found.append(contestants[name].turn())
    for contestant in contestants.values():
        contestant.end()
    outcome = Outcome(job, seconds, first_step, missing)
    milliseconds = ", ".join(f"{name} {1e3 * outcome.median(name):.0f} ms" for name in seconds)
    absent = "".join(f"; {name} missing: {why}" for name, why in missing.items())
    say(f"{job.size} {job.shape}: {milliseconds}{absent}")
    return outcome


def table(outcomes: Sequence[Outcome], result: dict[str, Any]) -> str:
    """What a person reads."""
    heads = [entry.title for entry in ENTRIES.values()]
    wide = max(map(len, heads)) + 2
    lines = ["ms per step" + " " * 15 + "".join(f"{head:>{wide}s}" for head in heads) + "   ratio"]
    for outcome in outcomes:
        cells = [
            f"{1e3 * outcome.median(name):.0f}" if name in outcome.seconds else "-"
            for name in ENTRIES
        ]
        ratio = outcome.to_json()["step_vs_torch"]
        line = f"{outcome.job.size:8s}{outcome.job.shape!s:18s}"
        line += "".join(f"{cell:>{wide}s}" for cell in cells)
        lines.append(line + ("" if ratio is None else f"{ratio:8.2f}"))
    missing = {name: why for outcome in outcomes for name, why in outcome.missing.items()}
    lines += [f"{ENTRIES[name].title}: missing, {why}" for name, why in missing.items()]
    for size in PEERED:
        found = result[f"step_vs_torch_{size}"]
        lines.append(f"step_vs_torch_{size}  {'missing' if found is None else found}")
    return "\n".join(lines)


def plot(outcomes: Sequence[Outcome], about: dict[str, Any], path: Path) -> None:
    """Cost against length and against size, as a picture; `ImportError` without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from myxtts.models.sizes import SIZES

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    colours = dict(zip(ENTRIES, ("#0b6e4f", "#73b798", "#b3401d", "#e3a587"), strict=True))
    for axis, size in zip(axes[:2], PEERED, strict=True):
        here = [outcome for outcome in outcomes if outcome.job.size == size]
        for name, entry in ENTRIES.items():
            points = [(o.job.shape.frames, o.median(name)) for o in here if name in o.seconds]
            axis.plot(*zip(*points, strict=True), "o-", label=entry.title, color=colours[name])
        axis.set_title(f"{size}, {here[0].job.shape.rows} clips", fontsize=10)
        axis.set_xlabel("mel frames of a clip")
    per_clip = axes[2]
    of_size = [o for o in outcomes if o.job.shape.frames == JUDGED]
    for name, entry in ENTRIES.items():
        points = [
            (list(SIZES).index(o.job.size), o.median(name) / o.job.shape.rows)
            for o in of_size
            if name in o.seconds
        ]
        per_clip.plot(*zip(*points, strict=True), "o-", label=entry.title, color=colours[name])
    per_clip.set_yscale("log")
    per_clip.set_title(f"{JUDGED} frames: seconds per clip", fontsize=10)
    per_clip.set_xticks(range(len(of_size)), [o.job.size for o in of_size])
    for axis in axes:
        axis.grid(alpha=0.3)
        if axis is not per_clip:
            axis.set_ylabel("seconds per step")
            axis.set_ylim(bottom=0)
    axes[0].legend(fontsize=8)
    figure.suptitle(f"One training step — {about['cpu']}, {about['cores']} cores, float32")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
