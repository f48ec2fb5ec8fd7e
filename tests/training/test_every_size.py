"""Training steps of every size, in every precision, under two shapes.

`normal` has every part that a size may have, so its thin form stands for all in the quick tests.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

from myxtts.config import Config, ModelConfig
from myxtts.models.sizes import SIZES
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import network, precision
from myxtts.training.step import TrainStep, make_optimizer

POLICIES = ("float32", "mixed_bfloat16", "mixed_float16")
TOKENIZER = Tokenizer("characters")
THIN = {"width": 32, "encoder_blocks": 1, "decoder_blocks": 1, "refiner_blocks": 1}
ROWS, TOKENS, MELS = 2, 32, 80
UPDATES, MOST_STEPS = 3, 20
"""What lies behind a layer that starts as zero moves from the second update on."""


def batch(frames: int) -> dict[str, tf.Tensor]:
    """Two clips, one shorter than its bucket."""
    random = np.random.default_rng(frames)
    lengths = np.array([frames, frames - 9], np.int32)
    inside = np.arange(frames) < lengths[:, None]
    arrays = {
        "tokens": random.integers(4, TOKENIZER.size, (ROWS, TOKENS)).astype(np.int32),
        "token_lengths": np.array([TOKENS, TOKENS - 5], np.int32),
        "mels": (random.normal(size=(ROWS, frames, MELS)) * inside[..., None]).astype(np.float32),
        "mel_lengths": lengths,
        "reference": random.normal(size=(ROWS, 64, MELS)).astype(np.float32),
        "reference_lengths": np.array([64, 40], np.int32),
        "language": np.array([0, 1], np.int32),
        "weights": np.ones(ROWS, np.float32),
        "noise_seeds": np.array([1, 2], np.int32),
    }
    return {name: tf.constant(array) for name, array in arrays.items()}


def train_twice_under_two_shapes(model: ModelConfig, policy: str) -> None:
    net = network.build(model, TOKENIZER, MELS, policy, seed=0)
    told = Config().replaced({"training.warmup_steps": 1})
    optimizer = make_optimizer(told, 10, policy)
    optimizer.build(net.trainable_variables)
    step = TrainStep(net, optimizer, "/CPU:0", xla=False)
    before = [variable.numpy() for variable in net.trainable_variables]
    losses = [step(batch(frames)) for frames in (64, 128)]
    compiled = step.compilations
    losses += [step(batch(frames)) for frames in (64, 128)]
    while int(precision.inner(optimizer).iterations) < UPDATES and len(losses) < MOST_STEPS:
        losses.append(step(batch(64)))  # float16 begins with a loss scale that may be too high
    assert step.compilations == compiled
    parts = {"total", "mel", "prior", "duration"} | ({"flow"} if net.refiner else set())
    assert all(found.keys() == parts for found in losses)
    assert all(np.isfinite(list(found.values())).all() for found in losses), losses
    after = [variable.numpy() for variable in net.trainable_variables]
    assert all(np.isfinite(array).all() for array in after)
    changed = [not np.array_equal(*pair) for pair in zip(before, after, strict=True)]
    assert np.mean(changed) > 0.9
    assert losses[0]["mel"] != losses[2]["mel"]
    if policy != "float32":
        assert net.encoder.compute_dtype == policy.removeprefix("mixed_")
    keras.backend.clear_session()


def test_a_thin_step() -> None:
    """In the most delicate precision; the long tier has all three, in full size."""
    train_twice_under_two_shapes(ModelConfig(size="normal", **THIN), "mixed_float16")


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", SIZES)
def test_a_step_in_full_size(name: str, policy: str) -> None:
    train_twice_under_two_shapes(ModelConfig(size=name), policy)
