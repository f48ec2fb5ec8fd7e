"""The PyTorch network that ours is timed against computes the same."""

# ruff: noqa: E402  the peers can be imported only where their libraries are

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `bench` is not installed")
pytest.importorskip("numba", reason="the extra `bench` is not installed")

import speech_batch
import tensorflow as tf
from peers import torch_alignment, torch_noise
from peers.torch_step import TorchStep
from peers.torch_xtts import TorchXTTS, as_torch, load

from myxtts.config import Config
from myxtts.models import alignment
from myxtts.models.sizes import SIZES, ModelSize
from myxtts.models.xtts import XTTS
from myxtts.training.step import TrainStep, make_optimizer

VOCABULARY, MELS = 24, 8
NARROW = {
    "tiny": replace(SIZES["tiny"], width=32, duration_width=16),
    "small": replace(
        SIZES["small"], width=64, duration_width=16, refiner_width=64, refiner_blocks=2
    ),
}


@pytest.fixture(scope="module")
def batch() -> dict[str, np.ndarray]:
    """Mixed lengths, an odd clip, a filler row."""
    made = speech_batch.make(speech_batch.Shape(4, 16, 48), n_mels=MELS, vocabulary=VOCABULARY)
    made["mel_lengths"][1] -= made["mel_lengths"][1] % 2 - 1
    made["reference_lengths"][:] = [256, 201, 30, 0]
    for rows, lengths in (("mels", "mel_lengths"), ("reference", "reference_lengths")):
        made[rows] *= (np.arange(made[rows].shape[1]) < made[lengths][:, None])[:, :, None]
    made["weights"][3] = 0.0
    for name in ("token_lengths", "mel_lengths", "tokens", "mels"):
        made[name][3] = 0
    return made


def ours(size: ModelSize) -> XTTS:
    """With every weight random: what starts as zero would hide what it multiplies."""
    model = XTTS(size, VOCABULARY, speech_batch.LANGUAGES, MELS, seed=1)
    random = np.random.default_rng(2)
    for variable in model.trainable_variables:
        variable.assign(variable.numpy() + 0.05 * random.normal(size=variable.shape))
    return model


def theirs(model: XTTS) -> TorchXTTS:
    copy = TorchXTTS(
        model.size, VOCABULARY, speech_batch.LANGUAGES, MELS,
        torch_alignment.compiled, torch_noise.hashed,
    )  # fmt: skip
    load(copy, [(variable.path, variable.numpy()) for variable in model.trainable_variables])
    return copy


@pytest.mark.parametrize("name", NARROW)
def test_losses_and_gradients_are_equal(name: str, batch: dict[str, np.ndarray]):
    model = ours(NARROW[name])
    copy = theirs(model)
    with tf.GradientTape() as tape:
        losses = model.losses({key: tf.constant(value) for key, value in batch.items()})
    gradients = tape.gradient(losses["total"], model.trainable_variables)
    found = copy({key: torch.from_numpy(value) for key, value in batch.items()})
    assert found.tolist() == pytest.approx([float(value) for value in losses.values()], abs=1e-4)

    found[0].backward()
    parameters = dict(copy.named_parameters())
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        owner, _, kind = variable.path.replace("/", ".").rpartition(".")
        parameter = parameters[f"{owner}.bias" if kind == "bias" else f"{owner}.weight"]
        expected = as_torch(tf.convert_to_tensor(gradient).numpy(), kind)
        assert np.abs(expected).max() > 0, variable.path
        np.testing.assert_allclose(
            parameter.grad.numpy(), expected, rtol=1e-3, atol=2e-5, err_msg=variable.path
        )


def test_updates_are_equal(batch: dict[str, np.ndarray]):
    model = ours(replace(NARROW["tiny"], encoder_blocks=1, decoder_blocks=1, duration_blocks=1))
    copy = theirs(model)
    config = Config()
    optimizer = make_optimizer(config, total_steps=10**9)
    optimizer.build(model.trainable_variables)
    step = TrainStep(model, optimizer, "/CPU:0", xla=False)
    tensors = {key: tf.constant(value) for key, value in batch.items()}
    expected = [step(tensors)["total"] for _ in range(20)]
    their_step = TorchStep(copy, batch, config.training)
    found = [their_step()[0] for _ in range(20)]
    assert expected[-1] < 0.99 * expected[0]
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("search", [torch_alignment.plain, torch_alignment.compiled])
def test_alignments_are_equal(search):
    random = np.random.default_rng(3)
    rows, tokens, frames = 16, 12, 40
    likelihood = random.normal(size=(rows, tokens, frames)).astype(np.float32)
    token_lengths = random.integers(0, tokens + 1, rows).astype(np.int32)
    mel_lengths = random.integers(0, frames + 1, rows).astype(np.int32)
    mel_lengths[:3] = 0, 1, 5  # none, one, fewer than tokens
    token_lengths[:3] = 4, 1, 12
    token_lengths = np.maximum(token_lengths, 1)
    expected = alignment.search(tf.constant(likelihood), token_lengths, mel_lengths)
    found = search(*map(torch.from_numpy, (likelihood, token_lengths, mel_lengths)))
    np.testing.assert_array_equal(found.numpy(), expected)
