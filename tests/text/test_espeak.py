from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from myxtts.errors import UserError
from myxtts.text import espeak

SENTENCES = [
    ("en-us", "The quick brown fox jumps over the lazy dog"),
    ("fa", "سلام دنیا من فردا به خانه می‌روم"),
    ("de", "Guten Tag meine Damen und Herren"),
    ("fr", "Bonjour tout le monde"),
]


def test_version() -> None:
    assert espeak.version().split(".")[0].isdigit()


def test_phonemes_before_and_after_speech_are_the_same() -> None:
    before = espeak.phonemes("Hello world", "en-us")
    assert before == "həlˈoʊ wˈɜːld"
    espeak.speak("سلام", "fa+m3")
    assert espeak.phonemes("Hello world", "en-us") == before


def test_threads_get_the_phonemes_of_one_thread() -> None:
    expected = [espeak.phonemes(text, voice) for voice, text in SENTENCES]
    wrong: list[str] = []

    def work(offset: int) -> None:
        for turn in range(40):
            number = (turn + offset) % len(SENTENCES)
            voice, text = SENTENCES[number]
            found = espeak.phonemes(text, voice)
            if found != expected[number]:
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_speech_and_its_phoneme_events() -> None:
    speech = espeak.speak("Hello world.", "en-us+f3")
    assert speech.sample_rate == 22050
    assert speech.samples.dtype == np.int16
    assert np.abs(speech.samples).max() > 1000
    spoken = "".join(event.phoneme for event in speech.events)
    assert spoken == "həlˈoʊwˈɜːld"
    positions = [event.sample for event in speech.events]
    assert positions == sorted(positions)
    assert positions[0] >= 0
    assert positions[-1] <= len(speech.samples)


def test_rate_pitch_and_variant_change_the_speech() -> None:
    text = "One two three four five."
    plain = espeak.speak(text, "en-us").samples
    assert len(espeak.speak(text, "en-us", rate=300).samples) < 0.8 * len(plain)
    # parameters of one call do not stay for the next
    # (espeak's pauses vary a little with what its process said before)
    assert abs(len(espeak.speak(text, "en-us").samples) - len(plain)) < 0.05 * len(plain)
    low = espeak.speak(text, "en-us", pitch=0).samples[: len(plain)]
    other = espeak.speak(text, "en-us+f3").samples[: len(plain)]
    assert not np.array_equal(low, plain[: len(low)])
    assert not np.array_equal(other, plain[: len(other)])


def test_nothing_to_say() -> None:
    assert espeak.phonemes("", "en-us") == ""
    assert espeak.phonemes("a\0b", "en-us") == espeak.phonemes("a b", "en-us")


@pytest.mark.parametrize("voice", ["fr-fr", "zh", "nonsense", "en-us+nobody", "en-us+", ""])
def test_a_voice_that_does_not_exist(voice: str) -> None:
    with pytest.raises(UserError, match="no such voice"):
        espeak.phonemes("hello", voice)
    assert espeak.phonemes("hello", "en-us") == "həlˈoʊ"


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "espeakng_loader", None)
    espeak._library.cache_clear()
    with pytest.raises(UserError) as caught:
        espeak.phonemes("hello", "en-us")
    assert caught.value.remedy == 'pip install "myxtts[phonemes]"'
    monkeypatch.undo()
    assert espeak.phonemes("hello", "en-us") == "həlˈoʊ"
