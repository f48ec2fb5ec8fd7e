from pathlib import Path

import numpy as np
import pytest
import soundfile

from myxtts.audio.decode import write_wav
from myxtts.data.recording import Recording, measure


def tone(amplitude: float, seconds: float = 1.0, hertz: float = 150.0) -> np.ndarray:
    time = np.arange(int(seconds * 22050)) / 22050
    return (amplitude * np.sin(2 * np.pi * hertz * time)).astype(np.float32)


def measured(path: Path, samples: np.ndarray) -> Recording:
    write_wav(path, samples, 22050)
    return measure(path, 22050)


def test_length_and_loudness(tmp_path: Path) -> None:
    found = measured(tmp_path / "a.wav", tone(0.5))
    assert found.samples == 22050
    assert found.loudest == pytest.approx(20 * np.log10(0.5 / np.sqrt(2)), abs=0.5)
    assert (found.reason, found.clipped) == ("", 0.0)


def test_silence_is_quiet_and_one_word_in_it_is_not(tmp_path: Path) -> None:
    silence = np.zeros(44100, np.float32)
    assert measured(tmp_path / "a.wav", silence).loudest < -100
    silence[20000:22000] = tone(0.3)[:2000]
    assert measured(tmp_path / "b.wav", silence).loudest > -20


def test_flat_tops_are_clipping_and_high_peaks_are_not(tmp_path: Path) -> None:
    assert measured(tmp_path / "a.wav", np.clip(tone(2.0), -1, 1)).clipped > 0.5
    loud = tone(0.4)
    loud[1000] = loud[5000] = 1.0  # two samples at full scale
    assert measured(tmp_path / "b.wav", loud).clipped == 0.0


def test_the_digest_is_of_the_sound_not_of_the_file(tmp_path: Path) -> None:
    samples = np.round(tone(0.5) * 32767) / 32768
    soundfile.write(tmp_path / "a.wav", samples, 22050, subtype="PCM_16")
    soundfile.write(tmp_path / "b.flac", samples, 22050, subtype="PCM_16")
    one, other = measure(tmp_path / "a.wav", 22050), measure(tmp_path / "b.flac", 22050)
    assert one.digest == other.digest
    assert one.digest != measured(tmp_path / "c.wav", tone(0.5, hertz=151)).digest


def test_missing_and_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_text("not audio at all, only its name is")
    unreadable, missing = measure(tmp_path / "a.wav", 22050), measure(tmp_path / "b.wav", 22050)
    assert unreadable.reason and not unreadable.missing
    assert missing.reason and missing.missing


def test_a_clip_shorter_than_the_window(tmp_path: Path) -> None:
    assert measured(tmp_path / "a.wav", tone(0.5)[:10]).samples == 10
