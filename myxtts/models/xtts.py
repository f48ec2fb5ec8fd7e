"""The model: text and a voice in, mel frames out.

    tokens + language ──► text encoder ──► hidden ──┬──► prior mel ──┐
                              ▲                     │                ├──► alignment ──► index
    reference ──► voice ──────┼──► every block      └──► durations ──┘                    │
                              ▼                                                           ▼
                        coarse decoder ◄── hidden and prior mel of each frame's token ◄───┘
                              ├──► coarse mel = prior mel + correction
                              ▼                │
                          [refiner] ◄──────────┘ ──► mel

While training, the alignment is searched between the prior mel and the clip; in synthesis it
follows from the durations. A size without a refiner speaks its coarse mel. Mels are z-scored per
bin outside, before and after. This module owns no optimiser, no device and no loop: see
`myxtts.training`.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

import keras
from keras import ops

from myxtts.models import alignment
from myxtts.models.attention import AttentionBlock
from myxtts.models.layers import (
    FilmBlock,
    FilmStack,
    Tensor,
    dense,
    embedding,
    sequence_mask,
    unstack_frames,
    zero_dense,
)
from myxtts.models.refiner import Guide, Refiner
from myxtts.models.sizes import ModelSize
from myxtts.models.speaker import VoiceEncoder

DURATION_WEIGHT = 0.1
"""Share of the duration loss in the total; the other losses count once."""


class Reading(NamedTuple):
    """What the text says, token by token."""

    hidden: Tensor
    """`[B, S, width]`, in the layers' compute dtype."""

    prior: Tensor
    """`float32 [B, S, M]`: the mean mel frame of each token."""

    log_durations: Tensor
    """`float32 [B, S]`: natural logarithm of frames."""


class Coarse(NamedTuple):
    """What the decoder says, frame by frame."""

    prior: Tensor
    """`float32 [B, T, M]`: the prior mel of each frame's token."""

    mel: Tensor
    """`float32 [B, T, M]`, zero beyond the clip."""

    features: Tensor
    """`[B, T / stacked, width]`: what the decoder made the mel from, in the compute dtype."""

    mask: Tensor
    """`float32 [B, T, 1]`: 1 on the frames of the clip."""

    def guide(self, voice: Tensor) -> Guide:
        """What the refiner is told, with `voice [B, width]`."""
        return Guide(self.mel, self.features, self.mask, voice)


class Counted(NamedTuple):
    """What the losses of a batch are means over, `float32[]` each; filler rows count nothing."""

    frames: Tensor
    tokens: Tensor
    """Those that get a frame: with fewer frames than tokens, as many as there are frames."""


def counted(batch: Mapping[str, Tensor]) -> Counted:
    """Of one batch. Counts of parts add up to the count of the whole, exactly."""
    tokens = ops.minimum(batch["token_lengths"], batch["mel_lengths"])
    of_rows = (ops.cast(of, "float32") * batch["weights"] for of in (batch["mel_lengths"], tokens))
    return Counted(*map(ops.sum, of_rows))


