"""Training steps to ratios, a table, JSON and a plot. Nothing is measured here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from speech_batch import Shape
from stepping import WAYS, Turns, fastest, ratio

TITLES = {"ours": "MyXTTS", "torch": "PyTorch"}


@dataclass(frozen=True)
class Contest:
    """All ways at one size."""

    size: str
    shape: Shape
    outcome: dict[str, Turns]


@dataclass(frozen=True)
class Cost:
    """One step of a side at one point of a curve."""

    curve: str
    """length or size."""
    network: str
    frames: int
    rows: int
    parameters: int
    side: str
    seconds: float


def costs(curve: str, network: str, shape: Shape, outcome: dict[str, Turns]) -> list[Cost]:
    """A point of a curve: both sides, in the faster of the ways that were measured."""
    found = []
    for side in TITLES:
        name = fastest(outcome, side)
        if name is None:
            continue
        turns = outcome[name]
        at = (curve, network, shape.frames, shape.rows, turns.parameters)
        found.append(Cost(*at, side, turns.median or 0.0))
    return found


def document(
    contests: Sequence[Contest], points: Sequence[Cost], about: dict[str, Any]
) -> dict[str, Any]:
    """Everything, ready for JSON; a ratio above 1: ours is faster, null: a side is missing."""
    figures: dict[str, float | None] = {}
    for contest in contests:
        found = ratio(contest.outcome)
        key = f"step_vs_torch_{contest.size}"
        figures[key] = round(found.value, 3) if found else None
        figures[f"{key}_low"] = round(found.low, 3) if found else None
        figures[f"{key}_high"] = round(found.high, 3) if found else None
    return {
        **about,
        **figures,
        "steps": {
            contest.size: {
                "rows": contest.shape.rows,
                "tokens": contest.shape.tokens,
                "frames": contest.shape.frames,
                "fastest": {side: fastest(contest.outcome, side) for side in TITLES},
                "ways": {
                    name: {"what": WAYS[name].title, **turns.to_json()}
                    for name, turns in contest.outcome.items()
                },
            }
            for contest in contests
        },
        "costs": [{**vars(point), "seconds": round(point.seconds, 5)} for point in points],
    }


def table(result: dict[str, Any]) -> str:
    """What a person reads."""
    lines = []
    for size, contest in result["steps"].items():
        lines.append(
            f"{size}: {contest['rows']} clips of {contest['tokens']} tokens, "
            f"{contest['frames']} frames"
        )
        lines.append(f"  {'':36s}{'ms/step':>10s}{'lowest':>10s}{'highest':>10s}{'first, s':>10s}")
        for name, way in contest["ways"].items():
            mark = "*" if name in contest["fastest"].values() else " "
            if "missing" in way:
                lines.append(f"{mark} {way['what']:36s}   missing")
                continue
            figures = (way["ms_per_step"], way["lowest"], way["highest"])
            cells = "".join(f"{figure:10.1f}" for figure in figures)
            lines.append(f"{mark} {way['what']:36s}{cells}{way['first_step_s']:10.1f}")
        key = f"step_vs_torch_{size}"
        if result[key] is None:
            lines.append(f"  {key}: a side is missing")
        else:
            interval = f"{result[f'{key}_low']:.2f} to {result[f'{key}_high']:.2f}"
            lines.append(f"  {key} {result[key]:.2f} ({interval}; above 1: ours is faster)")
        lines.append("")
    return "\n".join(lines).rstrip()


def plot(points: Sequence[Cost], machine: dict[str, Any], path: Path) -> None:
    """Cost against length and against size, as a picture; `ImportError` without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    networks = list(dict.fromkeys(p.network for p in points if p.curve == "length"))
    figure, axes = pyplot.subplots(
        1, len(networks) + 1, figsize=(4 * (len(networks) + 1), 4), layout="constrained"
    )
    for axis, network in zip(axes, networks, strict=False):
        chosen = [p for p in points if p.curve == "length" and p.network == network]
        _lines(axis, chosen, [point.frames for point in chosen])
        axis.set_title(f"{network}, {chosen[0].rows} clips", fontsize=10)
        axis.set_xlabel("frames of a clip")
    chosen = [point for point in points if point.curve == "size"]
    _lines(axes[-1], chosen, [point.parameters / 1e6 for point in chosen])
    for point in chosen:
        if point.side == "ours":
            place = (point.parameters / 1e6, 1e3 * point.seconds)
            axes[-1].annotate(point.network, place, xytext=(4, -10), textcoords="offset points")
    axes[-1].set_title(f"{chosen[0].rows} clips of {chosen[0].frames} frames", fontsize=10)
    axes[-1].set_xlabel("parameters, million")
    figure.suptitle(f"One training step — {machine['cpu']}, {machine['cores']} cores", fontsize=11)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _lines(axis: Any, points: Sequence[Cost], places: Sequence[float]) -> None:
    for side, title in TITLES.items():
        drawn = [
            (place, 1e3 * point.seconds)
            for place, point in zip(places, points, strict=True)
            if point.side == side
        ]
        if drawn:
            axis.plot(*zip(*sorted(drawn), strict=True), "o-", label=title)
    axis.set_ylabel("milliseconds")
    axis.set_ylim(bottom=0)
    axis.set_xlim(left=0)
    axis.grid(alpha=0.3)
    axis.legend()
