"""The network of a run: built on its device in its precision, restored from a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import keras
import tensorflow as tf

from myxtts.config import Config, ModelConfig
from myxtts.errors import UserError
from myxtts.models.sizes import ModelSize, size_named
from myxtts.models.xtts import XTTS
from myxtts.text.languages import LANGUAGES
from myxtts.text.tokenizer import Tokenizer
from myxtts.training.checkpoint import Checkpoint

BFLOAT16_CAPABILITY = (8, 0)


def precision(config: Config, device: str) -> str:
    """The Keras dtype policy of a run."""
    wanted = config.data.mixed_precision
    if wanted == "auto":
        wanted = "GPU" in device and _capability(device) >= BFLOAT16_CAPABILITY
    return "mixed_bfloat16" if wanted else "float32"


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
    told = {
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


def check_vocabulary(found: Checkpoint, tokenizer: Tokenizer) -> None:
    """Refuse a checkpoint whose token numbers mean something else."""
    if found.info["tokenizer"] != tokenizer.fingerprint:
        raise UserError(
            f"The checkpoint {found.path} was trained with another vocabulary",
            received=f"{found.info['tokenizer']}, this version has {tokenizer.fingerprint}",
            follows="its token numbers would mean other sounds",
            remedy="use the version and data.text_units it was trained with, or train again",
        )


def _capability(device: str) -> tuple[int, ...]:
    position = int(device.rpartition(":")[2])
    gpus = tf.config.get_visible_devices("GPU")
    details = tf.config.experimental.get_device_details(gpus[position])
    return tuple(details.get("compute_capability") or (0, 0))
