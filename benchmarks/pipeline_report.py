"""Pipelines to ratios, a table, JSON and a plot. Nothing is measured here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depths import Contest
from real_pipeline import Real
from sleeping import ENTRIES, Race

LONG_STEPS_MS = 10
"""From here on a step is long enough to be compared with the ideal; below, overhead counts."""
FIGURES = (
    "step_vs_ideal_max", "step_vs_ideal_max_5_ms", "step_vs_tf_data_max", "step_vs_torch_max",
    "step_vs_synchronous_max", "overhead_us", "telemetry_overhead_pct",
    "adaptive_vs_best_fixed_max", "adaptive_buffered_vs_deepest_max", "async_vs_sync_real",
    "randomised_runs", "randomised_failures",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """Everything that was measured; a part that was left out is empty."""

    races: Sequence[Race] = ()
    missing: dict[str, str] = field(default_factory=dict)
    contests: Sequence[Contest] = ()
    overhead: dict[str, Any] | None = None
    telemetry: dict[str, Any] | None = None
    real: Real | None = None
    trials: int = 0
    failed_seeds: Sequence[int] = ()


def figures(measured: Measured) -> dict[str, float | None]:
    """What the pipeline is judged by; below 1: ours is faster. None: not measured."""
    long = [race for race in measured.races if race.case[0] >= LONG_STEPS_MS]
    short = [race for race in measured.races if race.case[0] < LONG_STEPS_MS]
    contests = [contest.to_json() for contest in measured.contests]
    values: tuple[float | None, ...] = (
        _highest([race.vs_ideal("ours") for race in long]),
        _highest([race.vs_ideal("ours") for race in short]),
        _highest([race.vs("tf_data") for race in measured.races]),
        _highest([race.vs("torch") for race in measured.races]),
        _highest([race.vs("synchronous") for race in measured.races]),
        measured.overhead["step_median"] if measured.overhead else None,
        measured.telemetry["pct_of_a_50_ms_step"] if measured.telemetry else None,
        _highest([contest["adaptive_vs_best_fixed"] for contest in contests]),
        _highest([contest["buffered_vs_deepest"] for contest in contests]),
        round(measured.real.async_vs_sync, 4) if measured.real else None,
        measured.trials,
        len(measured.failed_seeds),
    )
    return dict(zip(FIGURES, values, strict=True))


def document(measured: Measured, about: dict[str, Any]) -> dict[str, Any]:
    """Everything, ready for JSON."""
    return {
        **about,
        **figures(measured),
        "ideal": "computed from the times that the stages really took; vs_ideal_drawn: from the "
        "times that they were told to sleep",
        "missing": measured.missing,
        "steady_loads": [race.to_json() for race in measured.races],
        "changing_loads": [contest.to_json() for contest in measured.contests],
        "overhead": measured.overhead,
        "telemetry": measured.telemetry,
        "real": measured.real.to_json() if measured.real else None,
        "failed_seeds": list(measured.failed_seeds),
    }


def table(result: dict[str, Any]) -> str:
    """What a person reads."""
    peers = [name for name in ENTRIES if name != "ours"]
    head = ["train, ms", "times", "prepare/train", "ours, ms", "x ideal"]
    rows = [head + [f"vs {ENTRIES[name].title}" for name in peers]]
    for load in result["steady_loads"]:
        cells = [load["train_ms"], load["times"], load["prepare_vs_train"]]
        cells += [load["ms_per_step"]["ours"], load["vs_ideal"]["ours"]]
        rows.append([str(cell) for cell in cells] + [_shown(load["ours_vs"][n]) for n in peers])
    lines = _aligned(rows)
    rows = [["changing load", "best fixed", "adaptive vs best", "buffered", "deepest fixed"]]
    for load in result["changing_loads"]:
        deepest = list(load["fixed"].values())[-1]
        cells = [load["load"], load["best_fixed"], load["adaptive_vs_best_fixed"]]
        cells += [load["adaptive"]["buffered"], deepest["buffered"]]
        rows.append([str(cell) for cell in cells])
    lines += ["", *_aligned(rows), ""]
    lines += [f"{name:34s}{_shown(result[name]):>12s}" for name in FIGURES]
    return "\n".join(lines)


def plot(measured: Measured, machine: dict[str, Any], path: Path) -> None:
    """Time per step over the ideal, and time against depth; `ImportError` without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    labels = [f"{mean} ms {kind[:5]} {ratio}" for mean, kind, ratio in _cases(measured)]
    for name, entry in ENTRIES.items():
        if name != "synchronous" and all(race.timings.get(name) for race in measured.races):
            ratios = [race.vs_ideal(name) for race in measured.races]
            left.plot(range(len(ratios)), ratios, "o-", markersize=3, label=entry.title)
    left.axhline(1.0, color="grey", linewidth=0.8)
    left.set_xticks(range(len(labels)), labels, rotation=90, fontsize=6)
    left.set_title("Time per step / ideal (train ms, times, prepare/train)", fontsize=10)
    left.legend()
    for contest in measured.contests:
        told = contest.to_json()
        lost = {int(depth): one["over_ideal"] for depth, one in told["fixed"].items()}
        line = right.plot(list(lost), list(lost.values()), "o-", label=contest.load)
        adaptive = told["adaptive"]
        color = line[0].get_color()
        right.plot(
            [adaptive["buffered"]], [adaptive["over_ideal"]], "*", markersize=12, color=color
        )
    right.set_title(
        "Time / ideal against depth (star: adaptive, at its mean of ready batches)", fontsize=10
    )
    right.set_xlabel("depth")
    right.legend()
    for axis in (left, right):
        axis.grid(alpha=0.3)
    figure.suptitle(f"Pipeline — {machine['cpu']}, {machine['cores']} cores", fontsize=11)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _cases(measured: Measured) -> list[tuple[int, str, float]]:
    return [race.case for race in measured.races]


def _highest(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(max(known), 4) if known else None


def _shown(value: float | None) -> str:
    return "missing" if value is None else f"{value:.4g}"


def _aligned(rows: list[list[str]]) -> list[str]:
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, wide, strict=True)) for row in rows
    ]
