"""TensorFlow's settings for throughput: set each one, then read each one back.

They hold for the process that sets them; training sets its own at its start, so what this shows is
that they take on this machine. Which devices and how much memory is `devices`' decision, the
tf.data options are `data.dataset_optimizer`'s, the precision is `training.precision`'s.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from myxtts.config import Config
from myxtts.devices import DevicePlan, place, require_tensorflow
from myxtts.tools.findings import Change, Finding

GPU_VARIABLES = {"TF_GPU_THREAD_MODE": "gpu_private", "TF_GPU_THREAD_COUNT": "2"}
"""Kernels are launched from threads that nothing else uses; read when TensorFlow starts a GPU."""


@dataclass(frozen=True)
class Knob:
    """One setting that was applied, and how to read it back."""

    name: str
    wanted: str | None
    """None: left alone here, for the reason in `note`."""
    read: Callable[[], object]
    note: str = ""


@dataclass(frozen=True)
class Setting:
    """One setting, read back."""

    name: str
    wanted: str | None
    found: str
    note: str

    @property
    def taken(self) -> bool:
        return self.wanted is None or self.wanted == self.found


def apply(config: Config, cores: int) -> list[Knob]:
    """Set everything; call it before TensorFlow has started."""
    os.environ.update(GPU_VARIABLES)
    require_tensorflow()
    knobs = [
        Knob(name, value, partial(os.environ.get, name)) for name, value in GPU_VARIABLES.items()
    ]
    pools = _thread_pools(config, cores)
    plan = place(config.data)
    return [*knobs, *pools, *_memory(config, plan), _xla(config, plan), _precision(config, plan)]


def verify(knobs: list[Knob]) -> list[Setting]:
    """Start TensorFlow and read every setting back."""
    import tensorflow as tf

    tf.constant(0)
    return [Setting(knob.name, knob.wanted, str(knob.read()), knob.note) for knob in knobs]


def not_taken(settings: list[Setting]) -> list[Finding]:
    """A finding for each setting that reads back as something else."""
    return [
        Finding(
            "setting_not_taken",
            "fix",
            {"name": one.name, "wanted": one.wanted, "found": one.found},
            None,
            Change(command="run it in a fresh process, before TensorFlow has started"),
        )
        for one in settings
        if not one.taken
    ]


def _thread_pools(config: Config, cores: int) -> list[Knob]:
    import tensorflow as tf

    from myxtts.data.dataset_optimizer import configure_tensorflow_for_max_throughput

    workers = config.data.num_workers or cores
    inter = max(2, cores)  # with one, two stages of a pipeline run one after the other
    options = configure_tensorflow_for_max_throughput(
        num_workers=workers, intra_op_threads=cores, inter_op_threads=inter
    )
    threading = tf.config.threading
    return [
        Knob("intra-op threads", str(cores), threading.get_intra_op_parallelism_threads),
        Knob("inter-op threads", str(inter), threading.get_inter_op_parallelism_threads),
        *(
            Knob(f"tf.data {name}", wanted, partial(_option, options, name))
            for name, wanted in {
                "threading.private_threadpool_size": str(workers),
                "threading.max_intra_op_parallelism": "1",
                "deterministic": "True",
                "autotune.enabled": "True",
            }.items()
        ),
    ]


def _memory(config: Config, plan: DevicePlan) -> list[Knob]:
    import tensorflow as tf

    gpus = tf.config.get_visible_devices("GPU")
    if plan.virtual or not gpus:
        return [Knob("GPU memory", None, lambda: "no GPU", "applies to GPUs only")]
    if not plan.isolated:
        growth = tf.config.experimental.get_memory_growth
        return [Knob(f"memory growth of {gpu.name}", "True", partial(growth, gpu)) for gpu in gpus]
    told = config.data
    return [
        Knob(f"memory limit of {role} GPU", _megabytes(wanted), partial(_limit, device))
        for role, device, wanted in (
            ("the data", plan.data_device, told.data_gpu_memory),
            ("the model", plan.model_device, told.model_gpu_memory),
        )
    ]


def _xla(config: Config, plan: DevicePlan) -> Knob:
    import tensorflow as tf

    optimizer = tf.config.optimizer
    wanted = config.data.enable_xla
    if wanted == "auto" and "GPU" not in plan.model_device:
        note = "auto: every run measures with and without it and keeps the faster"
        return Knob("XLA", None, lambda: optimizer.get_jit() or "off", note)
    optimizer.set_jit("autoclustering" if wanted else "")
    return Knob("XLA", "autoclustering" if wanted else "off", lambda: optimizer.get_jit() or "off")


def _precision(config: Config, plan: DevicePlan) -> Knob:
    import keras

    from myxtts.training import precision

    policy = precision.policy(config, plan.model_device)
    keras.config.set_dtype_policy(policy)
    return Knob("precision", policy, lambda: keras.config.dtype_policy().name)


def _limit(device: str) -> str:
    import tensorflow as tf

    gpu = tf.config.get_visible_devices("GPU")[int(device.rpartition(":")[2])]
    logical = tf.config.get_logical_device_configuration(gpu)
    return str(_megabytes(logical[0].memory_limit) if logical else "no limit")


def _megabytes(limit: int | None) -> str | None:
    return None if limit is None else f"{limit:.0f} MB"


def _option(options: Any, name: str) -> object:
    for part in name.split("."):
        options = getattr(options, part)
    return options
