"""`train`: the front of the room. Settles the plan, places the devices, runs the plan's trainer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from myxtts import devices
from myxtts.config import Config
from myxtts.training import plan_trials
from myxtts.training.progress import Display, Silent
from myxtts.training.study import Study


def train(
    config: Config,
    display: Display | None = None,
    *,
    resume: bool = False,
    study: Study | None = None,
) -> Path:
    """Run a training to its end and return the run's folder (run.jsonl, checkpoints).

    `study` is for profiles: what is planted, what stands in for the model, what else is measured.
    """
    config, trials = plan_trials.settled(config, display or Silent(), resume=resume)
    plan = replace(devices.place(config.data), trials=trials)
    # Only now: these modules touch TensorFlow, and devices are chosen before it starts.
    from myxtts.training.memory_isolated_trainer import MemoryIsolatedTrainer
    from myxtts.training.trainer import Trainer

    trainer = MemoryIsolatedTrainer if plan.kind == "dual" else Trainer
    return trainer(config, plan, display, resume=resume, study=study).run()
