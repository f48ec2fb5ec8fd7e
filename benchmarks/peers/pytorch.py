"""PyTorch's DataLoader: mels computed with torch.stft, and mels read from .npy files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import soundfile
import torch
from clips import BATCH, FRAMES, MELS, SETTINGS, WORKERS
from torch.utils.data import DataLoader, Dataset

from myxtts.audio.mel import mel_filterbank
from peers import Job

PADDING = (SETTINGS.n_fft - SETTINGS.hop) // 2

Mel = Callable[[int], torch.Tensor]
"""Row number to float [frames, MELS]."""


class Clips(Dataset[tuple[int, torch.Tensor]]):
    """The clips of the workload, one by one."""

    def __init__(self, clips: int, mel: Mel) -> None:
        self._clips = clips
        self._mel = mel

    def __len__(self) -> int:
        return self._clips

    def __getitem__(self, row: int) -> tuple[int, torch.Tensor]:
        return row, self._mel(row)


class Padded:
    """Clips to a batch; runs in the workers."""

    def __init__(self, job: Job) -> None:
        self._tokens = torch.from_numpy(job.workload.tokens)
        self._token_lengths = torch.from_numpy(job.workload.token_lengths)

    def __call__(self, clips: list[tuple[int, torch.Tensor]]) -> dict[str, torch.Tensor]:
        rows = torch.tensor([row for row, _ in clips])
        mels = torch.zeros(len(clips), FRAMES, MELS, dtype=clips[0][1].dtype)
        for place, (_, mel) in zip(mels, clips, strict=True):
            place[: len(mel)] = mel
        return {
            "clips": rows,
            "tokens": self._tokens[rows],
            "token_lengths": self._token_lengths[rows],
            "mels": mels,
            "mel_lengths": torch.tensor([len(mel) for _, mel in clips], dtype=torch.int32),
        }


class Loading:
    """A DataLoader with workers that stay."""

    def __init__(
        self, job: Job, mel: Mel, worker_init: Callable[[int], None] | None = None
    ) -> None:
        self._loader: DataLoader[Any] = DataLoader(
            Clips(len(job.workload), mel),
            batch_size=BATCH,
            shuffle=True,
            num_workers=WORKERS,
            collate_fn=Padded(job),
            persistent_workers=True,
            prefetch_factor=4,
            worker_init_fn=worker_init,
            multiprocessing_context="fork",
            generator=torch.Generator().manual_seed(1),
        )

    def ready(self) -> None:
        pass

    def batches(self) -> Iterator[dict[str, Any]]:
        yield from self._loader


class Stft(Loading):
    """soundfile + torch.stft."""

    def __init__(self, job: Job) -> None:
        audio = [str(path) for path in job.workload.audio]
        window = torch.hann_window(SETTINGS.n_fft)
        filters = torch.from_numpy(np.array(mel_filterbank(SETTINGS).T))

        def mel(row: int) -> torch.Tensor:
            samples, _ = soundfile.read(audio[row], dtype="float32")
            signal = torch.from_numpy(samples)
            frames = len(signal) // SETTINGS.hop
            padded = torch.nn.functional.pad(signal[None], (PADDING, PADDING), mode="reflect")[0]
            spectrum = torch.stft(
                padded, SETTINGS.n_fft, SETTINGS.hop, window=window, center=False,
                return_complex=True,
            )  # fmt: skip
            return torch.log(torch.clamp(spectrum.abs().T[:frames] @ filters, min=SETTINGS.floor))

        super().__init__(job, mel)


class Npy(Loading):
    """Mels that were computed before, one float16 .npy file each."""

    def __init__(self, job: Job) -> None:
        files = [str(path) for path in job.npy]
        super().__init__(job, lambda row: torch.from_numpy(np.load(files[row])))
