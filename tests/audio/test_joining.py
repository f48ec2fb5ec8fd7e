"""Joints between pieces of real speech: as long as asked for, and without a click."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal

from myxtts.audio.joining import PEAK_LIMIT, join, limited
from myxtts.audio.levels import speech_edges
from myxtts.text import espeak

RATE = 22050


def speech(text: str) -> np.ndarray:
    return espeak.speak(text, "en-us").samples / np.float32(32768)


@pytest.fixture(scope="module")
def sentences() -> list[np.ndarray]:
    return [speech("The geese are beautiful."), speech("Where is it?"), speech("Under the stairs.")]


def tone(seconds: float, hertz: float = 150.0) -> np.ndarray:
    """Starts and ends at its peak: put beside anything else, it clicks."""
    count = int(seconds * RATE)
    return (0.5 * np.cos(2 * np.pi * hertz * np.arange(count) / RATE)).astype(np.float32)


def click(samples: np.ndarray, place: int) -> float:
    """Energy above 4 kHz in 6 ms around a place: a step has much, a low tone has none."""
    sos = scipy.signal.butter(6, 4000, "high", fs=RATE, output="sos")
    high = scipy.signal.sosfilt(sos, samples)
    around = high[max(0, place - 32) : place + 96]
    return float(np.sqrt(np.mean(around**2)))


@pytest.mark.parametrize("pause", [0.0, 0.02, 0.04, 0.3])
def test_a_joint_makes_no_click(pause: float) -> None:
    parts = [tone(0.2), tone(0.2, 170.0), tone(0.2)]
    naive = np.concatenate([parts[0], np.zeros(int(pause * RATE), np.float32), -parts[1]])
    joined = join([parts[0], -parts[1], parts[2]], [pause, pause], RATE)
    joints = [len(parts[0]), *joined.starts[1:]]
    steepest = np.abs(np.diff(parts[1])).max()
    assert np.abs(np.diff(joined.samples)).max() < 2 * steepest
    assert np.abs(np.diff(naive)).max() > 5 * steepest  # what the test would see without the fades
    for joint in joints:
        assert click(joined.samples, joint) < 0.1 * click(naive, len(parts[0]))


def test_the_ends_begin_and_end_in_silence() -> None:
    samples = join([tone(0.3)], [], RATE).samples
    assert len(samples) == int(0.3 * RATE)
    assert samples[0] == 0 and abs(samples[-1]) < 0.01
    assert max(click(samples, 0), click(samples, len(samples) - 40)) < 0.02 * click(
        np.concatenate([np.zeros(500, np.float32), tone(0.1)]), 500
    )


@pytest.mark.parametrize("pause", [0.1, 0.3, 1.0])
def test_pauses_are_as_long_as_asked_for(sentences: list[np.ndarray], pause: float) -> None:
    padded = [np.pad(part, (2000, 9000)) for part in sentences]  # their own stillness is trimmed
    joined = join(padded, [pause] * 3, RATE)
    spoken = [np.diff(speech_edges(part, RATE))[0] for part in padded]
    for number in range(2):
        gap = joined.starts[number + 1] - (joined.starts[number] + spoken[number])
        assert gap == round(pause * RATE)
    middle = joined.starts[1] - round(pause * RATE / 2)
    if pause > 0.1:
        assert not joined.samples[middle - 100 : middle + 100].any()
    # What lies before the first word and after the last one stays.
    assert joined.starts[0] == speech_edges(padded[0], RATE)[0]
    last = speech_edges(padded[2], RATE)[1]
    assert len(joined.samples) == joined.starts[2] + spoken[2] + len(padded[2]) - last


def test_speech_itself_is_untouched(sentences: list[np.ndarray]) -> None:
    joined = join(sentences, [0.2, 0.2], RATE)
    for part, start in zip(sentences, joined.starts, strict=True):
        first, last = speech_edges(part, RATE)
        np.testing.assert_array_equal(
            joined.samples[start + 120 : start + last - first - 120], part[first + 120 : last - 120]
        )


def test_a_cross_fade_keeps_the_power() -> None:
    noise = np.random.default_rng(0).normal(0, 0.1, (2, RATE)).astype(np.float32)
    still = 10 ** (-45 / 20)  # below speech, as a noisy recording's pauses are
    parts = [np.concatenate([each, still * each]) for each in noise]
    parts[1] = parts[1][::-1].copy()
    joined = join(parts, [0.03], RATE)
    overlap = joined.samples[joined.starts[1] - int(0.03 * RATE) : joined.starts[1]]
    assert np.sqrt(np.mean(overlap**2)) == pytest.approx(0.1 * still, rel=0.15)


def test_silent_and_tiny_pieces_are_joined_too() -> None:
    for parts in (
        [np.zeros(500, np.float32)] * 2,
        [tone(0.001)] * 2,
        [np.zeros(0, np.float32)] * 2,
    ):
        assert np.isfinite(join(parts, [0.1], RATE).samples).all()
    assert len(join([], [], RATE).samples) == 0


def test_peaks_are_limited_by_one_gain_for_all() -> None:
    loud = tone(0.1) * 4
    turned_down = limited(loud)
    assert np.abs(turned_down).max() == pytest.approx(PEAK_LIMIT)
    np.testing.assert_allclose(turned_down / loud, PEAK_LIMIT / 2.0, rtol=1e-5)
    quiet = tone(0.1)
    assert limited(quiet) is quiet
    assert len(limited(np.zeros(0, np.float32))) == 0
