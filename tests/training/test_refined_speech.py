"""Eight spoken clips learned by heart, coarse and refined: the refiner comes nearer."""

import dataclasses

import numpy as np
import pytest
import scipy.fft
import scipy.signal
import tensorflow as tf

from myxtts.audio.mel import MelSettings, log_mel
from myxtts.config import Config
from myxtts.data.demo_speaker import FreshSpeaker
from myxtts.models.sizes import SIZES, ModelSize
from myxtts.models.xtts import XTTS
from myxtts.text.languages import LANGUAGES
from myxtts.text.tokenizer import Tokenizer
from myxtts.training.step import TrainStep, make_optimizer

SENTENCES = (
    "Good morning.",
    "Where is it?",
    "Three grey ships.",
    "He left at once.",
    "Cold water.",
    "We shall see.",
    "Open the door.",
    "Thank you.",
)
CEPSTRA = slice(1, 14)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer("phonemes")


@pytest.fixture(scope="module")
def clips(tokenizer: Tokenizer) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """A batch of the sentences, each one's reference the next one; and the spread of each bin."""
    with FreshSpeaker(seed=1) as speaker:
        spoken = [speaker.say(text, "en-us+rob", 220) for text in SENTENCES]
    settings = MelSettings()
    mels = []
    for samples, rate in spoken:
        sound = scipy.signal.resample_poly(samples / 32768.0, settings.sample_rate, rate)
        mels.append(log_mel(sound.astype(np.float32), settings))
    mean, std = np.concatenate(mels).mean(axis=0), np.concatenate(mels).std(axis=0)
    scored = [(mel - mean) / std for mel in mels]
    tokens = [tokenizer.encode(text, "en").ids for text in SENTENCES]
    frames = np.array([len(mel) for mel in mels], np.int32)
    rows, room = len(mels), -(-frames.max() // 8) * 8
    batch = {
        "tokens": np.stack([np.pad(ids, (0, 32 - len(ids))) for ids in tokens]).astype(np.int32),
        "token_lengths": np.array([len(ids) for ids in tokens], np.int32),
        "mels": np.stack([np.pad(mel, ((0, room - len(mel)), (0, 0))) for mel in scored]),
        "mel_lengths": frames,
        "language": np.zeros(rows, np.int32),
        "weights": np.ones(rows, np.float32),
    }
    batch["reference"] = np.roll(batch["mels"], 1, axis=0)
    batch["reference_lengths"] = np.roll(frames, 1)
    return batch, std


def learned(size: ModelSize, steps: int, rate: float, batch: dict, vocabulary: int) -> XTTS:
    """A model that saw nothing but this batch, with other noise at every step."""
    settings = {"training.learning_rate": rate, "training.warmup_steps": 20}
    model = XTTS(size, vocabulary, len(LANGUAGES), batch["mels"].shape[-1])
    optimizer = make_optimizer(Config().replaced(settings), steps)
    optimizer.build(model.trainable_variables)
    step = TrainStep(model, optimizer, "/CPU:0", xla=False)
    random = np.random.default_rng(0)
    tensors = {name: tf.constant(array) for name, array in batch.items()}
    for _ in range(steps):
        seeds = random.integers(0, 2**31, len(SENTENCES)).astype(np.int32)
        losses = step(tensors | {"noise_seeds": tf.constant(seeds)})
        assert np.isfinite(losses["total"])
    return model


def distortion(model: XTTS, batch: dict, spread: np.ndarray, refine_steps: int) -> float:
    """Mel-cepstral distortion in dB from the clips, frame by frame in their own timing."""
    tensors = {name: tf.constant(array) for name, array in batch.items()}
    said = model.reconstruct(tensors, refine_steps=refine_steps).numpy()
    real = np.arange(said.shape[1]) < batch["mel_lengths"][:, None]
    difference = ((said - batch["mels"]) * spread)[real]
    cepstra = scipy.fft.dct(difference, norm="ortho", axis=-1)[:, CEPSTRA]
    return float(10 / np.log(10) * np.sqrt(2 * np.square(cepstra).sum(axis=-1)).mean())


def compare(
    size: ModelSize, steps: int, rate: float, clips: tuple, vocabulary: int, *, within: float
) -> None:
    """The refined mel must lie within this share of the coarse one's distance."""
    batch, spread = clips
    model = learned(size, steps, rate, batch, vocabulary)
    said = {taken: distortion(model, batch, spread, taken) for taken in (0, 4, 6, 10)}
    print(f"\n{size.name}, {steps} updates, dB by refiner's steps (0: coarse): {said}")
    silence = distortion(XTTS(size, vocabulary, len(LANGUAGES), 80), batch, spread, 0)
    assert said[0] < 0.25 * silence
    assert max(said[taken] for taken in (4, 6, 10)) < within * said[0]


@pytest.mark.long
def test_a_thin_refiner_comes_nearer_than_the_coarse_mel(
    clips: tuple, tokenizer: Tokenizer
) -> None:
    thin = dataclasses.replace(
        SIZES["small"],
        width=64,
        refiner_width=64,
        duration_width=32,
        encoder_blocks=1,
        decoder_blocks=1,
        refiner_blocks=2,
        voice_blocks=0,
    )
    compare(thin, 150, 3e-3, clips, tokenizer.size, within=0.97)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_small_learns_eight_clips_and_its_refiner_comes_nearer(
    clips: tuple, tokenizer: Tokenizer
) -> None:
    compare(SIZES["small"], 250, 1e-3, clips, tokenizer.size, within=0.95)
