"""The data path side by side with its peers: loading, text, growth. One run, one result.

    python benchmarks/data_path.py            # at most 15 minutes on two cores
    python benchmarks/data_path.py --quick    # about 2 minutes, smaller: to see that it works

Needs `pip install -e ".[cpu,phonemes,bench]"`; a peer that is not installed is reported as
missing. Real clips and transcripts come from the folder that MYXTTS_TEST_DATA names.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import clips
import growth
import report
import rounds
import text_speed
from notes import RESULTS, Notes, Say, write
from peers import ENTRIES, Job


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    store_bytes: float
    """The store has at least this many."""
    live_clips: int
    """Clips in a pass of those that compute every mel: a clip costs them the same in any corpus."""
    rounds: int
    text_rounds: int
    starts: int
    """Starts from the cache at the largest size."""
    transcripts: int


FULL = Plan(1e9, 2048, 5, 3, 3, text_speed.TRANSCRIPTS)
QUICK = Plan(5e7, 256, 2, 1, 1, 3200)


def main() -> None:
    """Measure, print the table, write JSON and plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller, about 2 minutes")
    parser.add_argument("--output", type=Path, help="folder of the results")
    parser.add_argument("--scratch", type=Path, help="where to make 4 GB of temporary files")
    options = parser.parse_args()
    plan = QUICK if options.quick else FULL
    with tempfile.TemporaryDirectory(prefix="myxtts-data-path-", dir=options.scratch) as scratch:
        result, sizes = measure(plan, Path(scratch))
    print(report.table(result))
    # A quick run is no result: it is written only where it is asked for.
    output = options.output or (None if options.quick else RESULTS)
    if output is not None:
        write(
            output,
            "data_path",
            result,
            lambda path: report.plot(sizes, result["machine"], path),
        )


def measure(plan: Plan, scratch: Path) -> tuple[dict[str, Any], list[growth.Size]]:
    """Everything, in the order in which one part prepares the next."""
    data = "LJSpeech" if clips.test_data() else "made by espeak-ng: MYXTTS_TEST_DATA is unset"
    notes = Notes(
        data=data,
        plan={**vars(plan), "batch": [clips.BATCH, clips.FRAMES, clips.MELS]},
        workers=clips.WORKERS,
    )
    say = notes.say
    say(f"data: {data}")
    source = clips.source_corpus(scratch)
    workload, sizes = _sizes(plan, source, scratch, say)
    npy = clips.write_npy(workload, scratch / "npy")
    jobs = {name: _job(name, workload, npy, plan, scratch) for name in ENTRIES}
    outcomes = rounds.compare(jobs, plan.rounds, say)
    texts = text_speed.transcripts(plan.transcripts)
    text = text_speed.measure(texts, scratch / "text", plan.text_rounds, say)
    useful = text_speed.useful_frames(texts, scratch / "text")
    figures = report.ratios(outcomes, text, sizes, useful)
    return report.document(figures, outcomes, text, sizes, useful, notes.about()), sizes


def _sizes(
    plan: Plan, source: Path, scratch: Path, say: Say
) -> tuple[clips.Workload, list[growth.Size]]:
    """Corpora of 1x, 4x and 16x; the largest, with its store, is the others' workload."""
    largest = clips.clips_for(plan.store_bytes, source)
    sizes = []
    for factor in growth.FACTORS:
        count = largest * factor // growth.FACTORS[-1]
        folder = scratch / f"{factor}x"
        workload = clips.repeat(source, folder / "corpus", count)
        repeats = plan.starts if factor == growth.FACTORS[-1] else 1
        store = scratch / "store" if factor == growth.FACTORS[-1] else folder / "store"
        sizes.append(growth.measure(factor, count, workload.folder, store, repeats, say))
    return workload, sizes


def _job(name: str, workload: clips.Workload, npy: list[Path], plan: Plan, scratch: Path) -> Job:
    own = scratch / "contenders" / name
    own.mkdir(parents=True)
    live = ENTRIES[name].kind == "live"
    job = Job(workload, npy, own, store=scratch / "store")
    return replace(job, workload=workload.first(plan.live_clips)) if live else job


if __name__ == "__main__":
    main()
