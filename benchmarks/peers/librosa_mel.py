"""PyTorch's DataLoader with librosa's spectrogram."""

from __future__ import annotations

import librosa
import numpy as np
import soundfile
import torch
from clips import SETTINGS
from threadpoolctl import threadpool_limits

from myxtts.audio.mel import mel_filterbank
from peers import Job
from peers.pytorch import PADDING, Loading


class Librosa(Loading):
    """soundfile + librosa.stft, with the filters made once."""

    def __init__(self, job: Job) -> None:
        audio = [str(path) for path in job.workload.audio]
        filters = np.array(mel_filterbank(SETTINGS))

        def mel(row: int) -> torch.Tensor:
            samples, _ = soundfile.read(audio[row], dtype="float32")
            padded = np.pad(samples, PADDING, mode="reflect")
            spectrum = librosa.stft(
                padded, n_fft=SETTINGS.n_fft, hop_length=SETTINGS.hop, center=False
            )
            magnitudes = filters @ np.abs(spectrum[:, : len(samples) // SETTINGS.hop])
            return torch.from_numpy(np.log(np.maximum(magnitudes, SETTINGS.floor)).T)

        super().__init__(job, mel, worker_init=_one_thread)


def _one_thread(_worker: int) -> None:
    """Two workers on two cores: more BLAS threads than that only disturb each other."""
    threadpool_limits(1)
