"""Placement: the configuration becomes a `DevicePlan`, and TensorFlow is told.

TensorFlow accepts that only before it has started. One device, two GPUs with a role each, all GPUs
with the same role, or logical CPU devices standing in for GPUs; a plan that the machine cannot
carry out is refused, never replaced in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from myxtts.config import DataConfig
from myxtts.devices import links
from myxtts.devices.limits import limits_mb
from myxtts.devices.plan import DevicePlan
from myxtts.devices.starting import before_start, require_tensorflow
from myxtts.errors import UsageError, UserError

if TYPE_CHECKING:
    from tensorflow.config import PhysicalDevice


def place(data: DataConfig) -> DevicePlan:
    """Tell TensorFlow which devices to use; the first thing that a run does with it.

    `device_plan: auto` is settled before by `training.plan_trials`; unsettled it means `default`.
    """
    tf = require_tensorflow()
    if data.virtual_gpus:
        return _place_virtual(tf, data)
    gpus = tf.config.list_physical_devices("GPU")
    if data.device_plan == "replicas":
        return _place_replicas(tf, gpus, data)
    if data.data_gpu is None or data.model_gpu is None:
        return _place_one(tf, gpus)
    return _place_dual(tf, gpus, data)


def _place_virtual(tf: Any, data: DataConfig) -> DevicePlan:
    """Logical CPU devices in the place of GPUs: the same code paths, none of the speed."""
    _check_indices(data, data.virtual_gpus, "virtual GPUs")
    if data.device_plan == "replicas":
        _check_enough_replicas(data.virtual_gpus, "virtual GPUs")
    cpu = tf.config.list_physical_devices("CPU")[0]
    already = tf.config.get_logical_device_configuration(cpu) or []
    if len(already) < data.virtual_gpus:
        # A logical CPU device takes no memory limit: isolation is rehearsed, not enforced.
        logical = [tf.config.LogicalDeviceConfiguration() for _ in range(data.virtual_gpus)]
        before_start(tf.config.set_logical_device_configuration, cpu, logical)
    names = {f"/CPU:{i}": f"virtual GPU {i} (logical CPU device)" for i in range(data.virtual_gpus)}
    if data.device_plan == "replicas":
        shares = tuple(f"/CPU:{i}" for i in _replica_indices(data, data.virtual_gpus))
        return DevicePlan(
            "replicas", shares[0], shares[0], virtual=True, mapping=names, replicas=shares
        )
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
    before_start(tf.config.set_visible_devices, gpus[:1], "GPU")
    before_start(tf.config.experimental.set_memory_growth, gpus[0], True)
    return DevicePlan("one", "/GPU:0", "/GPU:0", mapping={"/GPU:0": "physical GPU 0"})


def _place_dual(tf: Any, gpus: list[PhysicalDevice], data: DataConfig) -> DevicePlan:
    if len(gpus) < 2:
        raise UserError(
            f"Dual-device mode needs at least 2 GPUs, found {len(gpus)}",
            received=f"data_gpu: {data.data_gpu}, model_gpu: {data.model_gpu}",
            follows="nothing is trained: one device in the place of two would be another run",
            remedy="train on one device (leave out --data-gpu and --model-gpu), "
            "or rehearse with --virtual-gpus 2",
        )
    _check_indices(data, len(gpus), "GPUs")
    assert data.data_gpu is not None and data.model_gpu is not None
    limits = limits_mb(data) if data.enable_memory_isolation else {}
    # Whatever order is asked for, TensorFlow numbers visible GPUs in physical order.
    physical = sorted((data.data_gpu, data.model_gpu))
    logical = {index: f"/GPU:{position}" for position, index in enumerate(physical)}
    before_start(tf.config.set_visible_devices, [gpus[index] for index in physical], "GPU")
    for index in physical:
        # Growth and a limit exclude each other, and a limit on one GPU ends growth on all.
        if limits:
            limit = tf.config.LogicalDeviceConfiguration(memory_limit=limits[index])
            before_start(tf.config.set_logical_device_configuration, gpus[index], [limit])
        else:
            before_start(tf.config.experimental.set_memory_growth, gpus[index], True)
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
        links=links.between(physical),
    )


def _place_replicas(tf: Any, gpus: list[PhysicalDevice], data: DataConfig) -> DevicePlan:
    _check_enough_replicas(len(gpus), "GPUs")
    _check_indices(data, len(gpus), "GPUs")
    physical = _replica_indices(data, len(gpus))
    before_start(tf.config.set_visible_devices, [gpus[index] for index in physical], "GPU")
    for index in physical:
        before_start(tf.config.experimental.set_memory_growth, gpus[index], True)
    logical = tuple(f"/GPU:{position}" for position in range(len(physical)))
    return DevicePlan(
        "replicas",
        logical[0],
        logical[0],
        mapping={
            name: f"physical GPU {index}" for name, index in zip(logical, physical, strict=True)
        },
        replicas=logical,
        links=links.between(physical),
    )


def _replica_indices(data: DataConfig, count: int) -> Sequence[int]:
    """The two GPUs that are named, or all there are, in physical order."""
    if data.data_gpu is None or data.model_gpu is None:
        return range(count)
    return sorted((data.data_gpu, data.model_gpu))


def _check_enough_replicas(count: int, what: str) -> None:
    if count < 2:
        raise UserError(
            f"The plan replicas needs at least 2 {what}, found {count}",
            received="device_plan: replicas",
            follows="there is nothing to divide a batch over",
            remedy="--plan one, or rehearse with --virtual-gpus 2",
        )


def _check_indices(data: DataConfig, count: int, what: str) -> None:
    for flag, index in (("--data-gpu", data.data_gpu), ("--model-gpu", data.model_gpu)):
        if index is not None and index >= count:
            raise UsageError(
                f"{flag} {index} is out of range: there are {count} {what}",
                received=f"{flag} {index}",
                follows="no other device is taken in its place",
                remedy=f"choose two of 0 to {count - 1}"
                if count > 1
                else "leave out --data-gpu and --model-gpu",
            )
