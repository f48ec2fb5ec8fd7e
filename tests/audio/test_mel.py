from __future__ import annotations

import numpy as np
import pytest
import scipy.fft

from myxtts.audio.mel import MelSettings, log_mel, mel_filterbank

SETTINGS = MelSettings()


def signal(samples: int) -> np.ndarray:
    t = np.arange(samples) / 22050
    tones = 0.5 * np.sin(2 * np.pi * 220 * t) + 0.05 * np.cos(2 * np.pi * 7000 * t)
    return (tones + 0.25 * np.sin(2 * np.pi * (1000 + 3000 * t) * t)).astype(np.float32)


def test_equals_librosa() -> None:
    """Values of librosa 0.11: melspectrogram(power=1, center=False) of the padded signal."""
    bins = [0, 5, 6, 20, 30, 40, 60, 76, 79]
    golden = {
        0: [-0.3408, 1.16965, 0.80688, -2.11171, -1.39955, -3.0635, -4.78319, -3.00193, -5.9565],
        4: [-6.5771, 1.46205, 0.00466, -9.08551, -2.13155, -8.38644, -11.51293, -3.04154,
            -11.51293],
        9: [-0.39845, 1.17396, 0.86464, -5.53926, -2.92585, -0.51569, -4.39405, -2.56499,
            -4.49648],
    }  # fmt: skip
    mel = log_mel(signal(2560), SETTINGS)
    assert mel.shape == (10, 80)
    assert mel.dtype == np.float32
    for frame, expected in golden.items():
        np.testing.assert_allclose(mel[frame, bins], expected, atol=1e-3)


def test_filters_have_equal_area_and_cover_the_band() -> None:
    filters = mel_filterbank(SETTINGS)
    assert filters.shape == (80, 513)
    hz_per_bin = 22050 / 1024
    wide = filters[40:]  # the narrow ones are coarse samples of their triangles
    np.testing.assert_allclose(wide.sum(axis=1) * hz_per_bin, 1.0, atol=0.02)
    assert (filters.sum(axis=1) > 0).all()
    assert filters[:, int(8000 / hz_per_bin) + 2 :].sum() == 0


@pytest.mark.parametrize("samples", [0, 1, 255, 256, 384, 385, 1000, 1024, 5000])
def test_frames_of_short_signals(samples: int) -> None:
    mel = log_mel(signal(samples), SETTINGS)
    assert mel.shape == (samples // 256, 80)
    assert np.isfinite(mel).all()


def test_a_clip_shorter_than_the_padding_is_continued_by_silence() -> None:
    short = signal(300)
    longer = np.concatenate([np.zeros(1024, np.float32), short, np.zeros(1024, np.float32)])
    np.testing.assert_allclose(log_mel(short, SETTINGS)[0], log_mel(longer, SETTINGS)[4], atol=1e-4)


def test_silence_is_the_floor() -> None:
    mel = log_mel(np.zeros(4096, np.float32), SETTINGS)
    np.testing.assert_allclose(mel, np.log(1e-5), rtol=1e-6)


def test_other_settings() -> None:
    settings = MelSettings(sample_rate=16000, n_fft=512, hop=128, n_mels=40, fmax=7600.0)
    assert log_mel(signal(16000), settings).shape == (125, 40)


def test_stereo_is_refused() -> None:
    with pytest.raises(ValueError, match="mono"):
        log_mel(np.zeros((100, 2), np.float32), SETTINGS)


def in_one_precision(samples: np.ndarray, precision: type) -> np.ndarray:
    """The definition, without any care for time."""
    signal = np.pad(samples, 384, mode="reflect").astype(precision)
    frames = np.lib.stride_tricks.sliding_window_view(signal, 1024)[::256]
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(1024) / 1024)).astype(precision)
    magnitudes = np.abs(scipy.fft.rfft(frames * window, axis=1))
    return np.log(np.maximum(magnitudes @ mel_filterbank(SETTINGS).T.astype(precision), 1e-5))


def test_quiet_bins_beside_loud_ones_are_exact() -> None:
    t = np.arange(22050) / 22050
    faint_noise = 3e-6 * np.random.default_rng(0).standard_normal(len(t))
    samples = (0.9 * np.sin(2 * np.pi * 100 * t) + faint_noise).astype(np.float32)
    exact = in_one_precision(samples, np.float64)
    single = in_one_precision(samples, np.float32)
    assert np.abs(single - exact).max() > 2e-3  # what this is about
    assert np.abs(log_mel(samples, SETTINGS) - exact).max() < 5e-4
