"""Plain tf.data: every clip decoded and transformed inside a parallel map."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from clips import BATCH, FRAMES, MELS, SETTINGS, WORKERS

from myxtts.audio.mel import mel_filterbank
from peers import Job

PADDING = (SETTINGS.n_fft - SETTINGS.hop) // 2


class TfData:
    """tf.io.read_file, tf.audio.decode_wav, tf.signal.stft, padded_batch, prefetch."""

    def __init__(self, job: Job) -> None:
        workload = job.workload
        rows = np.random.default_rng(1).permutation(len(workload))
        paths = np.array([str(path) for path in workload.audio])
        filters = tf.constant(mel_filterbank(SETTINGS).T)

        def clip(
            row: tf.Tensor, path: tf.Tensor, tokens: tf.Tensor, token_length: tf.Tensor
        ) -> dict[str, tf.Tensor]:
            audio, _ = tf.audio.decode_wav(tf.io.read_file(path), desired_channels=1)
            signal = audio[:, 0]
            padded = tf.pad(signal, [[PADDING, PADDING]], mode="REFLECT")
            spectrum = tf.signal.stft(padded, SETTINGS.n_fft, SETTINGS.hop)
            frames = tf.size(signal) // SETTINGS.hop
            mel = tf.math.log(tf.maximum(tf.abs(spectrum[:frames]) @ filters, SETTINGS.floor))
            return {
                "clips": row,
                "tokens": tokens,
                "token_lengths": token_length,
                "mels": mel,
                "mel_lengths": frames,
            }

        text_length = workload.tokens.shape[1]
        shapes = {
            "clips": [],
            "tokens": [text_length],
            "token_lengths": [],
            "mels": [FRAMES, MELS],
            "mel_lengths": [],
        }
        options = tf.data.Options()
        options.threading.private_threadpool_size = WORKERS
        options.threading.max_intra_op_parallelism = 1
        columns = (rows, paths[rows], workload.tokens[rows], workload.token_lengths[rows])
        self._dataset = (
            tf.data.Dataset.from_tensor_slices(columns)
            .map(clip, num_parallel_calls=WORKERS, deterministic=False)
            .padded_batch(BATCH, padded_shapes=shapes)
            .prefetch(4)
            .with_options(options)
        )

    def ready(self) -> None:
        pass

    def batches(self) -> Iterator[dict[str, Any]]:
        yield from self._dataset.as_numpy_iterator()
