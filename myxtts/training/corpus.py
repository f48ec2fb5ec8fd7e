"""The corpora of a run, prepared and ready to load: training, and validation beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from myxtts.config import Config
from myxtts.data import buckets as shapes
from myxtts.data.buckets import Bucket
from myxtts.data.held_out import split
from myxtts.data.loader import Loader
from myxtts.data.prepare import PreparedCorpus, prepare
from myxtts.data.sampler import Sampler
from myxtts.errors import UsageError
from myxtts.training import references
from myxtts.training.progress import Display
from myxtts.training.references import REFERENCE_FRAMES, Reference


@dataclass(frozen=True)
class TrainingData:
    """What a trainer reads from."""

    prepared: PreparedCorpus
    buckets: tuple[Bucket, ...]
    loader: Loader
    validation: Loader | None
    held_out: PreparedCorpus | None
    """What `validation` loads from."""

    @property
    def sides(self) -> list[tuple[PreparedCorpus, Loader]]:
        """Clips with their loader: those that are not trained on, if there are any, come first."""
        trained = [(self.prepared, self.loader)]
        if self.held_out is None or self.validation is None:
            return trained
        return [(self.held_out, self.validation), *trained]

    @property
    def references(self) -> list[Reference]:
        """The voices of the corpus that checkpoints keep."""
        return references.of_corpus(self.prepared)


def open_data(config: Config, display: Display) -> TrainingData:
    """Prepare both corpora, or reuse what was prepared, and choose the shapes for them."""
    data = config.data
    if data.train_data is None:
        raise UsageError(
            "There is nothing to train on",
            received="data.train_data is not set and --train-data was not given",
            remedy="--train-data FOLDER, or myxtts demo to try everything without data",
        )
    prepared = _prepared(config, data.train_data, display)
    prepared, held_out = _held_out(config, prepared, display)
    every = [prepared] if held_out is None else [prepared, held_out]
    buckets = shapes.choose(
        np.concatenate([corpus.token_lengths for corpus in every]),
        np.concatenate([corpus.frames for corpus in every]),
        data,
        [clip for corpus in every for clip in corpus.clip_ids],
    )
    validation = None if held_out is None else loader_of(config, held_out, buckets, shuffle=False)
    loader = loader_of(config, prepared, buckets, shuffle=True)
    return TrainingData(prepared, buckets, loader, validation, held_out)


def _held_out(
    config: Config, prepared: PreparedCorpus, display: Display
) -> tuple[PreparedCorpus, PreparedCorpus | None]:
    """What to train on and what to validate on: a second corpus, a share of the first, or none."""
    share = config.training.validation_share
    if config.data.val_data is not None:
        return prepared, _prepared(config, config.data.val_data, display)
    if not share:
        return prepared, None
    trained, kept = split(prepared, share)
    display.say(
        f"validation_share {share:g}: {len(kept)} clips are held out for validation, "
        f"{len(trained)} are trained on"
    )
    return trained, kept


def _prepared(config: Config, folder: str, display: Display) -> PreparedCorpus:
    prepared = prepare(Path(folder), config.data, display.preparing)
    for skipped in prepared.skipped:
        display.say(f"warning: clip {skipped.clip} is left out: {skipped.reason}")
    for long_clip in prepared.long_clips:
        display.say(f"long clip {long_clip}")
    return prepared


def loader_of(
    config: Config, prepared: PreparedCorpus, buckets: tuple[Bucket, ...], *, shuffle: bool
) -> Loader:
    """Host batches of a prepared corpus in these shapes."""
    assignment = shapes.assign(prepared.token_lengths, prepared.frames, buckets)
    sampler = Sampler(assignment, buckets, prepared.speaker, config.training.seed, shuffle=shuffle)
    return Loader(prepared, buckets, sampler, config.data, REFERENCE_FRAMES)
