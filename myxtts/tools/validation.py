"""Does the two-device pipeline work here? Five sections of checks, each one really done.

`validate` yields `Check`s as they are made: prerequisites, device placement, the model on its
device, data moved between the devices and compared byte for byte, and a short run of the real
pipeline on made-up batches. It measures no speed; `profile_run` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from myxtts import devices
from myxtts.config import DataConfig, ModelConfig
from myxtts.devices import DevicePlan
from myxtts.errors import UserError
from myxtts.telemetry import gpu
from myxtts.tools.environment import environment

SECTIONS = (
    "Prerequisites",
    "Device placement",
    "Model on the model device",
    "Data between the devices",
    "A short run of the pipeline",
)
COPY_BYTES = (4, 4096, 1_000_003, 16 * 2**20)
RUN_STEPS = 8
BATCH, TOKENS, FRAMES, MELS, REFERENCE = 2, 16, 64, 80, 64


@dataclass(frozen=True)
class Check:
    """One line of the validation."""

    section: int
    name: str
    good: bool | None
    """None: could not be checked here."""
    detail: str


def validate(data: DataConfig) -> Iterator[Check]:
    """Make the checks in order; a section that cannot go on ends the validation."""
    yield from _prerequisites(data)
    try:
        plan = devices.place(data)
    except UserError as refused:
        yield Check(2, "device plan", False, f"{refused.rule}; {refused.remedy}")
        return
    yield from _placement(plan)
    model, checks = _model(plan)
    yield from checks
    yield from _transfers(plan)
    yield from _short_run(plan, model)


def _prerequisites(data: DataConfig) -> Iterator[Check]:
    found = environment()
    yield Check(1, "TensorFlow", found.tensorflow is not None, found.tensorflow or "not installed")
    reasons: list[str] = []
    nvml = gpu.open_nvml(reasons.append)
    if nvml is None:
        needed = None if data.virtual_gpus else False
        yield Check(1, "NVIDIA driver", needed, reasons[0])
        yield Check(1, "GPUs", needed, "none seen by the driver")
    else:
        with nvml:
            cards = nvml.gpus()
            yield Check(1, "NVIDIA driver", True, nvml.driver() or "N/A")
            names = ", ".join(f"{card.index}: {card.name or 'N/A'}" for card in cards)
            yield Check(1, "GPUs", len(cards) >= 2 or bool(data.virtual_gpus), names or "none")
            if data.data_gpu is not None and data.model_gpu is not None and len(cards) >= 2:
                joined = gpu.topology(nvml, data.data_gpu, data.model_gpu)
                slow = joined in ("NODE", "SYS")
                yield Check(
                    1,
                    "topology",
                    None if joined is None else True,
                    f"{joined or 'N/A'}{' (slow: the path crosses the CPU)' if slow else ''}",
                )
    if data.virtual_gpus:
        yield Check(
            1, "virtual GPUs", True, f"{data.virtual_gpus} logical CPU devices: a rehearsal"
        )


def _placement(plan: DevicePlan) -> Iterator[Check]:
    import tensorflow as tf

    yield Check(2, "two devices", plan.kind == "dual", plan.describe())
    kind = plan.model_device.strip("/").partition(":")[0]
    logical = [
        device.name.removeprefix("/device:") for device in tf.config.list_logical_devices(kind)
    ]
    wanted = {device.strip("/") for device in (plan.data_device, plan.model_device)}
    yield Check(2, "visible devices", wanted <= set(logical), ", ".join(logical))
    yield Check(2, "memory policy", True, "limits on both" if plan.isolated else "grows as needed")
    for device in (plan.data_device, plan.model_device):
        with tf.device(device):
            made = tf.random.uniform((8, 8)) @ tf.ones((8, 8))
        yield Check(2, f"work stays on {device}", _on(made, device), made.device)


def _model(plan: DevicePlan) -> tuple[Any, list[Check]]:
    import tensorflow as tf

    from myxtts.text.tokenizer import Tokenizer
    from myxtts.training import network

    with tf.device(plan.model_device):
        model = network.build(
            ModelConfig(width=32), Tokenizer("characters"), MELS, "float32", seed=0
        )
        losses = model.losses(_on_model_device(plan, made_up_batch(0)))
    weights = model.trainable_variables
    stray = [weight.path for weight in weights if not _on(weight.value, plan.model_device)]
    loss = float(losses["total"])
    return model, [
        Check(
            3,
            "weights",
            not stray,
            f"{len(weights)} on {plan.model_device}, {len(stray)} elsewhere",
        ),
        Check(3, "forward pass", bool(np.isfinite(loss)), f"loss {loss:.4f}"),
    ]


def _transfers(plan: DevicePlan) -> Iterator[Check]:
    """Some GPU pairs return zeros from a direct copy: every byte is compared."""
    import tensorflow as tf

    rng = np.random.default_rng(0)
    for size in COPY_BYTES:
        content = rng.integers(0, 256, size, np.uint8)
        for source, target in (
            (plan.data_device, plan.model_device),
            (plan.model_device, plan.data_device),
        ):
            with tf.device(source):
                sent = tf.identity(content)
            with tf.device(target):
                received = tf.identity(sent)
            equal = received.numpy().tobytes() == content.tobytes()
            good = equal and _on(received, target)
            detail = "equal" if equal else "DIFFERENT: direct copies cannot be trusted here"
            yield Check(4, f"{size:,} bytes {source} → {target}", good, detail)


def _short_run(plan: DevicePlan, model: Any) -> Iterator[Check]:
    """The real lanes and a real step, on batches made up from a seed."""
    import keras

    from myxtts.training.feeder import Feeder
    from myxtts.training.preprocess import Preprocessor, transfer
    from myxtts.training.stages import Lane, Parcel, Stage
    from myxtts.training.step import TrainStep

    optimizer = keras.optimizers.AdamW(1e-3)
    optimizer.build(model.trainable_variables)
    step = TrainStep(model, optimizer, plan.model_device, xla=False)
    prepare = Preprocessor(plan.data_device, np.zeros(MELS), np.ones(MELS), ModelConfig())

    def load(parcel: Parcel) -> None:
        parcel.batch = made_up_batch(parcel.step)

    def preprocess(parcel: Parcel) -> None:
        parcel.batch = prepare(parcel.batch)

    def move(parcel: Parcel) -> None:
        parcel.batch = transfer(parcel.batch, plan.model_device)

    lanes = [
        Lane("host", 3, (Stage("load", load),)),
        Lane("ready", 3, (Stage("preprocess", preprocess), Stage("transfer", move))),
    ]
    order, losses, misplaced = [], [], 0
    with Feeder(range(RUN_STEPS), lanes) as feeder:
        feeder.start()
        for parcel in feeder:
            order.append(parcel.step)
            misplaced += not _on(parcel.batch["mels"], plan.model_device)
            losses.append(step(parcel.batch)["total"])
    yield Check(
        5, "batches", order == list(range(RUN_STEPS)), f"{len(order)} of {RUN_STEPS}, in order"
    )
    yield Check(5, "placement", misplaced == 0, f"{misplaced} batches off {plan.model_device}")
    finite = bool(np.isfinite(losses).all())
    yield Check(5, "training", finite, f"loss {losses[0]:.4f} → {losses[-1]:.4f}")


def made_up_batch(seed: int) -> dict[str, np.ndarray]:
    """A host batch of random numbers, in the shapes of this module."""
    rng = np.random.default_rng(seed)
    return {
        "tokens": rng.integers(4, 40, (BATCH, TOKENS)).astype(np.int32),
        "token_lengths": np.full(BATCH, TOKENS, np.int32),
        "mels": rng.normal(size=(BATCH, FRAMES, MELS)).astype(np.float16),
        "mel_lengths": np.full(BATCH, FRAMES, np.int32),
        "reference": rng.normal(size=(BATCH, REFERENCE, MELS)).astype(np.float16),
        "reference_lengths": np.full(BATCH, REFERENCE, np.int32),
        "language": np.zeros(BATCH, np.int32),
        "weights": np.ones(BATCH, np.float32),
        "clips": np.arange(BATCH, dtype=np.int64),
        "noise_seeds": np.arange(BATCH, dtype=np.int32),
    }


def _on_model_device(plan: DevicePlan, batch: dict[str, np.ndarray]) -> dict[str, Any]:
    from myxtts.training.preprocess import Preprocessor, transfer

    prepare = Preprocessor(plan.data_device, np.zeros(MELS), np.ones(MELS), ModelConfig())
    return transfer(prepare(batch), plan.model_device)


def _on(tensor: Any, device: str) -> bool:
    """Whether TensorFlow says that a tensor lives on a logical device."""
    return str(tensor.device).endswith(device.replace("/", "device:"))


def verdict(checks: list[Check]) -> bool:
    """Good when every section was reached and nothing in it failed."""
    reached = {check.section for check in checks}
    return len(reached) == len(SECTIONS) and all(check.good is not False for check in checks)
