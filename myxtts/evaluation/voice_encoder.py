"""Whose voice it is: clips to vectors that lie close together for one speaker, and apart for two.

The network is Resemblyzer's voice encoder: three LSTM layers of 256 over 40 mels, a projection, one
vector for each 1.6 seconds, their mean for a clip. Only its weights are used, computed here in
NumPy: the package itself would bring PyTorch, librosa and a compiler, for 1.4 million numbers.

The weights lie in a pickle, which is never loaded: unpickling runs code. This very file is known by
its checksum, so it is also known at which byte each array begins.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import scipy.fft

from myxtts.audio.decode import resample
from myxtts.audio.mel import MelSettings, analysis_window, mel_filterbank
from myxtts.errors import MeasurementError

INSTALL = "pip install --no-deps Resemblyzer==0.1.4"
SIZE = 256
"""Numbers in a voice's vector."""

_SHA256 = "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e"
_OUTPUT_BIAS_AT = 6699  # bytes from the file's beginning, here and below
_OUTPUT_WEIGHTS_AT = 7731
_LSTM_AT = 269883
_UNITS = 256
_LAYERS = 3
# The product of every step in pieces too small for BLAS to start threads: 480 times a clip, they
# would wait for each other longer than they work, and for seconds when the cores are busy.
_PIECES = 16

_MELS = MelSettings(sample_rate=16000, n_fft=400, hop=160, n_mels=40, fmax=8000.0)
_WINDOW = 160  # frames of 10 ms that the network sees at once
_WINDOW_STEP = 77  # frames from one window to the next: 1.3 windows a second
_LEAST_COVERED = 0.75  # a last window with less sound than this share is left out
_QUIETEST_MEAN_DB = -30.0  # clips below this level are made louder
_SILENCE_DB = -40.0  # below the clip's loudest frame
_LONGEST_PAUSE = 20  # frames of 10 ms that a pause keeps


@dataclass(frozen=True)
class _Layer:
    """Gates in the order input, forget, cell, output: [4 · units, …]."""

    from_input: np.ndarray
    from_state: np.ndarray
    bias: np.ndarray


class VoiceEncoder:
    """Resemblyzer's weights, ready to look at clips."""

    def __init__(self) -> None:
        content = _weights_file().read_bytes()
        if hashlib.sha256(content).hexdigest() != _SHA256:
            raise MeasurementError(
                "The voice encoder's weights are not those of Resemblyzer 0.1.4",
                follows="speaker similarity is not measured",
                remedy=f"{INSTALL} --force-reinstall",
            )
        self._layers = _lstm(content)
        self._output = _floats(content, _OUTPUT_WEIGHTS_AT, SIZE * _UNITS).reshape(SIZE, _UNITS)
        self._output_bias = _floats(content, _OUTPUT_BIAS_AT, SIZE)

    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """The voice in mono float samples [n]: float32 [256], of length 1, no number negative."""
        speech = _spoken(resample(samples, sample_rate, _MELS.sample_rate))
        windows = _windows(len(speech))
        state = _mels(speech, frames=int(windows[-1, -1]) + 1)[windows]  # [windows, 160, 40]
        for layer in self._layers:
            state = _run(layer, state)
        vectors = np.maximum(state[:, -1] @ self._output.T + self._output_bias, 0.0)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        mean = vectors.mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-12)


def available() -> bool:
    """Whether the weights are installed."""
    return find_spec("resemblyzer") is not None


def _weights_file() -> Path:
    found = find_spec("resemblyzer")  # located, not imported: its imports are not needed
    if found is None or found.origin is None:
        raise MeasurementError(
            "The voice encoder's weights are not installed",
            follows="speaker similarity is not measured",
            remedy=INSTALL,
        )
    return Path(found.origin).parent / "pretrained.pt"


def _floats(content: bytes, start: int, count: int) -> np.ndarray:
    return np.frombuffer(content, "<f4", count, start).astype(np.float32)


