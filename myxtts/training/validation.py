"""The losses of a model over a whole corpus that it was not trained on."""

from __future__ import annotations

from collections import defaultdict

from myxtts.data.loader import Loader
from myxtts.training.batch_path import BatchPath
from myxtts.training.step import TrainStep


def mean_losses(step: TrainStep, path: BatchPath, loader: Loader) -> dict[str, float]:
    """Each loss over all clips of `loader`, weighted by useful frames; nothing is augmented."""
    sums: dict[str, float] = defaultdict(float)
    frames = 0.0
    for number in range(loader.batches_per_epoch):
        batch = loader.load(number)
        useful = float((batch["mel_lengths"] * batch["weights"]).sum())
        for name, loss in step.evaluate(path.at_once(batch)).items():
            sums[name] += useful * loss
        frames += useful
    return {name: total / max(frames, 1.0) for name, total in sums.items()}
