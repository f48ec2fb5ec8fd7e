"""The network of a run: built on its device in its precision, restored from a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import keras

from myxtts.config import Config, ModelConfig
from myxtts.errors import UserError
from myxtts.models.sizes import ModelSize, size_named
from myxtts.models.xtts import XTTS
from myxtts.text.languages import LANGUAGES
from myxtts.text.tokenizer import Tokenizer
from myxtts.training.checkpoint import Checkpoint


def build(model: ModelConfig, tokenizer: Tokenizer, n_mels: int, policy: str, seed: int) -> XTTS:
    """A new network with `seed`'s weights; call it inside the device's scope."""
    outer = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        return XTTS(dimensions(model), tokenizer.size, len(LANGUAGES), n_mels, seed=seed)
    finally:
        keras.config.set_dtype_policy(outer)


def dimensions(model: ModelConfig) -> ModelSize:
    """The named size with the configuration's own numbers in it."""
    size = size_named(model.size)
    if model.width is not None:
        narrow = max(16, model.width // 2)
        size = replace(size, width=model.width, duration_width=narrow, refiner_width=model.width)
    told: dict[str, Any] = {
        "encoder_blocks": model.encoder_blocks,
        "decoder_blocks": model.decoder_blocks,
        "refiner_blocks": model.refiner_blocks,
        "refiner_steps": model.refiner_steps,
    }
    return replace(size, **{key: number for key, number in told.items() if number is not None})


def restore(variables: Sequence[Any], arrays: Sequence[Any], found: Checkpoint, what: str) -> None:
    """Put a checkpoint's arrays into `variables`; a checkpoint of another model is refused."""
    expected = [tuple(variable.shape) for variable in variables]
    received = [array.shape for array in arrays]
    if expected != received:
        differing = next(
            (f"{a} against {b}" for a, b in zip(received, expected, strict=False) if a != b),
            f"{len(received)} arrays against {len(expected)}",
        )
        raise UserError(
            f"The checkpoint {found.path} does not fit the configured model ({what})",
            received=f"shapes {differing}",
            remedy="use the configuration that the checkpoint was trained with "
            f"({found.path / 'checkpoint.json'} holds it)",
        )
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)


def check_fits(found: Checkpoint, config: Config, tokenizer: Tokenizer) -> None:
    """Refuse a checkpoint whose numbers mean something else than this configuration's."""
    check_vocabulary(found, tokenizer)
    told = found.info["config"]
    for key, unit in (("sample_rate", "Hz"), ("n_mels", "mel bins")):
        if told["data"][key] != getattr(config.data, key):
            raise UserError(
                f"The checkpoint {found.path} was trained on other sound: {key} differs",
                received=f"{told['data'][key]} {unit}, this run has "
                f"{getattr(config.data, key)} {unit}",
                follows="its weights would hear and say other frequencies",
                remedy=f"data.{key}: {told['data'][key]}, or a checkpoint of this kind of sound",
            )
    theirs = asdict(dimensions(ModelConfig.model_validate(told["model"])))
    ours = asdict(dimensions(config.model))
    differing = [
        f"{key} {theirs[key]}, here {ours[key]}" for key in ours if theirs[key] != ours[key]
    ]
    if differing:
        raise UserError(
            f"The checkpoint {found.path} does not fit the configured model",
            received="; ".join(differing),
            follows="its weights have other shapes",
            remedy=f"--model-size {told['model']['size']} and the model: section of "
            f"{found.path / 'checkpoint.json'}",
        )


def check_vocabulary(found: Checkpoint, tokenizer: Tokenizer) -> None:
    """Refuse a checkpoint whose token numbers mean something else."""
    if found.info["tokenizer"] != tokenizer.fingerprint:
        raise UserError(
            f"The checkpoint {found.path} was trained with another vocabulary",
            received=f"{found.info['tokenizer']}, this version has {tokenizer.fingerprint}",
            follows="its token numbers would mean other sounds",
            remedy="use the version and data.text_units it was trained with, or train again",
        )
