"""Static shapes: few of them, compiled once, and nothing cut off in silence.

The network has random weights and durations set by hand: what is tested is how it is called.
"""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from myxtts.config import Config
from myxtts.synthesis import mel_frames
from myxtts.synthesis.mel_frames import FRAMES, ROWS, TOKENS, MelMaker, Utterance
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import network

MELS = 8


@pytest.fixture(scope="module")
def model():
    settings = {"model.width": 16, "model.encoder_blocks": 1, "model.decoder_blocks": 1}
    config = Config().replaced(settings)
    net = network.build(config.model, Tokenizer("characters"), MELS, "float32", seed=0)
    random = np.random.default_rng(0)
    for variable in net.trainable_variables:  # some start at zero, and would hide what they do
        variable.assign_add(random.normal(0, 0.05, variable.shape))
    return net


@pytest.fixture
def maker(model) -> MelMaker:
    last(model, 4.2)
    return MelMaker(model, np.full(MELS, -4.0, np.float32), np.full(MELS, 2.0, np.float32))


def last(model, frames: float) -> None:
    """Every token lasts about this many frames."""
    model.to_log_duration.bias.assign([log(frames)])


def utterance(tokens: int, seed: int = 0, speed: float = 1.0, language: str = "en") -> Utterance:
    random = np.random.default_rng(seed)
    ids = random.integers(4, 100, tokens).astype(np.int16)
    voice = random.normal(-4, 2, (random.integers(8, 64) * 4, MELS)).astype(np.float32)
    return Utterance(ids, language, voice, speed)


def said(maker: MelMaker, utterances: list[Utterance]) -> list[mel_frames.Frames]:
    found = dict(maker.say(utterances))
    assert sorted(found) == list(range(len(utterances)))
    return [found[i] for i in range(len(utterances))]


def test_a_batch_says_what_each_would_alone(maker: MelMaker) -> None:
    several = [utterance(n, seed=n, language="fa" if n % 2 else "en") for n in (5, 30, 31, 60, 100)]
    together = said(maker, several)
    for one, frames in zip(several, together, strict=True):
        (alone,) = said(maker, [one])
        assert frames.whole and len(frames.mels) > len(one.ids)
        assert len(alone.mels) == len(frames.mels)
        np.testing.assert_allclose(frames.mels, alone.mels, atol=1e-3)


def test_voice_and_language_reach_the_model_unless_they_are_turned_off(model, maker) -> None:
    plain = MelMaker(
        model, maker._mean, maker._std, voice_conditioning=False, language_conditioning=False
    )
    one = utterance(20)
    other_voice = Utterance(one.ids, "en", one.voice[:4] + 3)
    other_language = Utterance(one.ids, "fa", one.voice)
    mels = [frames.mels for frames in said(maker, [one, other_voice, other_language])]
    assert len({m.tobytes() for m in mels}) == 3
    mels = [frames.mels for frames in said(plain, [one, other_voice, other_language])]
    np.testing.assert_allclose(mels[0], mels[1], atol=1e-5)
    np.testing.assert_allclose(mels[0], mels[2], atol=1e-5)


def test_many_lengths_are_few_shapes_each_compiled_once(maker: MelMaker, monkeypatch) -> None:
    monkeypatch.setattr(mel_frames, "COMPILED_AFTER", 1)
    lengths = [*range(20, 40), *range(20, 40)]
    said(maker, [utterance(n, seed=n) for n in lengths])
    shapes = set(maker._uses)
    assert len(shapes) <= 4
    for shape in shapes:
        assert shape.rows in ROWS and shape.tokens in TOKENS and shape.frames in FRAMES
    compiled = maker.compiled
    assert 0 < len(compiled) <= len(shapes)
    said(maker, [utterance(n, seed=n + 1) for n in lengths])
    counts = [program.experimental_get_tracing_count() for program in maker._programs.values()]
    assert counts == [1] * len(counts)


def test_compiled_programs_say_the_same(maker: MelMaker, monkeypatch) -> None:
    several = [utterance(40, seed=n) for n in range(8)]
    before = said(maker, several)
    assert not maker.compiled
    monkeypatch.setattr(mel_frames, "COMPILED_AFTER", 0)
    after = said(maker, several)
    assert maker.compiled
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one.mels, other.mels, atol=1e-3)


def test_slow_speech_gets_more_room(model, maker: MelMaker) -> None:
    last(model, 40.0)
    (frames,) = said(maker, [utterance(30)])
    assert frames.whole
    assert FRAMES[1] < len(frames.mels) < FRAMES[-1]


def test_speech_that_fills_the_largest_shape_is_reported(model, maker: MelMaker) -> None:
    last(model, 100.0)
    short, long = said(maker, [utterance(10), utterance(60)])
    assert short.whole and not long.whole
    assert len(long.mels) == FRAMES[-1]


@pytest.mark.parametrize("speed", [0.5, 0.8, 1.3, 2.0])
def test_speed_divides_the_length(maker: MelMaker, speed: float) -> None:
    lengths = (12, 40, 90)
    natural = said(maker, [utterance(n, seed=n) for n in lengths])
    changed = said(maker, [utterance(n, seed=n, speed=speed) for n in lengths])
    for one, other in zip(natural, changed, strict=True):
        assert len(other.mels) == pytest.approx(len(one.mels) / speed, rel=0.08, abs=2)
    total = sum(len(frames.mels) for frames in natural)
    assert sum(len(f.mels) for f in changed) == pytest.approx(total / speed, rel=0.06)
