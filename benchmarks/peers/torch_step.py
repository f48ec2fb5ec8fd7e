"""One training step in PyTorch: forward, gradients, clipping, AdamW, with our settings.

`TheirStep` is the contender, in each of the ways that a PyTorch user has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from speech_batch import LANGUAGES, MELS, VOCABULARY

from myxtts.config import Config, TrainingConfig
from myxtts.models.sizes import ModelSize
from peers import torch_alignment, torch_noise
from peers.torch_xtts import TorchXTTS

BETAS = (0.9, 0.98)
EPSILON = 1e-7
"""Keras's; PyTorch would take 1e-8."""


class TorchStep:
    """Callable: losses out, weights updated."""

    def __init__(
        self, model: TorchXTTS, batch: Mapping[str, np.ndarray], training: TrainingConfig
    ) -> None:
        self.model = model
        self._batch = {name: torch.from_numpy(array) for name, array in batch.items()}
        self._parameters = list(model.parameters())
        self._clip = training.gradient_clip
        self._optimizer = torch.optim.AdamW(
            self._parameters,
            lr=training.learning_rate / max(1, training.warmup_steps),
            betas=BETAS,
            eps=EPSILON,
            weight_decay=training.weight_decay,
            fused=True,
        )
        rises = max(1, training.warmup_steps)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer, lambda step: min(step + 1, rises)
        )

    def compile(self) -> None:
        """Let PyTorch's compiler fuse what lies before and after the alignment."""
        model: Any = self.model
        model.read = torch.compile(model.read)
        model.speak = torch.compile(model.speak)

    def __call__(self) -> list[float]:
        """total, mel, prior, duration and, with a refiner, flow."""
        losses = self.model(self._batch)
        self._optimizer.zero_grad()
        losses[0].backward()
        torch.nn.utils.clip_grad_norm_(self._parameters, self._clip)
        self._optimizer.step()
        self._schedule.step()
        return losses.tolist()


class TheirStep(TorchStep):
    """`fused`: torch.compile; `plain`: the alignment in PyTorch too, not in machine code."""

    def __init__(
        self,
        size: ModelSize,
        batch: Mapping[str, np.ndarray],
        threads: int,
        *,
        fused: bool = False,
        plain: bool = False,
    ) -> None:
        torch.set_num_threads(threads)
        torch.manual_seed(1)
        search = torch_alignment.plain if plain else torch_alignment.compiled
        model = TorchXTTS(size, VOCABULARY, LANGUAGES, MELS, search, torch_noise.drawn)
        super().__init__(model, batch, Config().training)
        self.parameters = sum(parameter.numel() for parameter in model.parameters())
        if fused:
            self.compile()
