"""The device plan: which logical device prepares data, which one trains, with how much memory.

`place` turns the configuration into a `DevicePlan` and tells TensorFlow, which accepts that only
before it has started. One device, two GPUs, or logical CPU devices standing in for GPUs; a plan the
machine cannot carry out is refused, never replaced in silence. What runs on the devices is
`training`'s business.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from myxtts.config import DataConfig
from myxtts.errors import UsageError, UserError

if TYPE_CHECKING:
    from tensorflow.config import PhysicalDevice

HEADROOM_MB = 1024  # a limit caps TensorFlow's allocator only: CUDA's own context needs room too

# Card's memory in GB -> (data GPU limit, model GPU limit) in MB, for isolation without limits.
DEFAULT_LIMITS_MB = {8: (3072, 7168), 12: (4096, 8192), 16: (6144, 10240), 24: (8192, 16384)}


@dataclass(frozen=True)
class DevicePlan:
    """Logical devices of a run, as TensorFlow names them."""

    kind: Literal["one", "dual"]
    data_device: str
    model_device: str
    virtual: bool = False
    isolated: bool = False
    mapping: Mapping[str, str] = field(default_factory=dict)
    """What each logical device is: "/GPU:0" -> "physical GPU 2"."""

    def describe(self) -> str:
        """One line for the log."""
        names = [f"{logical} is {self.mapping.get(logical, logical)}" for logical in self._devices]
        memory = "own memory limits" if self.isolated else "memory grows as needed"
        roles = (
            f"data on {self.data_device}, model on {self.model_device}"
            if self.kind == "dual"
            else f"everything on {self.model_device}"
        )
        return f"plan {self.kind}: {roles} ({'; '.join(names)}; {memory})"

    @property
    def _devices(self) -> list[str]:
        return list(dict.fromkeys((self.data_device, self.model_device)))


def require_tensorflow() -> Any:
    """The tensorflow module, or an error that says how to install it."""
    if find_spec("tensorflow") is None:
        raise UserError(
            "TensorFlow is not installed",
            follows="nothing can be trained, spoken or measured",
            remedy='pip install "myxtts[cpu]" (without a GPU) or pip install "myxtts[gpu]"',
        )
    with _quiet_import():
        import tensorflow

    return tensorflow


@contextmanager
def _quiet_import() -> Iterator[None]:
    """TensorFlow's native libraries write notices to descriptor 2 that no setting turns off."""
    if "tensorflow" in sys.modules or os.environ.get("MYXTTS_DEBUG"):
        yield
        return
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def place(data: DataConfig) -> DevicePlan:
    """Tell TensorFlow which devices to use; the first thing that a run does with it."""
    tf = require_tensorflow()
    if data.virtual_gpus:
        return _place_virtual(tf, data)
    gpus = tf.config.list_physical_devices("GPU")
    if data.data_gpu is None or data.model_gpu is None:
        return _place_one(tf, gpus)
    return _place_dual(tf, gpus, data)


def _place_virtual(tf: Any, data: DataConfig) -> DevicePlan:
    """Logical CPU devices in the place of GPUs: the same code paths, none of the speed."""
    _check_indices(data, data.virtual_gpus, "virtual GPUs")
    cpu = tf.config.list_physical_devices("CPU")[0]
    already = tf.config.get_logical_device_configuration(cpu) or []
    if len(already) < data.virtual_gpus:
        # A logical CPU device takes no memory limit: isolation is rehearsed, not enforced.
        logical = [tf.config.LogicalDeviceConfiguration() for _ in range(data.virtual_gpus)]
        _before_start(tf.config.set_logical_device_configuration, cpu, logical)
    names = {f"/CPU:{i}": f"virtual GPU {i} (logical CPU device)" for i in range(data.virtual_gpus)}
    if data.data_gpu is None or data.model_gpu is None:
        return DevicePlan("one", "/CPU:0", "/CPU:0", virtual=True, mapping=names)
    return DevicePlan(
        "dual",
        f"/CPU:{data.data_gpu}",
        f"/CPU:{data.model_gpu}",
        virtual=True,
        isolated=data.enable_memory_isolation,
        mapping=names,
    )


