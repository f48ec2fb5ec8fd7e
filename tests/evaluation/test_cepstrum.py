"""Mel-cepstral distortion where the answer is known."""

import numpy as np
import pytest

from myxtts.evaluation.cepstrum import aligned_mcd, mcd, mel_cepstrum

RNG = np.random.default_rng(0)
MELS = np.cumsum(RNG.normal(size=(60, 80)), axis=0) * 0.2


def test_identical_recordings_are_not_apart() -> None:
    assert mcd(MELS, MELS) == 0.0
    assert aligned_mcd(MELS, MELS) == 0.0


def test_loudness_alone_does_not_count() -> None:
    assert mcd(MELS, MELS + 1.5) == pytest.approx(0.0, abs=1e-6)


def test_a_ripple_of_one_coefficient_has_the_distortion_of_the_formula() -> None:
    """x + a·cos(πk(2n+1)/2N) differs by a in c[k]: 10/ln10·√2·a dB, 20/ln10·a/√2 as an RMS."""
    ripple = 0.5 * np.cos(np.pi * 3 * (2 * np.arange(80) + 1) / 160)
    expected = 10 / np.log(10) * np.sqrt(2) * 0.5
    assert aligned_mcd(MELS, MELS + ripple) == pytest.approx(expected)
    decibels = 20 / np.log(10) * ripple
    assert expected == pytest.approx(np.sqrt((decibels**2).mean()))


def test_what_is_finer_than_the_last_coefficient_does_not_count() -> None:
    ripple = np.cos(np.pi * 20 * (2 * np.arange(80) + 1) / 160)
    assert aligned_mcd(MELS, MELS + ripple) == pytest.approx(0.0, abs=1e-9)
    assert aligned_mcd(MELS, MELS + ripple, coefficients=24) > 1.0
    assert mel_cepstrum(MELS, 24).shape == (60, 24)


def test_more_noise_is_further_apart() -> None:
    noise = RNG.normal(size=MELS.shape)
    apart = [mcd(MELS, MELS + level * noise) for level in (0.0, 0.1, 0.3, 1.0)]
    assert apart == sorted(apart) and len(set(apart)) == 4


def test_a_copy_stretched_in_time_is_not_apart() -> None:
    slower = MELS[np.repeat(np.arange(60), RNG.integers(1, 4, 60))]
    assert mcd(MELS, slower) == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(ValueError, match="equal shapes"):
        aligned_mcd(MELS, slower)
