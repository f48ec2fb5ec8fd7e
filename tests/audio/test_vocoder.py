"""The vocoder interface: what is there, what fits, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from myxtts.audio import vocoder
from myxtts.audio.griffin_lim import griffin_lim
from myxtts.audio.mel import MelSettings
from myxtts.errors import UsageError, UserError

SETTINGS = MelSettings(n_mels=40, sample_rate=16000)


class Trained:
    """A vocoder with weights for one kind of spectrogram."""

    name = "trained"
    settings = MelSettings()

    def __call__(self, log_mel: np.ndarray) -> np.ndarray:
        return np.zeros(len(log_mel) * self.settings.hop, np.float32)


def test_griffin_lim_is_the_default_and_fits_everything() -> None:
    assert vocoder.names()[0] == vocoder.DEFAULT == "griffin-lim"
    made = vocoder.make("griffin-lim", SETTINGS)
    assert (made.name, made.settings) == ("griffin-lim", SETTINGS)
    mels = np.random.default_rng(0).normal(-4, 1, (9, 40)).astype(np.float32)
    np.testing.assert_array_equal(made(mels), griffin_lim(mels, SETTINGS))


def test_a_seed_is_another_phase_of_the_same_sound() -> None:
    mels = np.random.default_rng(0).normal(-4, 1, (40, 80)).astype(np.float32)
    first, again, other = (vocoder.make("griffin-lim", MelSettings(), s)(mels) for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.01
    assert np.std(first) == pytest.approx(np.std(other), rel=0.1)


def test_another_vocoder_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vocoder._MAKERS, "trained", lambda settings, seed: Trained())
    assert vocoder.make("trained", MelSettings()).name == "trained"


def test_settings_that_do_not_fit_are_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(vocoder._MAKERS, "trained", lambda settings, seed: Trained())
    with pytest.raises(UserError) as refused:
        vocoder.make("trained", replace(MelSettings(), n_mels=100, hop=300))
    text = str(refused.value)
    assert "does not fit" in text and "--vocoder griffin-lim" in text
    assert "hop 256 where the model has 300" in text and "n_mels 80 where the model has 100" in text
    assert "sample_rate" not in text


def test_an_unknown_vocoder_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="no vocoder called hifigan") as refused:
        vocoder.make("hifigan", MelSettings())
    assert "griffin-lim" in str(refused.value)
