"""The clips that every contender loads: a few recordings repeated under new ids.

Real clips come from the folder that MYXTTS_TEST_DATA names; without it, espeak-ng speaks some. A
repeated clip is a hard link, so the audio itself stays small and in the page cache: nobody waits
for a disk. What is made from it (our store, the .npy files) is written out once for every id.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np
import soundfile

from myxtts.audio.decode import decode
from myxtts.audio.mel import MelSettings, log_mel
from myxtts.config import DataConfig
from myxtts.data import demo_corpus
from myxtts.data.buckets import rounded_up
from myxtts.data.ljspeech import METADATA, read_corpus
from myxtts.text.tokenizer import Tokenizer

BATCH, FRAMES, MELS, WORKERS = 32, 880, 80, 2
SETTINGS = MelSettings(n_mels=MELS)
DEMO_CLIPS = 96


@dataclass(frozen=True)
class Workload:
    """The same clips and the same shape for everyone."""

    folder: Path
    """An LJSpeech corpus."""
    audio: list[Path]
    tokens: np.ndarray
    """int32 [clips, text_length], padded with zeros: peers get their tokens ready-made."""
    token_lengths: np.ndarray
    """int32 [clips]."""
    mels: list[np.ndarray]
    """Our float16 [frames, MELS] of the distinct clips; clip i is mels[i % len(mels)]."""

    def __len__(self) -> int:
        return len(self.audio)

    def mel(self, row: int) -> np.ndarray:
        return self.mels[row % len(self.mels)]

    def first(self, clips: int) -> Workload:
        """The same without the rest."""
        return Workload(
            self.folder,
            self.audio[:clips],
            self.tokens[:clips],
            self.token_lengths[:clips],
            self.mels,
        )


def test_data() -> Path | None:
    """The folder of real data, when there is one."""
    named = os.environ.get("MYXTTS_TEST_DATA")
    return Path(named) if named else None


def data_config(cache: Path, **other: object) -> DataConfig:
    """Our settings for this comparison: one shape, the same number of workers."""
    settings = {
        "cache_dir": str(cache),
        "language": "en",
        "batch_size": BATCH,
        "n_mels": MELS,
        "num_workers": WORKERS,
        "static_shapes": "single",
        "max_mel_frames": FRAMES,
    }
    return DataConfig.model_validate({**settings, **other})


def source_corpus(scratch: Path) -> Path:
    """Recordings to repeat: real ones, or spoken by espeak-ng into `scratch`."""
    data = test_data()
    if data is not None:
        return data / "ljspeech-mini"
    return demo_corpus.make(scratch / "demo", clips=DEMO_CLIPS, seed=1, languages=("en",))


def clips_for(store_bytes: float, source: Path) -> int:
    """Clips of a corpus whose store has at least so many bytes; whole batches at a 16th of it."""
    samples = [soundfile.info(clip.audio).frames for clip in read_corpus(source)]
    mean = sum(samples) / len(samples) / SETTINGS.hop * MELS * np.dtype(np.float16).itemsize
    step = 16 * BATCH
    return ceil(store_bytes * 1.01 / mean / step) * step


def repeat(source: Path, folder: Path, clips: int) -> Workload:
    """A corpus of `clips` clips in `folder`: those of `source`, again and again."""
    originals = read_corpus(source)
    wavs = folder / "wavs"
    wavs.mkdir(parents=True)
    lines: list[str] = []
    audio: list[Path] = []
    for number in range(clips):
        original = originals[number % len(originals)]
        path = wavs / f"clip-{number:06d}.wav"
        if number < len(originals):
            shutil.copyfile(original.audio, path)
        else:
            path.hardlink_to(audio[number % len(originals)])
        audio.append(path)
        lines.append(f"{path.stem}|{original.text}|{original.text}")
    (folder / METADATA).write_text("\n".join([*lines, ""]), encoding="utf-8")
    tokenizer = Tokenizer("phonemes")
    ids = [tokenizer.encode(clip.text, "en").ids for clip in originals]
    lengths = np.array([len(one) for one in ids], np.int32)
    longest = max(int(lengths.max()), DataConfig().max_text_length)
    padded = np.zeros((len(ids), int(rounded_up(longest))), np.int32)
    for row, one in enumerate(ids):
        padded[row, : len(one)] = one
    rows = np.arange(clips) % len(originals)
    mels = [
        log_mel(decode(path, SETTINGS.sample_rate), SETTINGS).astype(np.float16)
        for path in audio[: len(originals)]
    ]
    return Workload(folder, audio, padded[rows], lengths[rows], mels)


def write_npy(workload: Workload, folder: Path) -> list[Path]:
    """Every clip's mel as a file of its own, the way a cache of .npy files is usually kept."""
    folder.mkdir(parents=True)
    paths = []
    for row, audio in enumerate(workload.audio):
        paths.append(folder / f"{audio.stem}.npy")
        np.save(paths[-1], workload.mel(row))
    return paths
