import numpy as np
import pytest

from myxtts.audio.levels import KEPT_SECONDS, loudness, trim_silence, with_loudness

RATE = 22050


def speech(seconds: float = 1.0, amplitude: float = 0.1) -> np.ndarray:
    time = np.arange(int(seconds * RATE)) / RATE
    return (amplitude * np.sin(2 * np.pi * 220 * time)).astype(np.float32)


def silence(seconds: float, noise: float = 1e-4) -> np.ndarray:
    draws = np.random.default_rng(0)
    return draws.normal(0, noise, int(seconds * RATE)).astype(np.float32)


def test_silence_at_both_ends_goes_and_a_little_stays() -> None:
    clip = np.concatenate([silence(0.7), speech(), silence(0.4)])
    trimmed = trim_silence(clip, RATE)
    assert abs(len(trimmed) / RATE - (1.0 + 2 * KEPT_SECONDS)) < 0.05
    assert loudness(trimmed, RATE) == pytest.approx(loudness(clip, RATE), abs=0.3)


def test_a_pause_inside_stays() -> None:
    clip = np.concatenate([speech(0.5), silence(1.0), speech(0.5)])
    assert len(trim_silence(clip, RATE)) == len(clip)


@pytest.mark.parametrize("clip", [np.zeros(5000, np.float32), np.zeros(0, np.float32)])
def test_a_silent_clip_is_left_as_it_is(clip: np.ndarray) -> None:
    np.testing.assert_array_equal(trim_silence(clip, RATE), clip)
    np.testing.assert_array_equal(with_loudness(clip, RATE, -23.0), clip)


def test_every_clip_gets_the_same_loudness() -> None:
    for amplitude in (0.001, 0.03, 0.5):
        clip = np.concatenate([speech(amplitude=amplitude), np.zeros(RATE, np.float32)])
        levelled = with_loudness(clip, RATE, -23.0)
        assert loudness(levelled, RATE) == pytest.approx(-23.0, abs=0.05)
        assert levelled.dtype == np.float32


def test_pauses_do_not_count_for_the_loudness() -> None:
    clip = speech()
    paused = np.concatenate([clip, silence(3.0), clip])
    assert loudness(paused, RATE) == pytest.approx(loudness(clip, RATE), abs=0.1)


def test_a_gain_never_clips() -> None:
    clip = speech(amplitude=0.01)
    clip[1000] = 0.5
    assert np.abs(with_loudness(clip, RATE, 0.0)).max() <= 0.99
