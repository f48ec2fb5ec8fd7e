"""The tiny model on two virtual devices, mels computed live: the pipeline on, and off, in turn.

Two logical devices share this machine's cores. So that each stands for a device of its own, an
operation may use one core and not all of them; no figure from here is a GPU's.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from notes import Say

from myxtts import config_file
from myxtts.config import Config
from myxtts.data import demo_corpus
from myxtts.telemetry import session

CLIPS = 96
SEED = 5
WAYS = {"asynchronous": True, "synchronous": False}


@dataclass(frozen=True)
class Real:
    """Median seconds of a steady step, run by run; and whether the numbers were the same."""

    seconds: dict[str, tuple[float, ...]]
    equal_losses: bool
    steps: int
    others: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Processor seconds that other programs took during each run: with many it says nothing."""

    @property
    def async_vs_sync(self) -> float:
        """Time of a step with the pipeline / without it."""
        ways = {way: statistics.median(taken) for way, taken in self.seconds.items()}
        return ways["asynchronous"] / ways["synchronous"]

    def to_json(self) -> dict[str, Any]:
        ways = {way: [round(1e3 * s, 2) for s in taken] for way, taken in self.seconds.items()}
        return {
            "ms_per_step": ways,
            "cpu_seconds_of_others": self.others,
            "equal_losses": self.equal_losses,
            "steps": self.steps,
            "corpus": f"{CLIPS} clips spoken by espeak-ng",
            "threads_of_an_operation": 1,
        }


def measure(rounds: int, steps: int, scratch: Path, say: Say) -> Real:
    """`rounds` runs of each way, each in a process of its own."""
    corpus = demo_corpus.make(scratch / "corpus", clips=CLIPS, seed=SEED)
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    others: dict[str, list[float]] = {way: [] for way in WAYS}
    losses = set()
    for number in range(rounds):
        for way, overlap in WAYS.items():
            before = _processor_seconds_of_others()
            run = _train(corpus, scratch / f"{way}-{number}", steps, overlap=overlap)
            others[way].append(round(_processor_seconds_of_others() - before, 1))
            seconds[way].append(statistics.median(run.step_times))
            losses.add(tuple(step.loss for step in run.steps))
            say(
                f"{way}: {1e3 * seconds[way][-1]:.1f} ms a step; "
                f"others took {others[way][-1]} s of the processor"
            )
    taken = {way: tuple(times) for way, times in seconds.items()}
    disturbed = {way: tuple(times) for way, times in others.items()}
    return Real(taken, len(losses) == 1, steps, disturbed)


def _processor_seconds_of_others() -> float:
    """Of the whole machine since it started, without this program and its ended children."""
    own = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    # user nice system idle iowait irq softirq steal, in ticks
    ticks = list(map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:9]))
    busy = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
    return busy - sum(usage.ru_utime + usage.ru_stime for usage in own)


def _train(corpus: Path, folder: Path, steps: int, *, overlap: bool) -> session.Session:
    config = Config().replaced(
        {
            "data.train_data": str(corpus),
            "data.features": "live",
            "data.virtual_gpus": 2,
            "data.data_gpu": 0,
            "data.model_gpu": 1,
            "data.batch_size": 8,
            "data.max_buckets": 2,
            "data.enable_xla": False,
            "data.optimize_cpu_gpu_overlap": overlap,
            "training.max_steps": steps,
            "training.output_dir": str(folder),
        }
    )
    told = folder.with_suffix(".yaml")
    told.write_text(config_file.template(config), encoding="utf-8")
    environment = os.environ | {"TF_NUM_INTRAOP_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-m", "myxtts", "train", "--config", str(told)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"training failed: {done.stderr[-2000:]}")
    return session.load(folder)
