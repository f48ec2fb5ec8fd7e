"""Sounds written and read back."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import soundfile

from myxtts.audio.encode import encoded, write_sound
from myxtts.errors import UsageError

RATE = 22050
TONE = (0.5 * np.sin(np.arange(RATE) * 0.05)).astype(np.float32)


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [(".wav", "WAV"), (".flac", "FLAC"), (".ogg", "OGG"), (".OGG", "OGG"), (".Wav", "WAV")],
)
def test_the_ending_is_the_format(tmp_path: Path, suffix: str, kind: str) -> None:
    path = tmp_path / f"a{suffix}"
    write_sound(path, TONE, RATE)
    assert soundfile.info(path).format == kind
    samples, rate = soundfile.read(path, dtype="float32")
    assert (rate, len(samples)) == (RATE, len(TONE))
    np.testing.assert_allclose(samples, TONE, atol=0.05 if kind == "OGG" else 1e-4)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".ogg"])
def test_what_is_too_loud_is_clipped_and_does_not_wrap_around(suffix: str) -> None:
    samples, _ = soundfile.read(io.BytesIO(encoded(TONE * 4, RATE, suffix)))
    np.testing.assert_allclose(samples, np.clip(TONE * 4, -1, 1), atol=0.2)


def test_minutes_of_ogg(tmp_path: Path) -> None:
    """libsndfile's encoder ends the whole process when it gets them in one go."""
    write_sound(tmp_path / "long.ogg", np.tile(TONE, 240), RATE)
    assert soundfile.info(tmp_path / "long.ogg").frames == 240 * RATE


@pytest.mark.parametrize("name", ["a.mp3", "a", "a.wav.txt"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"\.wav, \.flac, \.ogg"):
        write_sound(tmp_path / name, TONE, RATE)
    assert not list(tmp_path.iterdir())
