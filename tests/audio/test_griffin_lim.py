from __future__ import annotations

import numpy as np
import pytest

from myxtts.audio.griffin_lim import griffin_lim
from myxtts.audio.mel import MelSettings, log_mel
from myxtts.text import espeak

SETTINGS = MelSettings()


@pytest.fixture(scope="module")
def speech() -> np.ndarray:
    return espeak.speak("Hello world, how are you?", "en-us").samples / np.float32(32768)


def test_speech_comes_back(speech: np.ndarray) -> None:
    mel = log_mel(speech, SETTINGS)
    again = griffin_lim(mel, SETTINGS)
    assert again.dtype == np.float32
    assert again.shape == (len(mel) * SETTINGS.hop,)
    loud = mel > np.log(1e-3)
    error = np.abs(log_mel(again, SETTINGS) - mel)[loud].mean()
    assert error < 0.25
    assert 0.5 < np.abs(again).max() / np.abs(speech).max() < 2.0


def test_iterations_help(speech: np.ndarray) -> None:
    mel = log_mel(speech, SETTINGS)
    errors = [
        np.abs(log_mel(griffin_lim(mel, SETTINGS, iterations=n), SETTINGS) - mel).mean()
        for n in (0, 4, 32)
    ]
    assert errors[0] > errors[1] > errors[2]


def test_same_spectrogram_same_samples(speech: np.ndarray) -> None:
    mel = log_mel(speech[:20000], SETTINGS)
    np.testing.assert_array_equal(griffin_lim(mel, SETTINGS), griffin_lim(mel, SETTINGS))


@pytest.mark.parametrize("frames", [0, 1, 2, 5])
def test_few_frames(frames: int) -> None:
    samples = griffin_lim(np.full((frames, 80), -5.0, np.float32), SETTINGS)
    assert samples.shape == (frames * 256,)
    assert np.isfinite(samples).all()


def test_a_hop_that_does_not_divide_the_window() -> None:
    settings = MelSettings(n_fft=1024, hop=300)
    samples = griffin_lim(np.full((7, 80), -3.0, np.float32), settings)
    assert samples.shape == (2100,)
    assert np.isfinite(samples).all()
