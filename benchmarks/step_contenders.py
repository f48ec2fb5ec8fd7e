"""One training step, ours and PyTorch's, on the same batch: what each contender does in its turn.

A turn is a few whole steps: forward, alignment, gradients, clipping, AdamW, losses read back. Both
sides have float32, the same number of threads, the same weights' shapes and the same arrays.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import speech_batch
from speech_batch import LANGUAGES, MELS, VOCABULARY, Shape

THREADS = len(os.sched_getaffinity(0))
TURN_SECONDS = 2.0
"""A turn has as many steps as fit, at least `LEAST_STEPS`."""
LEAST_STEPS, MOST_STEPS = 2, 20
UNCOUNTED = 2
"""Steps before the first turn: they compile, and fill caches."""


@dataclass(frozen=True)
class Job:
    """A size of the model and the shape of its batch."""

    size: str
    shape: Shape


@dataclass(frozen=True)
class Entry:
    """A way to take a step."""

    title: str
    ours: bool
    make: Callable[[Job], Callable[[], Any]]


def turns(name: str, job: Job) -> Iterator[float]:
    """Seconds until the first step was done (compilation included), then those of a step."""
    begin = time.perf_counter()
    step = ENTRIES[name].make(job)
    step()
    yield time.perf_counter() - begin
    for _ in range(UNCOUNTED):
        seconds = _timed(step)
    count = min(MOST_STEPS, max(LEAST_STEPS, int(TURN_SECONDS / seconds)))
    while True:
        step()  # the other's turn has taken the processor's caches
        yield statistics.median(_timed(step) for _ in range(count))


def _timed(step: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


def _ours(job: Job, *, xla: bool) -> Callable[[], Any]:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    from myxtts.config import Config
    from myxtts.models.sizes import SIZES
    from myxtts.models.xtts import XTTS
    from myxtts.training.step import TrainStep, make_optimizer

    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    model = XTTS(SIZES[job.size], VOCABULARY, LANGUAGES, MELS, seed=1)
    optimizer = make_optimizer(Config(), total_steps=10**9)
    optimizer.build(model.trainable_variables)
    step = TrainStep(model, optimizer, "/CPU:0", xla=xla)
    batch = {name: tf.constant(array) for name, array in speech_batch.make(job.shape).items()}
    return lambda: step(batch)


def _torch(job: Job, *, compiled: bool) -> Callable[[], Any]:
    import torch
    from peers import torch_alignment, torch_noise
    from peers.torch_step import TorchStep
    from peers.torch_xtts import TorchXTTS

    from myxtts.config import Config
    from myxtts.models.sizes import SIZES

    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    model = TorchXTTS(
        SIZES[job.size], VOCABULARY, LANGUAGES, MELS, torch_alignment.compiled, torch_noise.drawn
    )
    step = TorchStep(model, speech_batch.make(job.shape), Config().training)
    if compiled:
        step.compile()
    return step


ENTRIES = {
    "xla": Entry("MyXTTS, XLA", True, lambda job: _ours(job, xla=True)),
    "graph": Entry("MyXTTS, without XLA", True, lambda job: _ours(job, xla=False)),
    "eager": Entry("PyTorch", False, lambda job: _torch(job, compiled=False)),
    "compiled": Entry("PyTorch, torch.compile", False, lambda job: _torch(job, compiled=True)),
}