def _place_one(tf: Any, gpus: list[PhysicalDevice]) -> DevicePlan:
    if not gpus:
        return DevicePlan("one", "/CPU:0", "/CPU:0", mapping={"/CPU:0": "the CPU"})
    # The other GPUs stay invisible: TensorFlow would take memory on each of them.
    _before_start(tf.config.set_visible_devices, gpus[:1], "GPU")
    _before_start(tf.config.experimental.set_memory_growth, gpus[0], True)
    return DevicePlan("one", "/GPU:0", "/GPU:0", mapping={"/GPU:0": "physical GPU 0"})


def _place_dual(tf: Any, gpus: list[PhysicalDevice], data: DataConfig) -> DevicePlan:
    if len(gpus) < 2:
        raise UserError(
            f"Dual-device mode needs at least 2 GPUs, found {len(gpus)}",
            received=f"data_gpu: {data.data_gpu}, model_gpu: {data.model_gpu}",
            remedy="train on one device (leave out --data-gpu and --model-gpu), "
            "or rehearse with --virtual-gpus 2",
        )
    _check_indices(data, len(gpus), "GPUs")
    assert data.data_gpu is not None and data.model_gpu is not None
    # Whatever order is asked for, TensorFlow numbers visible GPUs in physical order.
    physical = sorted((data.data_gpu, data.model_gpu))
    logical = {index: f"/GPU:{position}" for position, index in enumerate(physical)}
    _before_start(tf.config.set_visible_devices, [gpus[index] for index in physical], "GPU")
    limits = _limits(data) if data.enable_memory_isolation else {}
    for index in physical:
        # Growth and a limit exclude each other, and a limit on one GPU ends growth on all.
        if limits:
            limit = tf.config.LogicalDeviceConfiguration(memory_limit=limits[index])
            _before_start(tf.config.set_logical_device_configuration, gpus[index], [limit])
        else:
            _before_start(tf.config.experimental.set_memory_growth, gpus[index], True)
    return DevicePlan(
        "dual",
        logical[data.data_gpu],
        logical[data.model_gpu],
        isolated=bool(limits),
        mapping={
            logical[index]: f"physical GPU {index}"
            + (f", limited to {limits[index]} MB" if limits else "")
            for index in physical
        },
    )


def _check_indices(data: DataConfig, count: int, what: str) -> None:
    for flag, index in (("--data-gpu", data.data_gpu), ("--model-gpu", data.model_gpu)):
        if index is not None and index >= count:
            raise UsageError(
                f"{flag} {index} is out of range: there are {count} {what}",
                received=f"{flag} {index}",
                remedy=f"choose two of 0 to {count - 1}"
                if count > 1
                else "leave out --data-gpu and --model-gpu",
            )


def _limits(data: DataConfig) -> dict[int, int]:
    """MB per physical GPU: as told, or by the card's memory."""
    assert data.data_gpu is not None and data.model_gpu is not None
    totals = _memory_totals()
    limits = {}
    told = {data.data_gpu: data.data_gpu_memory, data.model_gpu: data.model_gpu_memory}
    for role, (index, limit) in enumerate(told.items()):
        total = totals.get(index)
        limits[index] = limit or _default_limit(index, total, role)
        if total is not None and limits[index] > total - HEADROOM_MB:
            raise UsageError(
                f"A memory limit must leave {HEADROOM_MB} MB of the card free",
                received=f"{limits[index]} MB on GPU {index}, which has {total} MB",
                remedy=f"a limit of at most {total - HEADROOM_MB} MB",
            )
    return limits


def _default_limit(index: int, total: int | None, role: int) -> int:
    if total is None:
        raise UsageError(
            f"The memory of GPU {index} cannot be read, so its limit cannot be chosen",
            remedy="add --data-gpu-memory MB and --model-gpu-memory MB",
        )
    fitting = [gb for gb in DEFAULT_LIMITS_MB if gb * 1000 <= total]
    if not fitting:
        return total - HEADROOM_MB
    return min(DEFAULT_LIMITS_MB[fitting[-1]][role], total - HEADROOM_MB)


def _memory_totals() -> dict[int, int]:
    """MB of each physical GPU as NVML knows it; empty without a driver."""
    from myxtts.telemetry.gpu import memory_totals_mb

    return memory_totals_mb()


def _before_start(call: Any, *arguments: object) -> None:
    try:
        call(*arguments)
    except RuntimeError as error:
        raise UserError(
            "Devices must be chosen before TensorFlow starts",
            received=str(error),
            follows="the plan cannot be changed in this process any more",
            remedy="call myxtts.devices.place before any other TensorFlow call",
        ) from error
