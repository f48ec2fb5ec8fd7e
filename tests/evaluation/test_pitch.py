"""The pitch tracker on sounds whose pitch is known, and the errors counted from it."""

import numpy as np
import pytest

from myxtts.evaluation.pitch import pitch_errors, track

RATE, HOP = 22050, 256


def tone(hertz: float, seconds: float = 0.5) -> np.ndarray:
    """Nine harmonics, each weaker than the last, as of a string."""
    time = np.arange(int(seconds * RATE)) / RATE
    return 0.1 * sum(np.sin(2 * np.pi * hertz * k * time) / k for k in range(1, 10))


def straight(frames: int) -> np.ndarray:
    return np.arange(frames)[:, None].repeat(2, axis=1)


@pytest.mark.parametrize("hertz", [65.0, 110.0, 220.5, 333.3, 480.0])
def test_tones_within_two_cents(hertz: float) -> None:
    pitch = track(tone(hertz), RATE, HOP)
    assert len(pitch) == RATE // 2 // HOP
    inner = pitch[3:-3]
    assert (inner > 0).all()
    assert np.abs(1200 * np.log2(inner / hertz)).max() < 2.0


def test_a_glide_is_followed_in_time() -> None:
    """Frame i is about the middle of its hop, not the beginning of its window."""
    time = np.arange(RATE) / RATE
    hertz = 100 + 100 * time
    phase = 2 * np.pi * np.cumsum(hertz) / RATE
    pitch = track(0.1 * sum(np.sin(k * phase) / k for k in range(1, 6)), RATE, HOP)
    middle = (np.arange(len(pitch)) + 0.5) * HOP / RATE
    apart = 1200 * np.log2(pitch[4:-4] / (100 + 100 * middle[4:-4]))
    assert np.abs(apart).max() < 15.0


def test_noise_and_silence_have_no_pitch() -> None:
    noise = np.random.default_rng(0).normal(size=RATE) * 0.1
    assert (track(noise, RATE, HOP) > 0).mean() < 0.03
    assert (track(np.zeros(RATE), RATE, HOP) == 0).all()
    assert len(track(np.zeros(10), RATE, HOP)) == 0


def test_a_voice_before_a_pause() -> None:
    pitch = track(np.concatenate([tone(150), np.zeros(RATE // 2)]), RATE, HOP)
    half = len(pitch) // 2
    assert (pitch[3 : half - 3] > 0).all() and (pitch[half + 4 :] == 0).all()


@pytest.mark.parametrize(("low", "high"), [(50, 80)])
def test_espeak_speaks_higher_when_told_to(low: int, high: int) -> None:
    """Without its melody, espeak keeps one pitch; the tracker must find it in every vowel."""
    pytest.importorskip("espeakng_loader", reason="speech with a known pitch comes from espeak-ng")
    from myxtts.text import espeak

    medians = []
    for pitch in (low, high):
        speech = espeak.speak(
            "We were away a year ago, in warm and sunny lands.", "en-us", pitch=pitch, pitch_range=0
        )
        found = track(speech.samples / 32768, speech.sample_rate, HOP)
        voiced = found[found > 0]
        assert len(voiced) > 0.6 * len(found)
        medians.append(np.median(voiced))
        assert (np.abs(1200 * np.log2(voiced / medians[-1])) < 100).mean() > 0.9
        assert medians[-1] == pytest.approx(_strongest_period(speech.samples, 22050), rel=0.03)
    assert 1.25 < medians[1] / medians[0] < 1.7


def _strongest_period(samples: np.ndarray, rate: int) -> float:
    """The pitch of a whole monotonous recording, found in another way: one long autocorrelation."""
    spectrum = np.abs(np.fft.rfft(samples, 2 * len(samples))) ** 2
    copies = np.fft.irfft(spectrum)[: rate // 60]
    return float(rate / (rate // 250 + np.argmax(copies[rate // 250 :])))


def test_errors_are_counted_where_both_have_a_voice() -> None:
    a = np.array([100.0, 100.0, 0.0, 200.0, 0.0])
    b = np.array([100.0, 200.0, 100.0, 0.0, 0.0])
    cents, voicing = pitch_errors(a, b, straight(5))
    assert cents == pytest.approx(np.sqrt((0**2 + 1200**2) / 2))
    assert voicing == pytest.approx(2 / 5)


def test_a_semitone_is_a_hundred_cents_along_any_path() -> None:
    a, b = np.full(4, 100.0), np.full(8, 100.0 * 2 ** (1 / 12))
    path = np.stack([np.arange(8) // 2, np.arange(8)], axis=1)
    assert pitch_errors(a, b, path)[0] == pytest.approx(100.0)


def test_without_a_common_voice_there_is_no_pitch_error() -> None:
    assert pitch_errors(np.array([0.0, 100.0]), np.array([100.0, 0.0]), straight(2)) == (None, 1.0)
