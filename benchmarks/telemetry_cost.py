"""What recording a step costs: its events by themselves, and runs with and without them, in turn.

A percent of a 50 ms step is below what two runs differ by, so the figure is the cost of one step's
events; the runs beside it show that nothing else comes with them.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

STEP = 0.050
RESAMPLES = 10_000


def measure(events: int, blocks: int, block_steps: int) -> dict[str, Any]:
    """Microseconds of one step's events, and the runs; TensorFlow is loaded for the journal."""
    with tempfile.TemporaryDirectory(prefix="myxtts-telemetry-") as folder:
        record, end = _recorder(Path(folder) / "run")
        costs = [_timed(record, number) for number in range(events)]
        with_events, without = [], []
        for block in range(blocks):
            first = events + block * block_steps
            with_events.append(_block(record, first, block_steps))
            without.append(_block(_nothing, first, block_steps))
        end()
    # The mean and not the median: every 50th step also writes a report.
    cost = statistics.fmean(costs)
    share = 100.0 * (np.array(with_events) / np.array(without) - 1.0)
    chosen = np.random.default_rng(1).integers(0, len(share), (RESAMPLES, len(share)))
    low, high = np.percentile(np.median(share[chosen], axis=1), (2.5, 97.5))
    return {
        "events_us_mean": round(1e6 * cost, 1),
        "events_us_median": round(1e6 * statistics.median(costs), 1),
        "pct_of_a_50_ms_step": round(100.0 * cost / STEP, 4),
        "runs": {
            "blocks": blocks,
            "steps_in_a_block": block_steps,
            "difference_pct": round(float(np.median(share)), 3),
            "low": round(float(low), 3),
            "high": round(float(high), 3),
        },
    }


def _recorder(folder: Path) -> tuple[Callable[[int], None], Callable[[], None]]:
    """What the training loop does for the record at every step, and how it ends."""
    from myxtts.config import Config
    from myxtts.telemetry.accounts import Ledger
    from myxtts.telemetry.session import Step
    from myxtts.training.journal import Journal
    from myxtts.training.progress import Gauges, Silent
    from myxtts.training.run_folder import RunFolder
    from myxtts.training.stages import Parcel, blame

    config = Config().replaced({"training.output_dir": str(folder)})
    ledger = Ledger()
    gauges = Gauges(memory_mb=1, learning_rate=1e-3, loss_scale=None)
    kept = RunFolder(config)
    kept.open(config, resume=False)
    interval = config.training.report_interval
    journal = Journal(kept, ledger, Silent(), 10**6, interval, lambda: gauges)
    stages = dict.fromkeys(("load", "upload", "preprocess", "transfer"), 0.01)
    losses = dict.fromkeys(("total", "coarse", "prior", "duration"), 1.0)

    def record(number: int) -> None:
        now = time.perf_counter()
        parcel = Parcel(number, finished=dict.fromkeys(stages, now), seconds=dict(stages))
        with ledger.account("data_wait"):
            shares = blame(parcel, now - 0.001, now)
        ledger.move(shares.get("transfer", 0.0), "data_wait", "transfer")
        with ledger.account("training"):
            pass
        step = Step(
            step=number, t=0.0, seconds=STEP, wait=0.001, train=STEP, loss=1.0, bucket=1,
            useful_frames=9000, padded_frames=9500, compiled=False, blame=shares,
            stages=parcel.seconds, rings={"host": 4, "ready": 3},
        )  # fmt: skip
        journal.stepped(step, losses)

    def end() -> None:
        journal.end("finished")

    return record, end


def _nothing(number: int) -> None:
    del number


def _timed(record: Callable[[int], None], number: int) -> float:
    begin = time.perf_counter()
    record(number)
    return time.perf_counter() - begin


def _block(record: Callable[[int], None], first: int, steps: int) -> float:
    """Seconds of so many 50 ms steps, with what is recorded after each."""
    begin = time.perf_counter()
    for number in range(first, first + steps):
        time.sleep(STEP)
        record(number)
    return time.perf_counter() - begin
