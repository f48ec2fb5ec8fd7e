"""A trained checkpoint speaks texts of any length, in both languages, in the voices asked for."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice

import numpy as np
import pytest

from myxtts.audio.joining import PEAK_LIMIT
from myxtts.audio.levels import speech_edges
from myxtts.data.demo_sentences import sentences as demo_sentences
from myxtts.errors import UsageError, UserError
from myxtts.synthesis import Request, mel_frames
from myxtts.synthesis.script import ScriptWriter
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import checkpoint

ENGLISH = " ".join(islice(demo_sentences("en", 5, False), 12))
PERSIAN = " ".join(islice(demo_sentences("fa", 5, False), 12))
SHORT = "Martha thinks the geese are beautiful. Where did you put the mirror?"


def spoken(speaker, text: str, **settings):
    return speaker.perform([speaker.prepare(Request(text, **settings))])[0]


@pytest.mark.parametrize(("text", "language"), [(ENGLISH, "en"), (PERSIAN, "fa")])
def test_a_long_text_is_said_to_its_end(speaker, text: str, language: str) -> None:
    speech = spoken(speaker, text)
    assert " ".join(sentence.text for sentence in speech.sentences) == text
    assert {sentence.language for sentence in speech.sentences} == {language}
    starts = [sentence.start for sentence in speech.sentences]
    assert len(starts) == 12 and starts == sorted(set(starts))
    assert starts[-1] < speech.seconds and speech.seconds > 12 * 0.5
    assert speech.samples.dtype == np.float32 and np.isfinite(speech.samples).all()
    assert np.abs(speech.samples).max() <= PEAK_LIMIT + 1e-6
    assert not speech.notices


def test_joints_are_silent_and_without_a_jump(speaker) -> None:
    speech = spoken(speaker, ENGLISH, pause=0.3)
    steepest = np.abs(np.diff(speech.samples)).max()
    for sentence in speech.sentences[1:]:
        start = round(sentence.start * speech.sample_rate)
        pause = speech.samples[start - int(0.2 * speech.sample_rate) : start]
        quiet = pause[: int(0.1 * speech.sample_rate)]
        assert np.abs(quiet).max() < 1e-3
        # A click would be a step as high as speech; here it rises from nothing.
        assert np.abs(np.diff(pause)).max() < 0.2 * steepest


def test_a_sentence_of_any_length_fits(speaker) -> None:
    endless = ", and then ".join(
        sentence[:-1] for sentence in islice(demo_sentences("en", 6, False), 14)
    )
    speech = spoken(speaker, endless)
    assert "".join("".join(s.text for s in speech.sentences).split()) == "".join(endless.split())
    assert len(speech.sentences) > 2
    limit = speaker.config.data.max_text_length
    assert all(len(speaker.tokenizer.encode(s.text, "en").ids) <= limit for s in speech.sentences)


def test_numbers_that_grow_when_spoken_are_cut_further(speaker) -> None:
    numbers = " ".join(str(777_777_777 + i) for i in range(8))  # 80 characters, 700 tokens
    speech = spoken(speaker, numbers)
    assert len(speech.sentences) > 3
    assert " ".join(s.text for s in speech.sentences) == numbers


def test_speech_that_does_not_fit_is_cut_again_and_a_word_says_so(speaker, monkeypatch) -> None:
    monkeypatch.setattr(mel_frames, "FRAMES", (64, 128))
    text = "We went out early, and nobody saw us leave the old house."
    speech = spoken(speaker, text, language="en")
    assert " ".join(sentence.text for sentence in speech.sentences) == text
    assert len(speech.sentences) > 1 and not speech.notices
    bias = speaker._model.to_log_duration.bias
    usual = bias.numpy()
    bias.assign(usual + np.log(1000.0))
    try:
        speech = spoken(speaker, "Go now.", language="en")
    finally:
        bias.assign(usual)
    assert [sentence.text for sentence in speech.sentences] == ["Go", "now."]
    assert speech.notices == ["cut off after 1.5 s: Go", "cut off after 1.5 s: now."]


@pytest.mark.parametrize("speed", [0.5, 0.75, 1.5, 2.0])
def test_speed_divides_the_length_pauses_too(speaker, speed: float) -> None:
    natural = len(speaker.say(SHORT, language="en"))
    changed = len(speaker.say(SHORT, language="en", speed=speed))
    assert changed == pytest.approx(natural / speed, rel=0.06)


def test_pauses_follow_the_punctuation(speaker) -> None:
    def gap(text: str, **settings) -> float:
        speech = spoken(speaker, text, language="en", **settings)
        rate, second = speech.sample_rate, speech.sentences[1].start
        alone = speaker.say(speech.sentences[0].text, language="en")
        first, last = speech_edges(alone, rate)
        return second - speech.sentences[0].start - (last - first) / rate

    assert gap("It is late. We go.") == pytest.approx(0.3, abs=0.03)
    assert gap("It is late.\n\nWe go.") == pytest.approx(0.75, abs=0.03)
    assert gap("It is late. We go.", pause=1.0) == pytest.approx(1.0, abs=0.03)
    assert gap("It is late. We go.", pause=0.0) == pytest.approx(0.0, abs=0.03)


def test_languages_change_from_sentence_to_sentence(speaker) -> None:
    speech = spoken(speaker, "Good morning to all of you. سلام به همه‌ی شما. OK.")
    assert [sentence.language for sentence in speech.sentences] == ["en", "fa", "en"]


def test_many_texts_at_once_are_what_each_is_alone(speaker) -> None:
    texts = [*islice(demo_sentences("en", 7, False), 9), *islice(demo_sentences("fa", 7, False), 4)]
    codes = ["en"] * 9 + ["fa"] * 4
    seen: list[tuple[int, int]] = []
    many = speaker.say_many(texts, languages=codes, progress=lambda *counts: seen.append(counts))
    assert [total for _, total in seen] == [13] * 13 and [d for d, _ in seen] == [*range(1, 14)]
    for text, code, samples in zip(texts, codes, many, strict=True):
        alone = speaker.say(text, language=code)
        assert len(alone) == len(samples)
        assert np.std(alone) == pytest.approx(np.std(samples), rel=0.05)


def test_a_voice_by_name_or_by_clip(speaker, small_corpus) -> None:
    assert speaker.speakers == ["f2", "m7", "rob"]
    clips = sorted((small_corpus / "wavs").glob("en-*.wav"))
    heard = [
        speaker.say("Good morning.", language="en", **voice)
        for voice in (
            {"speaker": "f2"}, {"speaker": "rob"}, {"reference": clips[0]}, {"reference": clips[:3]}
        )
    ]  # fmt: skip
    assert len({samples.tobytes() for samples in heard}) == 4
    many = speaker.say_many(["Good morning."], references=[clips[0]], languages=["en"])
    assert len(many[0]) == len(heard[2])


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"text": " … "}, "nothing to say"),
        ({"text": "Hallo.", "language": "de"}, "does not speak de"),
        ({"text": "Hi.", "speaker": "nobody"}, "no speaker called nobody"),
        ({"text": "Hi.", "speed": 3.0}, "between 0.5 and 2"),
        ({"text": "Hi.", "pause": -1.0}, "between 0 and 10"),
        ({"text": "Hi.", "speaker": "f2", "reference": "a.wav"}, "not from both"),
    ],
)
def test_what_cannot_be_said_is_refused_with_the_reason(speaker, settings, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as refused:
        speaker.prepare(Request(**settings))
    assert "try:" in str(refused.value)


def test_what_the_vocabulary_lacks_is_told(speaker) -> None:
    writer = ScriptWriter(Tokenizer("characters"), speaker._voices, 200)
    script = writer.write(Request("Hello \u6f22\u5b57 there.", language="en"))
    assert script.notices == ["not pronounced, the vocabulary lacks it: \u6f22 \u5b57"]
    assert speaker.prepare(Request("Hello.", language="en")).notices == []


def test_a_checkpoint_keeps_a_clip_of_each_speaker_and_language(talking_run) -> None:
    found = checkpoint.load(talking_run)
    pairs = set(
        zip(found.info["reference_languages"], found.info["reference_speakers"], strict=True)
    )
    assert pairs == {(code, name) for code in ("en", "fa") for name in ("f2", "m7", "rob")}
    assert all(array.shape[1] == 80 and len(array) <= 256 for array in found.arrays["references"])


def test_importing_it_does_not_start_tensorflow() -> None:
    code = "import sys, myxtts.synthesis; print('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr


def test_a_checkpoint_without_names_still_speaks(speaker) -> None:
    from myxtts.training.references import of_checkpoint

    (kept,) = of_checkpoint({"reference_languages": ["en"]}, [np.zeros((4, 80), np.float16)])
    assert (kept.language, kept.speaker) == ("en", "")


def test_no_checkpoint(tmp_path) -> None:
    from myxtts.synthesis import Speaker

    with pytest.raises(UserError, match="no checkpoint"):
        Speaker.load(tmp_path)
