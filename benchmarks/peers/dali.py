"""NVIDIA DALI with all operators on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from clips import BATCH, FRAMES, MELS, SETTINGS, WORKERS
from nvidia.dali import fn, math, pipeline_def
from nvidia.dali.types import DALIDataType

from myxtts.audio.mel import analysis_window
from peers import Job

PADDING = (SETTINGS.n_fft - SETTINGS.hop) // 2

_NO_GPU: Any = None


@pipeline_def(batch_size=BATCH, num_threads=WORKERS, device_id=_NO_GPU, prefetch_queue_depth=4)
def _mels(files: list[str]) -> Any:
    rows = list(range(len(files)))
    content, row = fn.readers.file(files=files, labels=rows, shuffle_after_epoch=True, seed=1)
    audio, _ = fn.decoders.audio(content, dtype=DALIDataType.FLOAT, downmix=True)
    samples = audio.shape(dtype=DALIDataType.INT32)
    # DALI reflects half a window or nothing; zeros change the two outermost frames on each side.
    padded = fn.slice(audio, -PADDING, samples + 2 * PADDING, axes=[0], out_of_bounds_policy="pad")
    magnitudes = fn.spectrogram(
        padded, nfft=SETTINGS.n_fft, window_length=SETTINGS.n_fft, window_step=SETTINGS.hop,
        window_fn=analysis_window(SETTINGS.n_fft).tolist(), power=1, center_windows=False,
    )  # fmt: skip
    mel = fn.mel_filter_bank(
        magnitudes, sample_rate=SETTINGS.sample_rate, nfilter=MELS, freq_low=SETTINGS.fmin,
        freq_high=SETTINGS.fmax, mel_formula="slaney", normalize=True,
    )  # fmt: skip
    logarithms = fn.transpose(math.log(math.max(mel, SETTINGS.floor)), perm=[1, 0])
    frames = logarithms.shape(dtype=DALIDataType.INT32)
    return row, fn.pad(logarithms, axes=[0], shape=[FRAMES]), frames


class Dali:
    """The pipeline above; tokens are looked up by row."""

    def __init__(self, job: Job) -> None:
        self._workload = job.workload
        self._files = [str(path) for path in job.workload.audio]

    def ready(self) -> None:
        # A pipeline works ahead between two passes too: a new one has nothing in its queue.
        self._pipeline = _mels(self._files)
        self._pipeline.build()

    def batches(self) -> Iterator[dict[str, Any]]:
        workload = self._workload
        for _ in range(len(workload) // BATCH):
            outputs: Any = self._pipeline.run()
            row, mels, frames = outputs
            rows = row.as_array()[:, 0]
            yield {
                "clips": rows,
                "tokens": workload.tokens[rows],
                "token_lengths": workload.token_lengths[rows],
                "mels": np.asarray(mels.as_array()),
                "mel_lengths": frames.as_array()[:, 0],
            }