def _lstm(content: bytes) -> list[_Layer]:
    """All layers lie in one block: weights from input and from state, by layer; then biases."""
    inputs = [_MELS.n_mels] + [_UNITS] * (_LAYERS - 1)
    gates = 4 * _UNITS
    at = _LSTM_AT
    shapes = [shape for width in inputs for shape in ((gates, width), (gates, _UNITS))]
    shapes += [(gates, 1)] * (2 * _LAYERS)
    arrays = []
    for rows, columns in shapes:
        arrays.append(_floats(content, at, rows * columns).reshape(rows, columns))
        at += 4 * rows * columns
    weights, biases = arrays[: 2 * _LAYERS], arrays[2 * _LAYERS :]
    return [
        _Layer(weights[i], weights[i + 1], (biases[i] + biases[i + 1])[:, 0])
        for i in range(0, 2 * _LAYERS, 2)
    ]


def _run(layer: _Layer, inputs: np.ndarray) -> np.ndarray:
    """[windows, steps, width] to the outputs of every step, [windows, steps, units]."""
    driven = inputs @ layer.from_input.T + layer.bias
    windows, steps, _ = inputs.shape
    output = np.zeros((windows, _UNITS), np.float32)
    cell = np.zeros_like(output)
    outputs = np.empty((windows, steps, _UNITS), np.float32)
    pieces = layer.from_state.reshape(_PIECES, -1, _UNITS).transpose(0, 2, 1).copy()
    for step in range(steps):
        recurrent = (output @ pieces).transpose(1, 0, 2).reshape(windows, -1)
        let_in, keep, new, let_out = np.split(driven[:, step] + recurrent, 4, axis=1)
        cell = _sigmoid(keep) * cell + _sigmoid(let_in) * np.tanh(new)
        output = _sigmoid(let_out) * np.tanh(cell)
        outputs[:, step] = output
    return outputs


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.float32(0.5) * (np.tanh(np.float32(0.5) * x) + np.float32(1.0))


def _spoken(samples: np.ndarray) -> np.ndarray:
    """The clip at a usual level, its long pauses cut short."""
    power = float(np.mean(np.square(samples, dtype=np.float64))) if len(samples) else 0.0
    if power <= 0.0:
        return samples
    gain = max(1.0, 10 ** (_QUIETEST_MEAN_DB / 20) / power**0.5)
    samples = samples * np.float32(gain)
    frames = len(samples) // _MELS.hop
    if frames == 0:
        return samples
    cut = samples[: frames * _MELS.hop].reshape(frames, _MELS.hop)
    levels = np.square(cut, dtype=np.float64).mean(axis=1)
    speech = np.flatnonzero(levels > levels.max() * 10 ** (_SILENCE_DB / 10))
    frame = np.arange(frames)
    after = np.searchsorted(speech, frame)
    ahead = speech[np.minimum(after, len(speech) - 1)]
    behind = speech[np.maximum(after - 1, 0)]
    apart = np.minimum(np.abs(ahead - frame), np.abs(frame - behind))
    return cut[apart <= _LONGEST_PAUSE // 2].reshape(-1)


def _mels(samples: np.ndarray, frames: int) -> np.ndarray:
    """Mel power (no logarithm), float32 [frames, 40]; silence where the clip has ended."""
    half = _MELS.n_fft // 2  # frames are centred
    signal = np.pad(samples, (half, max(half, frames * _MELS.hop + half - len(samples))))
    windows = np.lib.stride_tricks.sliding_window_view(signal, _MELS.n_fft)[:: _MELS.hop][:frames]
    power = np.abs(scipy.fft.rfft(windows * analysis_window(_MELS.n_fft), axis=1)) ** 2
    return (power @ mel_filterbank(_MELS).T).astype(np.float32)


def _windows(samples: int) -> np.ndarray:
    """Which frames of a clip each window sees, int [windows, 160]."""
    frames = samples / _MELS.hop
    starts = np.arange(0, max(1, 1 + int(frames) - _WINDOW + _WINDOW_STEP + 1), _WINDOW_STEP)
    if len(starts) > 1 and frames - starts[-1] < _LEAST_COVERED * _WINDOW:
        starts = starts[:-1]
    return starts[:, None] + np.arange(_WINDOW)
