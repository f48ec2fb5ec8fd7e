"""Voices of the corpus and of clips, and what is refused as a voice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from myxtts.audio.decode import write_wav
from myxtts.audio.encode import write_sound
from myxtts.audio.mel import log_mel
from myxtts.data.recipe import Recipe
from myxtts.errors import UsageError, UserError
from myxtts.synthesis.voices import MOST_CLIPS, Voices
from myxtts.text import espeak
from myxtts.training.references import Reference

RATE = 22050


def reference(language: str, speaker: str, value: float) -> Reference:
    return Reference(language, speaker, np.full((255, 80), value, np.float16))


@pytest.fixture
def voices() -> Voices:
    kept = [reference("en", "ann", 1), reference("en", "bob", 2), reference("fa", "bob", 3)]
    return Voices(kept, Recipe())


@pytest.fixture(scope="module")
def clip() -> np.ndarray:
    said = espeak.speak(
        "The geese are beautiful, and so is the old house by the river.", "en-us+m3"
    )
    return said.samples / np.float32(32768)


def test_speakers_are_found_by_name_and_language(voices: Voices) -> None:
    assert voices.languages == ["en", "fa"] and voices.speakers == ["ann", "bob"]
    assert voices.of_corpus("en")[0, 0] == 1  # the first of the language
    assert voices.of_corpus("fa")[0, 0] == 3
    assert voices.of_corpus("en", "bob")[0, 0] == 2
    assert voices.of_corpus("fa", "ann")[0, 0] == 1  # she speaks no Persian: her English voice
    mels = voices.of_corpus("en")
    assert mels.dtype == np.float32 and mels.shape == (252, 80)


def test_an_unknown_speaker(voices: Voices) -> None:
    with pytest.raises(UsageError, match="no speaker called anne") as refused:
        voices.of_corpus("en", "anne")
    assert "ann, bob" in str(refused.value) and "--speaker ann" in str(refused.value)
    nameless = Voices([reference("en", "", 0)], Recipe())
    assert nameless.speakers == []
    with pytest.raises(UsageError) as refused:
        nameless.of_corpus("en", "ann")
    assert "it names none of its speakers" in str(refused.value)


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".ogg"])
def test_a_clip_of_any_format(
    voices: Voices, clip: np.ndarray, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"clip{suffix}"
    write_sound(path, clip, RATE)
    mels = voices.of_clips([path])
    assert mels.shape == (256, 80)
    assert voices.of_clips([path]) is mels  # read once


def test_stillness_at_the_beginning_is_passed_over(
    voices: Voices, clip: np.ndarray, tmp_path: Path
) -> None:
    write_wav(tmp_path / "late.wav", np.pad(clip, (5 * RATE, 0)), RATE)
    late = voices.of_clips([tmp_path / "late.wav"])
    spoken = log_mel(clip, Recipe().mel)
    assert late.mean() > spoken.mean() - 0.5


def test_several_clips_give_equal_shares(voices: Voices, clip: np.ndarray, tmp_path: Path) -> None:
    paths = [tmp_path / "a.wav", tmp_path / "b.wav"]
    write_wav(paths[0], clip, RATE)
    write_wav(paths[1], clip * 0.1, RATE)
    both = voices.of_clips(paths)
    assert both.shape == (256, 80)
    assert both[:128].mean() - both[128:].mean() == pytest.approx(np.log(10), abs=0.5)


def test_what_is_no_voice(voices: Voices, clip: np.ndarray, tmp_path: Path) -> None:
    write_wav(tmp_path / "silent.wav", np.zeros(RATE, np.float32), RATE)
    write_wav(tmp_path / "short.wav", clip[5000:8000], RATE)
    (tmp_path / "text.wav").write_text("no sound")
    for name, reason in (
        ("silent", "it is silent"), ("short", "too short"), ("text", "not audio"),
        ("missing", "No such file"),
    ):  # fmt: skip
        with pytest.raises(UserError, match=reason) as refused:
            voices.of_clips([tmp_path / f"{name}.wav"])
        assert f"{name}.wav" in str(refused.value) and "try:" in str(refused.value)
    with pytest.raises(UsageError, match=f"at most {MOST_CLIPS}"):
        voices.of_clips([tmp_path / "a.wav"] * 17)
