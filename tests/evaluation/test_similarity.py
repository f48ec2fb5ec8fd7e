"""Voices: one speaker's clips lie together, two speakers' apart."""

import sys

import numpy as np
import pytest

from myxtts.errors import MeasurementError
from myxtts.evaluation import voice_encoder
from myxtts.evaluation.similarity import centroid, cosine, nearest_speaker_share
from myxtts.evaluation.voice_encoder import SIZE, VoiceEncoder

RATE = 22050
TEXTS = [
    "The weather was fine, and we walked along the river until noon.",
    "Nobody knows who wrote this letter, or why it came so late.",
    "Please put the green box under the table in the kitchen.",
]


@pytest.fixture(scope="module")
def encoder():
    if not voice_encoder.available():
        pytest.skip(f"no weights: {voice_encoder.INSTALL}")
    return VoiceEncoder()


def test_one_voice_is_nearer_to_itself_than_to_another(encoder, say):
    voices = {
        variant: [encoder.embed(say(text, variant), RATE) for text in TEXTS]
        for variant in ("rob", "f2", "m7")
    }
    same = [cosine(a, b) for own in voices.values() for a in own for b in own if a is not b]
    different = [
        cosine(a, b)
        for one, own in voices.items()
        for other, others in voices.items()
        if one < other
        for a in own
        for b in others
    ]
    assert min(same) > max(different)
    clips = [(name, vector) for name, own in voices.items() for vector in own[1:]]
    assert nearest_speaker_share(clips, {name: own[0] for name, own in voices.items()}) == 1.0


def test_a_voice_does_not_depend_on_rate_level_or_pauses(encoder, say):
    samples = say(TEXTS[0], "rob")
    vector = encoder.embed(samples, RATE)
    assert vector.shape == (SIZE,) and (vector >= 0).all()
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)
    half = len(samples) // 2
    paused = np.concatenate([samples[:half], np.zeros(3 * RATE, np.float32), samples[half:]])
    other = encoder.embed(say(TEXTS[0], "f2"), RATE)
    # Made quieter than the level to which clips are raised, it is raised to the same.
    quiet = encoder.embed(samples * np.float32(1e-3), RATE)
    assert cosine(quiet, encoder.embed(samples * np.float32(1e-2), RATE)) > 0.9999
    assert cosine(vector, encoder.embed(paused, RATE)) > cosine(vector, other)
    assert cosine(vector, encoder.embed(paused, RATE)) > 0.95


def test_short_and_silent_clips_have_a_vector(encoder):
    for samples in (np.zeros(0, np.float32), np.zeros(RATE, np.float32)):
        assert np.isfinite(encoder.embed(samples, RATE)).all()
    short = np.sin(np.arange(800) / 10).astype(np.float32)
    assert np.linalg.norm(encoder.embed(short, RATE)) == pytest.approx(1.0, abs=1e-5)


def test_the_lstm_agrees_with_a_plain_loop_over_the_gates():
    """The equations as textbooks have them, in double precision, one window at a time."""
    rng = np.random.default_rng(0)
    units = voice_encoder._UNITS
    layer = voice_encoder._Layer(
        *(rng.normal(0, 0.1, shape).astype(np.float32)
          for shape in ((4 * units, 5), (4 * units, units), (4 * units,)))
    )  # fmt: skip
    inputs = rng.normal(size=(2, 7, 5)).astype(np.float32)
    found = voice_encoder._run(layer, inputs)
    for window in range(2):
        hidden = cell = np.zeros(units)
        for step in range(7):
            gates = layer.from_input @ inputs[window, step] + layer.from_state @ hidden + layer.bias
            i, f, g, o = gates.astype(float).reshape(4, units)
            cell = cell / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
            hidden = np.tanh(cell) / (1 + np.exp(-o))
            np.testing.assert_allclose(found[window, step], hidden, atol=1e-5)


def test_missing_weights_say_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "resemblyzer", None)
    monkeypatch.setattr(voice_encoder, "find_spec", lambda name: None)
    with pytest.raises(MeasurementError) as error:
        VoiceEncoder()
    assert error.value.remedy == voice_encoder.INSTALL and error.value.exit_code == 3


def test_other_weights_are_refused(monkeypatch, tmp_path):
    (tmp_path / "pretrained.pt").write_bytes(b"not these")
    monkeypatch.setattr(voice_encoder, "_weights_file", lambda: tmp_path / "pretrained.pt")
    with pytest.raises(MeasurementError, match=r"not those of Resemblyzer 0\.1\.4"):
        VoiceEncoder()


def test_the_share_counts_clips():
    left, right = np.array([1.0, 0.1]), np.array([0.1, 1.0])
    clips = [("a", left), ("a", right), ("b", right), ("b", 3 * right)]
    assert nearest_speaker_share(clips, {"a": left, "b": right}) == 0.75
    np.testing.assert_allclose(centroid([left, right]), [2**-0.5, 2**-0.5])
    with pytest.raises(ValueError, match="at least one clip"):
        nearest_speaker_share([], {"a": left})
