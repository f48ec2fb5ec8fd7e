"""Our tiny and small network in PyTorch: the same layers, shapes and losses.

The parts are in `torch_layers`; the search for the alignment and the noise are handed in, because
there are several ways to compute them. `load` copies our weights, found by their paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from myxtts.models.refiner import FASTEST, LATEST, SLOWEST
from myxtts.models.sizes import ModelSize
from myxtts.models.xtts import DURATION_WEIGHT
from peers.torch_layers import AttentionBlock, FilmBlock, FilmStack, VoiceEncoder, sequence_mask

Batch = Mapping[str, Tensor]
"""What `myxtts.models.xtts` calls a batch."""
Search = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Likelihood `[B, S, T]`, token lengths and mel lengths `[B]` -> `[B, T]`, as ours."""
Noise = Callable[[Tensor, int, int], tuple[Tensor, Tensor]]
"""Seeds `[B]`, frames, bins -> noise `[B, frames, bins]` and a number in (0, 1) of each row."""


class Refiner(nn.Module):
    """`refiner.Refiner`, the part that trains."""

    def __init__(self, size: ModelSize, n_mels: int, noise: Noise) -> None:
        super().__init__()
        self.noise = noise
        width, voice = size.refiner_width, size.width
        position = size.frames_stacked * n_mels
        self.from_state = nn.Linear(position, width)
        self.from_condition = nn.Linear(position + voice, width)
        self.widen_time = nn.Linear(voice, voice)
        self.project_time = nn.Linear(voice, voice)
        self.stack = FilmStack(size.refiner_blocks, width, voice, size.kernel, AttentionBlock)
        self.to_correction = nn.Linear(width, position)
        half = voice // 2
        self.turns = SLOWEST * (FASTEST / SLOWEST) ** (torch.arange(half) / half)

    def forward(
        self, target: Tensor, coarse: Tensor, features: Tensor, mask: Tensor, voice: Tensor,
        seeds: Tensor,
    ) -> Tensor:  # fmt: skip
        """`Refiner.error`."""
        start, chance = self.noise(seeds, *target.shape[1:])
        time = LATEST * chance
        along = time[:, None, None]
        state = torch.lerp(start * mask, target, along)
        angles = time[:, None] * self.turns
        waves = torch.cat([angles.sin(), angles.cos()], dim=-1)
        told = self.project_time(functional.gelu(self.widen_time(waves), approximate="tanh"))

        coarse = coarse.detach()
        batch, positions = features.shape[:2]
        stacked = (batch, positions, -1)
        condition = torch.cat([coarse.reshape(stacked), features.detach()], dim=-1)
        hidden = self.from_state(state.view(stacked)) + self.from_condition(condition)
        present = mask[:, :: mask.shape[1] // positions]
        hidden = self.stack(hidden * present, present, voice + told)
        clean = (coarse + self.to_correction(hidden).view(coarse.shape)) * mask
        return ((clean - target).abs() / (1 - along)).mean(-1)


class TorchXTTS(nn.Module):
    """`xtts.XTTS`; called with a batch, it gives the losses: total, mel, prior, duration, flow."""

    def __init__(
        self,
        size: ModelSize,
        vocabulary_size: int,
        languages: int,
        n_mels: int,
        search: Search,
        noise: Noise,
    ) -> None:
        super().__init__()
        self.search = search
        self.stacked = size.frames_stacked
        width, kernel, narrow = size.width, size.kernel, size.duration_width
        block = AttentionBlock if size.block == "attention" else FilmBlock
        self.voice = VoiceEncoder(n_mels, width, kernel, size.voice_blocks)
        self.token_embedding = nn.Embedding(vocabulary_size, width)
        self.language_embedding = nn.Embedding(languages, width)
        self.encoder = FilmStack(size.encoder_blocks, width, width, kernel, block)
        self.to_prior = nn.Linear(width, n_mels)
        self.to_timing = nn.Linear(width, narrow)
        self.timing = FilmStack(size.duration_blocks, narrow, width, kernel)
        self.to_log_duration = nn.Linear(narrow, 1)
        self.to_decoder = nn.Linear(self.stacked * (width + n_mels), width)
        self.decoder = FilmStack(size.decoder_blocks, width, width, kernel, block)
        self.to_correction = nn.Linear(width, self.stacked * n_mels)
        self.refiner = Refiner(size, n_mels, noise) if size.refiner_blocks else None

    def forward(self, batch: Batch) -> Tensor:
        voice, hidden, prior, log_durations = self.read(batch)
        with torch.no_grad():
            mean = prior.detach()
            likelihood = torch.baddbmm(
                -0.5 * mean.square().sum(-1, keepdim=True), mean, batch["mels"].transpose(1, 2)
            )
            index = self.search(likelihood, batch["token_lengths"], batch["mel_lengths"])
        return self.speak(voice, hidden, prior, log_durations, index, batch)

    def read(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Voice, hidden text, prior mel, log-durations."""
        voice = self.voice(batch["reference"], batch["reference_lengths"])
        tokens = batch["tokens"]
        mask = sequence_mask(batch["token_lengths"], tokens.shape[1])
        hidden = self.token_embedding(tokens)
        hidden = (hidden + self.language_embedding(batch["language"])[:, None]) * mask
        hidden = self.encoder(hidden, mask, voice)
        timing = self.timing(self.to_timing(hidden.detach()), mask, voice.detach())
        return voice, hidden, self.to_prior(hidden), self.to_log_duration(timing)[:, :, 0]

    def speak(
        self, voice: Tensor, hidden: Tensor, prior: Tensor, log_durations: Tensor, index: Tensor,
        batch: Batch,
    ) -> Tensor:  # fmt: skip
        """The losses, when `index` gives each frame its token."""
        mask = (index >= 0).float()[:, :, None]
        chosen = (index[:, :, None] == torch.arange(hidden.shape[1])).float()
        frames = chosen @ torch.cat([hidden, prior], dim=-1)  # one product for both
        prior = frames[:, :, hidden.shape[2] :]
        decoded = self.to_decoder(frames.view(frames.shape[0], -1, self.to_decoder.in_features))
        decoded = self.decoder(decoded, mask[:, :: self.stacked], voice)
        mel = (prior + self.to_correction(decoded).view(prior.shape)) * mask

        target, weights = batch["mels"], batch["weights"][:, None]
        of_frames = mask[:, :, 0] * weights
        lasting = chosen.sum(1)
        of_tokens = (lasting > 0).float() * weights
        parts = [
            _mean((target - mel).abs().mean(-1), of_frames),
            _mean(0.5 * (target - prior).square().mean(-1), of_frames),
            _mean((log_durations - lasting.clamp(min=1).log()).square(), of_tokens),
        ]
        total = parts[0] + parts[1] + DURATION_WEIGHT * parts[2]
        if self.refiner is not None:
            error = self.refiner(target, mel, decoded, mask, voice, batch["noise_seeds"])
            parts.append(_mean(error, of_frames))
            total = total + parts[3]
        return torch.stack([total, *parts])


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    return (values * weights).sum() / weights.sum().clamp(min=1e-6)


def load(model: TorchXTTS, weights: Iterable[tuple[str, np.ndarray]]) -> None:
    """Copy our weights: `(path, array)` of each of our variables; every one finds its place."""
    parameters = dict(model.named_parameters())
    for path, array in weights:
        owner, _, kind = path.replace("/", ".").rpartition(".")
        name = f"{owner}.bias" if kind == "bias" else f"{owner}.weight"
        parameter = parameters.pop(name)
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(as_torch(array, kind)))
    if parameters:
        raise ValueError(f"without weights of ours: {', '.join(parameters)}")


def as_torch(array: np.ndarray, kind: str) -> np.ndarray:
    """Our variable's (or its gradient's) array in the order that PyTorch keeps it."""
    if kind != "kernel":
        return array
    # A convolution's: [kernel, inputs, outputs] -> [outputs, inputs, 1, kernel]
    if array.ndim == 3:
        return np.ascontiguousarray(array.transpose(2, 1, 0)[:, :, None])
    return np.ascontiguousarray(array.T)
