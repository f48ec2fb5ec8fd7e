"""Durations where the difference is known."""

import numpy as np
import pytest

from myxtts.evaluation.durations import duration_error, token_duration_error

RATE = 16000


def sound(seconds: float, before: float = 0.0, after: float = 0.0) -> np.ndarray:
    tone = 0.3 * np.sin(2 * np.pi * 200 * np.arange(int(seconds * RATE)) / RATE)
    silence = [np.zeros(int(part * RATE)) for part in (before, after)]
    return np.concatenate([silence[0], tone, silence[1]]).astype(np.float32)


def test_speech_a_tenth_longer() -> None:
    assert duration_error(sound(2.2), sound(2.0), RATE) == pytest.approx(0.1, abs=0.01)
    assert duration_error(sound(1.8), sound(2.0), RATE) == pytest.approx(0.1, abs=0.01)


def test_silence_at_the_ends_does_not_count() -> None:
    assert duration_error(sound(2.0, 0.5, 1.0), sound(2.0, 0.2, 0.3), RATE) < 0.03


def test_tokens_that_make_up_for_each_other_still_count() -> None:
    model, source = np.array([3, 5, 2]), np.array([5, 3, 2])
    assert token_duration_error(model, source) == pytest.approx(0.4)
    assert token_duration_error(source, source) == 0.0
    with pytest.raises(ValueError, match="same tokens"):
        token_duration_error(model, source[:2])
