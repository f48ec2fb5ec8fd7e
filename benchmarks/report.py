"""Measurements to ratios, a table, JSON and a plot. Nothing is measured here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from growth import Size
from peers import ENTRIES
from rounds import Outcome
from text_speed import (
    FROM_CACHE,
    OURS_4X,
    OURS_4X_SHARED,
    OURS_SHARED,
    PHONEMIZER_SHARED,
    Speeds,
)

RATIOS = (
    "warm_vs_best_peer", "warm_vs_npy_peer", "cold_vs_best_peer", "warm_vs_memcpy",
    "text_cold_vs_phonemizer", "text_parallel_speedup", "text_cached_s", "first_batch_cached_s",
    "useful_frame_share", "useful_frame_share_single_shape",
)  # fmt: skip


def ratios(
    outcomes: dict[str, Outcome],
    text: Speeds,
    sizes: Sequence[Size],
    useful: dict[str, Any] | None,
) -> dict[str, float | None]:
    """The figures that the project is judged by; None where a part is missing."""
    rate = {name: outcome.rate for name, outcome in outcomes.items()}
    live = [rate[n] for n in outcomes if ENTRIES[n].kind == "live" and rate[n] is not None]
    best = max((value for value in live if value is not None), default=None)
    values = (
        _ratio(rate.get("warm"), best),
        _ratio(rate.get("warm"), rate.get("npy")),
        _ratio(rate.get("cold"), best),
        _ratio(rate.get("warm"), rate.get("memcpy")),
        # Each side in its faster way, with one worker or with as many as everyone.
        _ratio(text.best("phonemizer", PHONEMIZER_SHARED), text.best("ours", OURS_SHARED)),
        _ratio(text.median(OURS_4X), text.median(OURS_4X_SHARED)),
        text.median(FROM_CACHE),
        sizes[-1].first_batch_cached_seconds if sizes else None,
        useful["buckets"]["useful"] if useful else None,
        useful["single"]["useful"] if useful else None,
    )
    return {
        name: None if value is None else round(value, 4)
        for name, value in zip(RATIOS, values, strict=True)
    }


def document(
    figures: dict[str, float | None],
    outcomes: dict[str, Outcome],
    text: Speeds,
    sizes: Sequence[Size],
    useful: dict[str, Any] | None,
    about: dict[str, Any],
) -> dict[str, Any]:
    """Everything, ready for JSON."""
    growth = {f"{size.factor}x": round(size.first_run.memory_growth_mb, 1) for size in sizes}
    return {
        **about,
        **figures,
        "prepare_memory_growth_mb": growth,
        "loading": {
            name: {"what": ENTRIES[name].title, **outcome.to_json()}
            for name, outcome in outcomes.items()
        },
        "text": {
            "transcripts": text.transcripts,
            "seconds": {name: [round(s, 3) for s in times] for name, times in text.seconds.items()},
            "missing": text.missing,
            "one_worker_each": _ratio(text.median("phonemizer"), text.median("ours")),
            "several_workers_each": _ratio(
                text.median(PHONEMIZER_SHARED), text.median(OURS_SHARED)
            ),
        },
        "sizes": [asdict(size) for size in sizes],
        "useful_frames": useful,
    }


def table(result: dict[str, Any]) -> str:
    """What a person reads."""
    rows = [("", "clips/s", "lowest", "highest", "first batch")]
    for entry in result["loading"].values():
        if "missing" in entry:
            rows.append((entry["what"], "missing", "", "", ""))
        else:
            rows.append(
                (
                    entry["what"],
                    f"{entry['clips_per_second']:,.0f}",
                    f"{entry['lowest']:,.0f}",
                    f"{entry['highest']:,.0f}",
                    f"{entry['first_batch_s']:.3f} s",
                )
            )
    rows.append(("", "", "", "", ""))
    rows.append((f"{result['text']['transcripts']:,} transcripts", "seconds", "", "", ""))
    for name, times in result["text"]["seconds"].items():
        middle = sorted(times)[len(times) // 2]
        rows.append((name, f"{middle:.2f}", f"{min(times):.2f}", f"{max(times):.2f}", ""))
    rows += [(name, "missing", "", "", "") for name in result["text"]["missing"]]
    rows.append(("", "", "", "", ""))
    rows += [(name, _shown(result[name]), "", "", "") for name in RATIOS]
    for factor, growth in result["prepare_memory_growth_mb"].items():
        rows.append((f"memory growth while preparing, {factor}", f"{growth:.0f} MB", "", "", ""))
    wide = max(len(row[0]) for row in rows)
    lines = [f"{row[0]:{wide}s}" + "".join(f"{cell:>13s}" for cell in row[1:]) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def plot(sizes: Sequence[Size], machine: dict[str, Any], path: Path) -> None:
    """Cost against the size of the corpus, as a picture; `ImportError` without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    clips = [size.clips for size in sizes]
    panels = {
        "Preparing, seconds": [size.first_run.prepare_seconds for size in sizes],
        "Preparing, milliseconds per clip": [
            1e3 * size.first_run.prepare_seconds / size.clips for size in sizes
        ],
        "Memory growth while preparing, MB": [size.first_run.memory_growth_mb for size in sizes],
        "First batch from the cache, seconds": [s.first_batch_cached_seconds for s in sizes],
    }
    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6.5), layout="constrained")
    for axis, (title, values) in zip(axes.flat, panels.items(), strict=True):
        axis.plot(clips, values, "o-")
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("clips")
        axis.set_xticks(clips, [f"{c:,}\n({s.factor}×)" for c, s in zip(clips, sizes, strict=True)])
        axis.set_ylim(0, 1.15 * max(values))
        axis.grid(alpha=0.3)
    figure.suptitle(f"Cost against corpus size — {machine['cpu']}, {machine['cores']} cores")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _shown(value: float | None) -> str:
    return "missing" if value is None else f"{value:.3g}"
