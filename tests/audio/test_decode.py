from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from myxtts.audio.decode import AudioError, decode, write_wav

RATE = 22050


def tone(rate: int = RATE, seconds: float = 0.5) -> np.ndarray:
    t = np.arange(int(rate * seconds)) / rate
    return (0.5 * np.sin(2 * np.pi * 440 * t)).astype(np.float32)


def chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def pcm_wav(before_data: bytes = b"") -> bytes:
    """A 16-bit WAV by hand, with other chunks between the format and the samples."""
    samples = (tone() * 32767).astype("<i2").tobytes()
    form = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, RATE, RATE * 2, 2, 16))
    body = b"WAVE" + before_data + form + chunk(b"data", samples)
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    ("name", "options", "tolerance"),
    [
        ("u8.wav", {"subtype": "PCM_U8"}, 0.01),
        ("s16.wav", {"subtype": "PCM_16"}, 1e-4),
        ("s24.wav", {"subtype": "PCM_24"}, 1e-5),
        ("s32.wav", {"subtype": "PCM_32"}, 1e-5),
        ("f32.wav", {"subtype": "FLOAT"}, 1e-6),
        ("f64.wav", {"subtype": "DOUBLE"}, 1e-6),
        ("extensible.wav", {"subtype": "PCM_16", "format": "WAVEX"}, 1e-4),
        ("rf64.wav", {"subtype": "PCM_16", "format": "RF64"}, 1e-4),
        ("x.flac", {}, 1e-4),
        ("x.ogg", {}, 0.05),
        ("x.mp3", {}, 0.05),
    ],
)
@pytest.mark.parametrize("channels", [1, 2])
def test_formats(
    tmp_path: Path, name: str, options: dict[str, str], tolerance: float, channels: int
) -> None:
    source = tone()
    path = tmp_path / name
    soundfile.write(path, np.stack([source] * channels, axis=1), RATE, **options)
    samples = decode(path, RATE)
    assert samples.dtype == np.float32
    assert samples.shape == source.shape
    middle = slice(2000, -2000)  # lossy formats ring at the ends
    np.testing.assert_allclose(samples[middle], source[middle], atol=tolerance)


def test_stereo_is_averaged(tmp_path: Path) -> None:
    path = tmp_path / "stereo.wav"
    soundfile.write(path, np.stack([tone(), -tone()], axis=1), RATE)
    assert np.abs(decode(path, RATE)).max() < 1e-4


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 24000, 32000, 44100, 48000])
def test_rates(tmp_path: Path, rate: int) -> None:
    path = tmp_path / "x.wav"
    soundfile.write(path, tone(rate), rate, subtype="FLOAT")
    samples = decode(path, RATE)
    assert len(samples) == pytest.approx(RATE / 2, abs=1)
    middle = slice(1000, 10000)
    np.testing.assert_allclose(samples[middle], tone()[middle], atol=0.01)


def test_samples_stay_within_one(tmp_path: Path) -> None:
    path = tmp_path / "loud.wav"
    soundfile.write(path, np.sign(tone(16000)), 16000, subtype="FLOAT")
    assert np.abs(decode(path, RATE)).max() == 1.0


def test_other_chunks_come_first(tmp_path: Path) -> None:
    path = tmp_path / "list.wav"
    path.write_bytes(pcm_wav(chunk(b"LIST", b"INFOISFT" + struct.pack("<I", 5) + b"odd..")))
    np.testing.assert_allclose(decode(path, RATE), tone(), atol=1e-4)


def test_a_wav_from_a_pipe_does_not_know_its_length(tmp_path: Path) -> None:
    content = bytearray(pcm_wav())
    at = content.index(b"data") + 4
    content[at : at + 4] = b"\xff\xff\xff\xff"
    path = tmp_path / "pipe.wav"
    path.write_bytes(content)
    np.testing.assert_allclose(decode(path, RATE), tone(), atol=1e-4)


@pytest.mark.parametrize("name", ["x.wav", "x.flac", "x.ogg", "x.mp3", "rf64.wav"])
@pytest.mark.parametrize("kept", [0.4, 0.9])
def test_truncated(tmp_path: Path, name: str, kept: float) -> None:
    path = tmp_path / name
    soundfile.write(path, tone(seconds=2.0), RATE, format="RF64" if "rf64" in name else None)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(AudioError) as caught:
        decode(path, RATE)
    assert caught.value.path == path
    if name.endswith((".wav", ".mp3")):
        assert caught.value.reason.startswith("truncated: ")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "zero bytes"),
        (b"This is a text file.\n" * 50, "not audio"),
        (b"RIFF", "not audio"),
        (pcm_wav()[:30], "not audio"),
        (b"\0" * 1000, "not audio"),
    ],
)
def test_what_is_not_audio(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "x.wav"
    path.write_bytes(content)
    with pytest.raises(AudioError, match=reason):
        decode(path, RATE)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_a_number(tmp_path: Path, value: float) -> None:
    samples = tone()
    samples[7] = value
    path = tmp_path / "nan.wav"
    soundfile.write(path, samples, RATE, subtype="FLOAT")
    with pytest.raises(AudioError, match="NaN or infinite"):
        decode(path, RATE)


def test_no_samples(tmp_path: Path) -> None:
    path = tmp_path / "none.wav"
    soundfile.write(path, np.zeros(0, np.float32), RATE)
    with pytest.raises(AudioError, match="no samples"):
        decode(path, RATE)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="No such file"):
        decode(tmp_path / "missing.wav", RATE)


def test_written_samples_come_back(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    write_wav(path, np.concatenate([tone(), [2.0, -2.0]]), RATE)
    assert soundfile.info(path).subtype == "PCM_16"
    samples = decode(path, RATE)
    np.testing.assert_allclose(samples[:-2], tone(), atol=1e-4)
    np.testing.assert_allclose(samples[-2:], [1.0, -1.0], atol=1e-4)
    assert [file.name for file in tmp_path.iterdir()] == ["out.wav"]


@pytest.mark.parametrize("rate", [1, 4_000_000_000])
def test_a_header_may_claim_any_rate(tmp_path: Path, rate: int) -> None:
    """Resampling from 1 Hz would fill the memory."""
    path = tmp_path / "strange.wav"
    soundfile.write(path, np.zeros(1000, np.float32), 22050, subtype="PCM_16")
    content = bytearray(path.read_bytes())
    content[24:28] = rate.to_bytes(4, "little")
    path.write_bytes(bytes(content))
    with pytest.raises(AudioError, match="sample rate"):
        decode(path, 22050)


@pytest.mark.parametrize("channels", [1, 2])
def test_plain_wavs_are_read_as_libsndfile_reads_them(tmp_path: Path, channels: int) -> None:
    path = tmp_path / "plain.wav"
    noise = np.random.default_rng(1).integers(-(2**15), 2**15, (3000, channels), np.int16)
    soundfile.write(path, noise, 22050, subtype="PCM_16")
    expected, _ = soundfile.read(path, dtype="float32", always_2d=True)
    np.testing.assert_array_equal(decode(path, 22050), expected.mean(axis=1))
