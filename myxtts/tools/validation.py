"""Does the two-device pipeline work here? Five sections of checks, each one really done.

`validate` yields `Check`s as they are made: prerequisites, device placement, the model on its
device, data moved between the devices and compared byte for byte, and a short run of the real
pipeline on made-up batches. It measures no speed; `profile_run` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from myxtts import devices
from myxtts.config import DataConfig, ModelConfig
from myxtts.devices import DevicePlan, links
from myxtts.errors import UserError
from myxtts.telemetry import gpu
from myxtts.tools.environment import environment, tensorflow_gpus

if TYPE_CHECKING:
    from myxtts.training.batch_path import BatchPath
    from myxtts.training.preprocess import Preprocessor
    from myxtts.training.stages import Parcel

SECTIONS = (
    "Prerequisites",
    "Device placement",
    "Model on the model device",
    "Data between the devices",
    "A short run of the pipeline",
)
RUN_STEPS = 8
BATCH, TOKENS, FRAMES, MELS, REFERENCE = 2, 16, 64, 80, 64


@dataclass(frozen=True)
class Check:
    """One line of the validation."""

    section: int
    name: str
    good: bool | None
    """None: could not be checked here, or is done without."""
    detail: str


def validate(data: DataConfig) -> Iterator[Check]:
    """Make the checks in order; a section that cannot go on ends the validation."""
    section, plan = 1, None
    try:
        yield from _prerequisites(data)
        section = 2
        plan = devices.place(data)
        yield from _placement(plan, data)
        section = 3
        yield from _model(plan)
        section = 4
        yield from _transfers(plan)
        section = 5
        yield from _short_run(plan, data)
    except UserError as refused:
        what = "device plan" if plan is None else "refused"
        yield Check(section, what, False, f"{refused.rule}; {refused.remedy}")
    except Exception as failed:  # whatever a device does, the verdict is said
        yield Check(section, "goes through", False, f"{type(failed).__name__}: {failed}")


def _prerequisites(data: DataConfig) -> Iterator[Check]:
    found = environment()
    yield Check(1, "TensorFlow", found.tensorflow is not None, found.tensorflow or "not installed")
    needed = None if data.virtual_gpus else False
    reasons: list[str] = []
    nvml = gpu.open_nvml(reasons.append)
    if nvml is None:
        yield Check(1, "NVIDIA driver", needed, reasons[0])
        yield Check(1, "GPUs", needed, "none seen by the driver")
    else:
        with nvml:
            yield from _cards(nvml, data)
    seen = tensorflow_gpus()
    yield Check(
        1, "GPUs seen by TensorFlow", True if (seen or 0) >= 2 else needed, f"{seen or 'none'}"
    )
    if data.virtual_gpus:
        yield Check(
            1, "virtual GPUs", True, f"{data.virtual_gpus} logical CPU devices: a rehearsal"
        )


def _cards(nvml: gpu.Nvml, data: DataConfig) -> Iterator[Check]:
    cards = nvml.gpus()
    yield Check(1, "NVIDIA driver", True, nvml.driver() or "N/A")
    names = ", ".join(f"{card.index}: {card.name or 'N/A'}" for card in cards)
    yield Check(1, "GPUs", len(cards) >= 2 or bool(data.virtual_gpus), names or "none")
    if data.data_gpu is not None and data.model_gpu is not None and len(cards) >= 2:
        ends = links.driver_index(data.data_gpu), links.driver_index(data.model_gpu)
        joined = links.link(nvml, *ends)
        yield Check(1, "topology", True if joined.topology else None, joined.describe())


def _placement(plan: DevicePlan, data: DataConfig) -> Iterator[Check]:
    import tensorflow as tf

    yield Check(2, "two devices", plan.kind == "dual", plan.describe())
    kind = plan.model_device.strip("/").partition(":")[0]
    logical = [
        device.name.removeprefix("/device:") for device in tf.config.list_logical_devices(kind)
    ]
    wanted = {device.strip("/") for device in (plan.data_device, plan.model_device)}
    yield Check(2, "indices", True, f"data GPU {data.data_gpu}, model GPU {data.model_gpu}")
    yield Check(2, "visible devices", wanted <= set(logical), ", ".join(logical))
    yield memory_policy(plan)
    soft = "on" if tf.config.get_soft_device_placement() else "off"
    policy = tf.config.experimental.get_device_policy()
    yield Check(
        2, "device policy", True, f"copies between devices: {policy}; soft placement {soft}"
    )
    from myxtts.training.transfer import on

    for device in (plan.data_device, plan.model_device):
        with tf.device(device):
            made = tf.random.uniform((8, 8)) @ tf.ones((8, 8))
        yield Check(2, f"work stays on {device}", on(made, device), made.device)


def memory_policy(plan: DevicePlan) -> Check:
    """What TensorFlow says about memory on each GPU of the plan, read back."""
    import tensorflow as tf

    if plan.virtual:
        return Check(2, "memory policy", None, "logical CPU devices share the host's memory")
    taken, said = [], []
    for position, card in enumerate(tf.config.get_visible_devices("GPU")):
        logical = tf.config.get_logical_device_configuration(card)
        limit = logical[0].memory_limit if logical else None
        grows = bool(tf.config.experimental.get_memory_growth(card))
        taken.append(limit is not None if plan.isolated else grows)
        policy = f"limited to {limit} MB" if limit else "grows" if grows else "takes all at once"
        said.append(f"/GPU:{position} {policy}")
    return Check(2, "memory policy", all(taken), ", ".join(said))


def _model(plan: DevicePlan) -> Iterator[Check]:
    import tensorflow as tf

    from myxtts.training.transfer import on

    with tf.device(plan.model_device):
        model = _small_model()
        losses = model.losses(_preprocessor(plan.model_device)(made_up_batch(0)))
    weights = model.trainable_variables
    stray = [weight.path for weight in weights if not on(weight.value, plan.model_device)]
    where = f"{len(weights)} on {plan.model_device}, {len(stray)} elsewhere"
    yield Check(3, "weights", not stray, where)
    loss = float(losses["total"])
    yield Check(3, "forward pass", bool(np.isfinite(loss)), f"loss {loss:.4f}")
    there = on(losses["total"], plan.model_device)
    yield Check(3, "computed there", there, str(losses["total"].device))


def _transfers(plan: DevicePlan) -> Iterator[Check]:
    """Some GPU pairs return zeros from a direct copy: every byte is compared."""
    from myxtts.training.transfer import CHECK_BYTES, arrives_whole

    there, back = (plan.data_device, plan.model_device), (plan.model_device, plan.data_device)
    for source, target in (there, back):
        wrong = 0
        for size in CHECK_BYTES:
            whole = arrives_whole(source, target, "direct", size)
            wrong += not whole
            detail = "equal" if whole else "arrives CHANGED: direct copies are not used here"
            yield Check(4, f"{size:,} bytes {source} → {target}", whole or None, detail)
        if wrong:
            whole = all(arrives_whole(source, target, "host", size) for size in CHECK_BYTES)
            detail = "equal: training takes this hop, slower" if whole else "arrives CHANGED too"
            yield Check(4, f"the same over the host {source} → {target}", whole, detail)


def _short_run(plan: DevicePlan, data: DataConfig) -> Iterator[Check]:
    """The real lanes and a real step, on batches made up from a seed."""
    import keras
    import tensorflow as tf

    from myxtts.training.feeder import Feeder
    from myxtts.training.stages import Stage
    from myxtts.training.step import TrainStep
    from myxtts.training.transfer import on

    with tf.device(plan.model_device):
        model = _small_model()
        optimizer = keras.optimizers.AdamW(1e-3)
        optimizer.build(model.trainable_variables)
    step = TrainStep(model, optimizer, plan.model_device, xla=False)
    path = _path(plan)

    def load(parcel: Parcel) -> None:
        parcel.batch = made_up_batch(parcel.step)

    order, losses, misplaced, changed = [], [], 0, 0
    with Feeder(range(RUN_STEPS), path.lanes(Stage("load", load), data.pipeline_depth)) as feeder:
        feeder.start()
        for parcel in feeder:
            order.append(parcel.step)
            misplaced += not all(on(tensor, plan.model_device) for tensor in parcel.batch.values())
            changed += not _equal(parcel.batch, path.at_once(made_up_batch(parcel.step)))
            losses.append(step(parcel.batch)["total"])
    in_order = order == list(range(RUN_STEPS))
    yield Check(5, "batches", in_order, f"{len(order)} of {RUN_STEPS}, in order")
    yield Check(5, "placement", misplaced == 0, f"{misplaced} batches off {plan.model_device}")
    yield Check(5, "content", changed == 0, f"{changed} batches differ from those made in turn")
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


def _path(plan: DevicePlan) -> BatchPath:
    """The way of a batch as a run takes it, without a corpus behind it."""
    from myxtts.training.batch_path import BatchPath

    return BatchPath(None, DataConfig(), _preprocessor(plan.data_device), plan.model_device)


def _preprocessor(device: str) -> Preprocessor:
    from myxtts.training.preprocess import Preprocessor

    return Preprocessor(device, np.zeros(MELS), np.ones(MELS), ModelConfig())


def _small_model() -> Any:
    from myxtts.text.tokenizer import Tokenizer
    from myxtts.training import network

    return network.build(ModelConfig(width=32), Tokenizer("characters"), MELS, "float32", seed=0)


def _equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    same = (one[name].numpy().tobytes() == other[name].numpy().tobytes() for name in other)
    return one.keys() == other.keys() and all(same)


def verdict(checks: list[Check]) -> bool:
    """Good when every section was reached and nothing in it failed."""
    reached = {check.section for check in checks}
    return len(reached) == len(SECTIONS) and all(check.good is not False for check in checks)
