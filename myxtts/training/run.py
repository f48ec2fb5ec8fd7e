"""`train`: the front of the room. Places the devices and runs the trainer of the plan."""

from __future__ import annotations

from pathlib import Path

from myxtts import devices
from myxtts.config import Config
from myxtts.training.progress import Display


def train(config: Config, display: Display | None = None, *, resume: bool = False) -> Path:
    """Run a training to its end and return the run's folder (run.jsonl, checkpoints)."""
    plan = devices.place(config.data)
    # Only now: these modules touch TensorFlow, and devices are chosen before it starts.
    from myxtts.training.memory_isolated_trainer import MemoryIsolatedTrainer
    from myxtts.training.trainer import Trainer

    trainer = MemoryIsolatedTrainer if plan.kind == "dual" else Trainer
    return trainer(config, plan, display, resume=resume).run()
