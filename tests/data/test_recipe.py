"""What decides a store's bytes: both kinds, trimming, loudness."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from myxtts.audio.decode import decode, write_wav
from myxtts.audio.levels import loudness
from myxtts.audio.mel import MelSettings, log_mel
from myxtts.config import DataConfig
from myxtts.data.recipe import Recipe


def voice(seconds: float = 1.3, silence: float = 0.0, amplitude: float = 0.2) -> np.ndarray:
    time = np.arange(int(seconds * 22050)) / 22050
    tone = amplitude * np.sin(2 * np.pi * 180 * time) * (1 + 0.4 * np.sin(2 * np.pi * 3 * time))
    noise = np.random.default_rng(0).normal(0, 0.002, len(time))
    edge = np.zeros(int(silence * 22050))
    return np.concatenate([edge, tone + noise, edge]).astype(np.float32)


@pytest.mark.parametrize("samples", [28_700, 28_672, 5000, 300])
def test_pcm_keeps_what_the_mels_need(tmp_path: Path, samples: int) -> None:
    """A 16-bit file loses nothing, with a tail after its last frame or without, long or short."""
    path = tmp_path / "a.wav"
    write_wav(path, voice(2.0)[:samples], 22050)
    pcm, mels = Recipe("pcm"), Recipe("mels")
    rows = pcm.compute(path)
    assert rows.dtype == np.int16 and rows.shape == (samples // 256 + 3, 256)
    np.testing.assert_array_equal(pcm.mels(rows), mels.compute(path))
    middle = rows.reshape(-1)[384 : 384 + samples // 256 * 256]
    np.testing.assert_array_equal(middle / 32768, decode(path, 22050)[: len(middle)])


def test_full_scale_does_not_wrap_around(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    write_wav(path, np.tile(np.array([1.0, -1.0], np.float32), 4000), 22050)
    rows = Recipe("pcm").compute(path).reshape(-1)[384:5000]
    assert (rows[::2] * np.sign(rows[0]) > 32000).all()


def test_trimming_and_loudness_change_the_features(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    write_wav(path, voice(silence=0.6, amplitude=0.02), 22050)
    plain = Recipe("mels")
    trimmed = replace(plain, trim_silence=True)
    levelled = replace(trimmed, loudness=-20.0)
    assert len(trimmed.compute(path)) < len(plain.compute(path)) - 80
    assert loudness(levelled.samples(path), 22050) == pytest.approx(-20.0, abs=0.1)
    assert levelled.compute(path).mean() > trimmed.compute(path).mean() + 1.0


def test_everything_that_changes_a_byte_changes_the_fingerprint() -> None:
    recipes = [
        Recipe(),
        Recipe("pcm"),
        Recipe(trim_silence=True),
        Recipe(loudness=-23.0),
        Recipe(mel=MelSettings(n_mels=40)),
        Recipe(mel=MelSettings(sample_rate=16000)),
    ]
    assert len({recipe.fingerprint for recipe in recipes}) == len(recipes)
    assert all(Recipe.from_description(one.description) == one for one in recipes)


def test_a_configuration_says_what_is_stored(tmp_path: Path) -> None:
    assert Recipe.of(DataConfig()) == Recipe()
    data = DataConfig(features="live", trim_silence=True, loudness=-18, n_mels=40)
    assert Recipe.of(data) == Recipe("pcm", MelSettings(n_mels=40), True, -18.0)
    assert Recipe.of(DataConfig(sample_rate=8000)).mel.fmax == 4000.0
    write_wav(tmp_path / "a.wav", voice(), 22050)
    slow = Recipe.of(DataConfig(sample_rate=16000))
    expected = log_mel(decode(tmp_path / "a.wav", 16000), slow.mel)
    np.testing.assert_array_equal(slow.compute(tmp_path / "a.wav"), expected.astype(np.float16))
