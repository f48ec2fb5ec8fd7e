"""Mels computed on a device are those that would have been stored."""

import os
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from myxtts.audio.decode import write_wav
from myxtts.audio.mel import MelSettings, log_mel
from myxtts.config import ModelConfig
from myxtts.data.recipe import Recipe
from myxtts.training.live_features import LiveFeatures
from myxtts.training.preprocess import Preprocessor

TOLERANCE = 2e-3  # single precision on the device, double in NumPy; see the module


def signal(samples: int, seed: int = 0) -> np.ndarray:
    time = np.arange(samples) / 22050
    noise = np.random.default_rng(seed).normal(0, 0.01, samples)
    return (0.3 * np.sin(2 * np.pi * (200 + 40 * seed) * time) + noise).astype(np.float32)


def computed(recipe: Recipe, rows: np.ndarray) -> np.ndarray:
    live = LiveFeatures(recipe.mel)
    return live.log_mel(live.waveform(rows.reshape(1, -1))).numpy()[0]


@pytest.mark.parametrize(
    "settings",
    [MelSettings(), MelSettings(n_mels=40, sample_rate=16000), MelSettings(fmax=11025.0)],
    ids=["default", "16 kHz", "all bins"],
)
def test_they_equal_numpy_s(tmp_path: Path, settings: MelSettings) -> None:
    recipe = Recipe("pcm", settings)
    for samples in (256, 300, 9_999, 25_600):
        path = tmp_path / f"{samples}.wav"
        write_wav(path, signal(samples), settings.sample_rate)
        expected = log_mel(recipe.samples(path), settings)
        mels = computed(recipe, recipe.compute(path))
        assert mels.shape == expected.shape
        np.testing.assert_allclose(mels, expected, atol=TOLERANCE)


def test_silence_has_the_floor_s_logarithm() -> None:
    recipe = Recipe("pcm")
    mels = computed(recipe, np.zeros(4096, np.int16))
    np.testing.assert_allclose(mels, np.log(recipe.mel.floor), atol=1e-6)


@pytest.mark.skipif(
    "MYXTTS_TEST_DATA" not in os.environ, reason="MYXTTS_TEST_DATA names no real clips"
)
def test_real_clips() -> None:
    recipe = Recipe("pcm")
    folder = Path(os.environ["MYXTTS_TEST_DATA"]) / "ljspeech-mini" / "wavs"
    for path in sorted(folder.glob("*.wav"))[:6]:
        expected = log_mel(recipe.samples(path), recipe.mel)
        np.testing.assert_allclose(computed(recipe, recipe.compute(path)), expected, atol=TOLERANCE)


def test_a_batch_of_pcm_becomes_the_batch_that_stored_mels_give(tmp_path: Path) -> None:
    """Padding, lengths and normalisation included: the model sees no difference but rounding."""
    pcm, mels = Recipe("pcm"), Recipe("mels")
    lengths, room = np.array([31, 12], np.int32), 40
    batch = {
        "mel_lengths": lengths,
        "reference_lengths": lengths,
        "language": np.zeros(2, np.int32),
    }
    stored = np.zeros((2, room, 80), np.float16)
    samples = np.zeros((2, room + 3, 256), np.int16)
    for row, frames in enumerate(lengths):
        path = tmp_path / f"{row}.wav"
        write_wav(path, signal(frames * 256 + 9, row), 22050)
        stored[row, :frames] = mels.compute(path)
        samples[row, : frames + 3] = pcm.compute(path)
    flat = samples.reshape(2, -1)
    mean, std = np.linspace(-6, -4, 80), np.full(80, 2.0)
    cached = Preprocessor("/CPU:0", mean, std, ModelConfig())
    live = Preprocessor("/CPU:0", mean, std, ModelConfig(), LiveFeatures(pcm.mel))
    expected = cached(batch | {"mels": stored, "reference": stored})
    got = live(batch | {"samples": flat, "reference_samples": flat, "step": np.array(7, np.int64)})
    assert set(got) == set(expected)
    for name in ("mels", "reference"):
        assert got[name].dtype == tf.float32
        np.testing.assert_allclose(got[name], expected[name], atol=5e-3)
        assert not np.asarray(got[name])[1, 12:].any()
