"""The memory said before the first step, against what the compiler assigns when it comes to it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf

from myxtts.config import Config
from myxtts.data.buckets import Bucket
from myxtts.devices import DevicePlan
from myxtts.telemetry import session
from myxtts.training import memory_estimate
from myxtts.training.memory_estimate import MemoryEstimate, available, largest_bucket
from myxtts.training.program_memory import peak_bytes
from myxtts.training.run import train

SMALL = {"model.width": 32, "model.encoder_blocks": 2, "model.decoder_blocks": 2}
TOLERANCE = 0.15

# XLA writes its buffer assignment only when it is told to before TensorFlow starts.
COMPILE = """
import json, sys
import numpy as np
import tensorflow as tf
from myxtts.config import Config
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import assembly
from myxtts.training.memory_estimate import estimate

overrides, shapes = json.loads(sys.argv[1])
config = Config().replaced(overrides)
step = assembly.make_step(
    config, Tokenizer("characters"), 100, "float32", "/CPU:0", lambda *_: True
)
for rows, tokens, frames in shapes:
    integers = {"tokens": (rows, tokens), "token_lengths": (rows,), "mel_lengths": (rows,),
                "reference_lengths": (rows,), "language": (rows,)}
    floats = {"mels": (rows, frames, 80), "reference": (rows, 256, 80), "weights": (rows,)}
    batch = {name: tf.ones(shape, tf.int32) for name, shape in integers.items()}
    batch |= {name: tf.ones(shape) for name, shape in floats.items()}
    needs = estimate(step, batch, config, batches=1)
    print(json.dumps(needs.weights + needs.gradients + needs.batches + needs.activations))
    step._gradients(batch)
assert step.compilations == len(shapes)  # what is traced for the estimate is what is compiled
"""


def compiled(overrides: dict, shapes: list[tuple[int, int, int]], folder: Path):
    """The program's bytes as estimated, and as the compiler assigned them, for each shape."""
    flags = f"--xla_dump_to={folder} --xla_dump_hlo_module_re=.*losses_and_gradients.*"
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, json.dumps([overrides, shapes])],
        capture_output=True,
        text=True,
        timeout=280,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "XLA_FLAGS": flags},
    )
    assert done.returncode == 0, done.stderr
    reports = sorted(folder.glob("*memory-usage-report.txt"), key=lambda file: file.name)
    found = [re.search(r"Total bytes used: (\d+)", file.read_text())[1] for file in reports]
    return [int(line) for line in done.stdout.split()], [int(size) for size in found]


@pytest.mark.long
def test_the_estimate_is_near_what_the_compiler_assigns(tmp_path):
    (estimated,), (assigned,) = compiled(SMALL, [(4, 40, 160)], tmp_path)
    assert estimated == pytest.approx(assigned, rel=TOLERANCE)


@pytest.mark.long
@pytest.mark.parametrize("shape", [(4, 40, 160), (16, 112, 400), (8, 128, 800)])
def test_the_estimate_of_tiny_is_near_what_the_compiler_assigns(tmp_path, shape):
    (estimated,), (assigned,) = compiled({}, [shape], tmp_path)
    assert estimated == pytest.approx(assigned, rel=TOLERANCE)


def traced(function, *shapes):
    return tf.function(function).get_concrete_function(*map(tf.TensorSpec, shapes)).graph


def test_what_a_compiler_fuses_costs_nothing():
    square = (64, 64)
    chain = traced(lambda x: tf.reduce_sum(tf.sqrt(tf.exp(x) + 1.0) * 2.0), square)
    assert peak_bytes(chain) <= 4  # the sum is a result
    assert peak_bytes(chain, fused=False) >= 2 * 64 * 64 * 4


def test_results_and_operands_of_products_are_stored_while_they_are_read():
    size = 64 * 64 * 4

    def two_products(x, y):
        first = tf.exp(x) @ y  # its operand, and its result
        return tf.exp(first) @ y  # reads first while the operand is written, which it then reads

    assert peak_bytes(traced(two_products, (64, 64), (64, 64))) == 2 * size

    def kept(x, y):
        first = x @ y
        second = first @ y
        third = second @ y
        return third @ first  # first stays alive to the end

    assert peak_bytes(traced(kept, (64, 64), (64, 64))) == 3 * size


def test_what_is_computed_twice_is_stored_once():
    def twice(x, y):
        return tf.exp(x) @ y + tf.exp(x) @ (y @ y)  # one operand, three products

    assert peak_bytes(traced(twice, (64, 64), (64, 64))) == 4 * 64 * 64 * 4


def test_a_run_says_what_it_needs_before_it_compiles(tiny_run):
    said: list[str] = []

    class Listening:
        def __getattr__(self, name):
            return lambda *arguments: None

        def say(self, text):
            said.append(text)

        def preparing(self, phase, done, total):
            said.append(phase)

    told = {"training.ema_decay": 0.9, "training.gradient_accumulation": 2}
    run = session.load(train(tiny_run(told, steps=2), Listening()))
    (line,) = [text for text in said if text.startswith("memory: a step needs about")]
    assert "this machine has" in line and "activations" in line
    assert said.index(line) < said.index("compile")
    (event,) = run.of_kind("memory_estimate")
    assert event["averages"] == event["weights"] and event["gradients"] == 2 * event["weights"]
    assert event["optimizer"] > 2 * event["weights"]
    assert event["total"] == sum(
        event[part]
        for part in ("weights", "averages", "optimizer", "gradients", "batches", "activations")
    )


def test_too_little_memory_is_a_warning_with_a_remedy():
    needs = MemoryEstimate(*[2**30] * 6)
    assert needs.compared(8 * 2**30, "your GPU") == [
        "memory: a step needs about 6.0 GB (weights 1.0 GB, averages 1.0 GB, optimizer 1.0 GB, "
        "gradients 1.0 GB, batches 1.0 GB, activations 1.0 GB); your GPU has 8.0 GB"
    ]
    assert "--batch-size" in needs.compared(4 * 2**30, "your GPU")[1]
    assert len(needs.compared(None, "your GPU")) == 1


def test_a_gpu_is_compared_with_its_own_memory_or_its_limit(monkeypatch):
    monkeypatch.setattr(memory_estimate, "memory_totals_mb", lambda: {0: 8192, 3: 24576})
    dual = {"data.data_gpu": 0, "data.model_gpu": 3}
    config = Config().replaced(dual)
    assert available(DevicePlan("dual", "/GPU:0", "/GPU:1"), config) == (24576 * 2**20, "your GPU")
    limited = config.replaced(
        {"data.enable_memory_isolation": True, "data.model_gpu_memory": 16384}
    )
    plan = DevicePlan("dual", "/GPU:0", "/GPU:1", isolated=True)
    assert available(plan, limited) == (16384 * 2**20, "your limit for the GPU")
    size, owner = available(DevicePlan("one", "/CPU:0", "/CPU:0"), Config())
    assert size is not None and size > 2**28 and owner == "this machine"


def test_the_largest_shape_is_the_one_that_counts():
    assert largest_bucket([Bucket(40, 200, 16), Bucket(80, 400, 8), Bucket(60, 300, 8)]) == 1
