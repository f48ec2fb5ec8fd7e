from __future__ import annotations

from random import Random

import numpy as np
import pytest
import tensorflow as tf

from myxtts.models.speaker import VoiceEncoder


@pytest.fixture(scope="module", params=["mean", "blocks", "perceiver"])
def encoder(request: pytest.FixtureRequest) -> VoiceEncoder:
    """The voice encoders of tiny, of small, and of normal and big, with all parts at work."""
    parts = {"blocks": 2} if request.param == "blocks" else {}
    if request.param == "perceiver":
        parts = {"blocks": 1, "latents": 4, "layers": 2}
    encoder = VoiceEncoder("voice", n_mels=8, width=16, kernel=5, seeds=Random(0), **parts)
    random = np.random.default_rng(0)
    for variable in encoder.trainable_variables:
        if not variable.numpy().any() and "kernel" in variable.path:
            variable.assign(random.normal(size=variable.shape) * 0.3)
    return encoder


@pytest.mark.parametrize("length", [1, 6, 7, 16])
def test_padding_does_not_change_the_voice(encoder: VoiceEncoder, length: int) -> None:
    clip = np.random.default_rng(0).normal(size=(1, length, 8)).astype(np.float32)
    vectors = [
        encoder(np.pad(clip, ((0, 0), (0, size - length), (0, 0))), tf.constant([length])).numpy()
        for size in (16, 24, 64)
    ]
    np.testing.assert_allclose(vectors[1], vectors[0], atol=1e-5)
    np.testing.assert_allclose(vectors[2], vectors[0], atol=1e-5)


@pytest.mark.parametrize("encoder", ["mean", "blocks"], indirect=True)
def test_a_long_steady_sound_has_the_voice_of_a_shorter_one(encoder: VoiceEncoder) -> None:
    frame = np.random.default_rng(1).normal(size=(1, 1, 8)).astype(np.float32)
    voices = [
        encoder(np.repeat(frame, size, axis=1), tf.constant([size])).numpy() for size in (400, 800)
    ]
    np.testing.assert_allclose(voices[0], voices[1], atol=0.05)
    assert np.abs(voices[0]).max() > 0.1


def test_no_frames_is_a_finite_voice(encoder: VoiceEncoder) -> None:
    voice = encoder(np.zeros((1, 16, 8), np.float32), tf.constant([0])).numpy()
    longer = encoder(np.zeros((1, 64, 8), np.float32), tf.constant([0])).numpy()
    assert np.isfinite(voice).all()
    np.testing.assert_allclose(voice, longer, atol=1e-5)
    assert encoder.perceiver is not None or not voice.any()


def test_two_clips_are_two_voices(encoder: VoiceEncoder) -> None:
    clips = np.random.default_rng(2).normal(size=(2, 16, 8)).astype(np.float32)
    one, other = encoder(clips, tf.constant([16, 16])).numpy()
    assert np.abs(one - other).max() > 0.05
