"""Both recognisers on speech that they should understand."""

import os
from pathlib import Path

import numpy as np
import pytest

from myxtts.audio.decode import decode, resample
from myxtts.data.corpora import read_corpus
from myxtts.data.demo_speaker import FreshSpeaker
from myxtts.errors import MeasurementError
from myxtts.evaluation import recognizers
from myxtts.evaluation.wer import word_error_rate

RATE = 22050
TEXTS = ["The book is on the table.", "We will meet again tomorrow morning."]


def opened(name):
    if name not in recognizers.installed():
        pytest.skip(f"{name} is not installed: {recognizers.INSTALL}")
    return recognizers.open_recognizer(name)


@pytest.mark.parametrize("name", recognizers.NAMES)
def test_clear_speech_is_understood_and_always_in_the_same_way(name):
    recognizer = opened(name)
    with FreshSpeaker(seed=1) as speaker:  # the same bytes whatever was said before
        spoken = [speaker.say(text, "en-us", 150) for text in TEXTS]
    clips = [resample(samples.astype(np.float32) / 32768, rate, RATE) for samples, rate in spoken]
    heard = [recognizer.transcribe(clip, RATE) for clip in clips]
    if name == "moonshine":  # espeak's voices are hard for pocketsphinx
        assert word_error_rate(TEXTS, heard) < 0.5
    # What was heard before must not matter: the comparison of two speakers would depend on it.
    assert recognizer.transcribe(clips[0], RATE) == heard[0]


@pytest.mark.parametrize(("name", "most"), [("moonshine", 0.2), ("pocketsphinx", 0.6)])
def test_real_clips_are_understood(name, most):
    """The shortest of the recordings that `MYXTTS_TEST_DATA` names."""
    if "MYXTTS_TEST_DATA" not in os.environ:
        pytest.skip("MYXTTS_TEST_DATA does not name a folder with ljspeech-mini")
    clips = read_corpus(Path(os.environ["MYXTTS_TEST_DATA"]) / "ljspeech-mini")
    clips = sorted(clips, key=lambda clip: clip.audio.stat().st_size)[:4]
    recognizer = opened(name)
    heard = [recognizer.transcribe(decode(clip.audio, RATE), RATE) for clip in clips]
    assert word_error_rate([clip.text for clip in clips], heard) < most


@pytest.mark.parametrize("name", recognizers.NAMES)
def test_silence_is_no_word(name):
    assert len(opened(name).transcribe(np.zeros(RATE, np.float32), RATE).split()) <= 2


def test_languages_without_a_recogniser_are_named():
    with pytest.raises(MeasurementError, match="no offline recogniser for fa"):
        recognizers.open_recognizer("moonshine", "fa")


@pytest.mark.parametrize("name", recognizers.NAMES)
def test_a_missing_recogniser_says_what_to_type(name, monkeypatch):
    monkeypatch.setattr(recognizers, "find_spec", lambda module: None)
    assert recognizers.installed() == []
    with pytest.raises(MeasurementError) as error:
        recognizers.open_recognizer(name)
    assert error.value.remedy == 'pip install "myxtts[eval]"' and error.value.exit_code == 3