class XTTS(keras.Model):
    """The network of every size. All variables exist after construction, the same for one `seed`.

    A batch is a mapping of statically shaped tensors: `tokens int32[B, S]`, `token_lengths [B]`,
    `mels float32[B, T, M]`, `mel_lengths [B]`, `reference float32[B, R, M]`,
    `reference_lengths [B]`, `language int32[B]`, `weights float32[B]` (1 real row, 0 filler),
    and where there is a refiner `noise_seeds int32[B]`, from which each row's noise is drawn.
    Mels are zero beyond their length; T is a multiple of `size.frames_stacked`, R of 4.
    """

    def __init__(
        self, size: ModelSize, vocabulary_size: int, languages: int, n_mels: int, seed: int = 0
    ) -> None:
        super().__init__(name="xtts")
        self.size = size
        seeds = Random(seed)
        width, kernel = size.width, size.kernel

        block = AttentionBlock if size.block == "attention" else FilmBlock

        self.voice = VoiceEncoder(
            "voice",
            n_mels,
            width,
            kernel,
            seeds,
            blocks=size.voice_blocks,
            latents=size.voice_latents,
            layers=size.voice_layers,
        )

        self.token_embedding = embedding("token_embedding", vocabulary_size, width, seeds)
        self.language_embedding = embedding("language_embedding", languages, width, seeds)
        self.encoder = FilmStack("encoder", size.encoder_blocks, width, width, kernel, seeds, block)
        self.to_prior = dense("to_prior", width, n_mels, seeds, dtype="float32")

        narrow = size.duration_width
        self.to_timing = dense("to_timing", width, narrow, seeds)
        self.timing = FilmStack("timing", size.duration_blocks, narrow, width, kernel, seeds)
        self.to_log_duration = dense("to_log_duration", narrow, 1, seeds, dtype="float32")

        stacked = size.frames_stacked
        self.to_decoder = dense("to_decoder", stacked * (width + n_mels), width, seeds)
        self.decoder = FilmStack("decoder", size.decoder_blocks, width, width, kernel, seeds, block)
        self.to_correction = zero_dense("to_correction", width, stacked * n_mels, dtype="float32")

        self.refiner = None
        if size.refiner_blocks:
            self.refiner = Refiner(
                "refiner",
                n_mels,
                size.refiner_blocks,
                size.refiner_width,
                width,
                kernel,
                stacked,
                seeds,
            )
        self.built = True

    def losses(self, batch: Mapping[str, Tensor], over: Counted | None = None) -> dict[str, Tensor]:
        """Scalars `mel`, `prior`, `duration`, with a refiner `flow`, and their sum `total`.

        All are float32; in `total` the durations count less. `mel` judges the coarse mel, `flow`
        the refiner's velocity. Each is a mean over the real frames (tokens) of real rows: filler
        rows and padding count neither above nor below the line. A batch of fillers only gives
        zeros.

        `over` (none: `counted(batch)`) is what stands below the line. With the count of a whole
        batch, the losses of its parts are shares that add up to the losses of the whole, and so
        do their gradients.
        """
        over = counted(batch) if over is None else over
        voice = self.voice(batch["reference"], batch["reference_lengths"])
        reading = self._read(batch["tokens"], batch["token_lengths"], batch["language"], voice)
        index = self._align(reading, batch)
        coarse = self._speak(reading, index, voice)

        weights = batch["weights"][:, None]  # [B, 1]
        target = batch["mels"]
        of_frames = ops.cast(index >= 0, "float32") * weights  # [B, T]
        frames = alignment.durations(index, reading.prior.shape[1])  # [B, S]
        of_tokens = ops.cast(frames > 0, "float32") * weights
        log_frames = ops.log(ops.cast(ops.maximum(frames, 1), "float32"))

        parts = {
            "mel": _mean(ops.mean(ops.abs(target - coarse.mel), axis=-1), of_frames, over.frames),
            "prior": _mean(
                0.5 * ops.mean(ops.square(target - coarse.prior), axis=-1), of_frames, over.frames
            ),
            "duration": _mean(
                ops.square(reading.log_durations - log_frames), of_tokens, over.tokens
            ),
        }
        total = parts["mel"] + parts["prior"] + DURATION_WEIGHT * parts["duration"]
        if self.refiner is not None:
            error = self.refiner.error(target, coarse.guide(voice), batch["noise_seeds"])
            parts["flow"] = _mean(error, of_frames, over.frames)
            total = total + parts["flow"]
        return {"total": total, **parts}

    def alignment(self, batch: Mapping[str, Tensor]) -> Tensor:
        """The token of each frame as training sees it: `int32[B, T]`, -1 beyond the mel."""
        voice = self.voice(batch["reference"], batch["reference_lengths"])
        reading = self._read(batch["tokens"], batch["token_lengths"], batch["language"], voice)
        return self._align(reading, batch)

    def synthesize(
        self,
        tokens: Tensor,
        token_lengths: Tensor,
        language: Tensor,
        reference: Tensor,
        reference_lengths: Tensor,
        max_frames: int,
        speed: float | Tensor = 1.0,
        refine_steps: int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Speak: `mels float32[B, max_frames, M]`, z-scored and 0 beyond `mel_lengths int32[B]`.

        Arguments as in a batch. Every token lasts at least one frame; speech longer than the
        static `max_frames` (a multiple of `size.frames_stacked`) is cut there. `speed` divides
        the durations. `refine_steps` (none: `size.refiner_steps`) Euler steps refine the coarse
        mel; 0 leaves it as it is, and so does a size without a refiner.
        """
        voice = self.voice(reference, reference_lengths)
        reading = self._read(tokens, token_lengths, language, voice)

        # An untrained predictor may ask for e^100 frames: bounded before it becomes an integer.
        wished = ops.round(ops.exp(reading.log_durations) / speed)
        wished = ops.cast(ops.clip(wished, 1, max_frames), "int32")
        spoken = ops.arange(tokens.shape[1]) < token_lengths[:, None]
        index = alignment.from_durations(ops.where(spoken, wished, 0), max_frames)

        mel = self._refine(self._speak(reading, index, voice), voice, refine_steps)
        return mel, ops.sum(ops.cast(index >= 0, "int32"), axis=1)

    def reconstruct(self, batch: Mapping[str, Tensor], refine_steps: int | None = None) -> Tensor:
        """The batch's clips as the model says them, in their own timing: `float32 [B, T, M]`.

        Frame by frame beside `mels`, so that the two can be compared. `refine_steps` as in
        `synthesize`.
        """
        voice = self.voice(batch["reference"], batch["reference_lengths"])
        reading = self._read(batch["tokens"], batch["token_lengths"], batch["language"], voice)
        coarse = self._speak(reading, self._align(reading, batch), voice)
        return self._refine(coarse, voice, refine_steps)

    def _read(
        self, tokens: Tensor, token_lengths: Tensor, language: Tensor, voice: Tensor
    ) -> Reading:
        """`tokens [B, S]`, lengths and language `[B]`, `voice [B, width]` -> a `Reading`."""
        mask = sequence_mask(token_lengths, tokens.shape[1])
        hidden = self.token_embedding(tokens) + self.language_embedding(language)[:, None, :]
        hidden = self.encoder(hidden * ops.cast(mask, hidden.dtype), mask, voice)

        # Durations are learned beside the speech: they must not bend what the text encoder hears.
        timing = self.to_timing(ops.stop_gradient(hidden))
        timing = self.timing(timing, mask, ops.stop_gradient(voice))
        return Reading(hidden, self.to_prior(hidden), self.to_log_duration(timing)[:, :, 0])

    def _align(self, reading: Reading, batch: Mapping[str, Tensor]) -> Tensor:
        """The best path between the prior mel and the clip's: `int32[B, T]`."""
        likelihood = alignment.log_likelihood(ops.stop_gradient(reading.prior), batch["mels"])
        return alignment.search(likelihood, batch["token_lengths"], batch["mel_lengths"])

    def _speak(self, reading: Reading, index: Tensor, voice: Tensor) -> Coarse:
        """What a reading sounds like when `index [B, T]` gives each frame its token."""
        stacked = self.size.frames_stacked
        mask = ops.cast(index >= 0, "float32")[:, :, None]
        prior = alignment.expand(reading.prior, index)

        # A position counts when its first frame does: an odd clip ends in half a position.
        positions = mask[:, ::stacked]
        decoded = self.decoder(self._stacked_frames(reading, index), positions, voice)
        correction = unstack_frames(self.to_correction(decoded), stacked)
        return Coarse(prior, (prior + correction) * mask, decoded, mask)

    def _stacked_frames(self, reading: Reading, index: Tensor) -> Tensor:
        """`to_decoder` of each position's frames, hidden and prior mel: `[B, T / stacked, width]`.

        Projected as tokens, of which there are fewer, and spread over the frames after that: the
        layer's sum over a position's frames is taken by the product that spreads them.
        """
        layer, stacked = self.to_decoder, self.size.frames_stacked
        tokens = ops.concatenate(
            [reading.hidden, ops.cast(reading.prior, reading.hidden.dtype)], axis=-1
        )
        kernel = ops.cast(layer.kernel, tokens.dtype)
        # One projection for each place of a frame in its position, behind each other as tokens.
        projected = ops.concatenate(
            [ops.matmul(tokens, part) for part in ops.split(kernel, stacked, axis=0)], axis=1
        )
        return alignment.expand(projected, index, stacked) + ops.cast(layer.bias, tokens.dtype)

    def _refine(self, coarse: Coarse, voice: Tensor, steps: int | None) -> Tensor:
        """The mel to be heard, `float32 [B, T, M]`."""
        steps = self.size.refiner_steps if steps is None else steps
        if self.refiner is None or steps == 0:
            return coarse.mel
        return self.refiner.refine(coarse.guide(voice), steps)


def _mean(values: Tensor, weights: Tensor, count: Tensor) -> Tensor:
    """Weighted mean of `[B, L]` over `count` of them; 0 when nothing has weight."""
    return ops.sum(values * weights) / ops.maximum(count, 1e-6)
