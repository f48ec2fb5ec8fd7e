"""What the machine has: cores, memory, TensorFlow, GPUs, driver, and how two GPUs are joined.

Everything here is read without importing TensorFlow, except `tensorflow_gpus`.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from myxtts.devices import Link, require_tensorflow
from myxtts.devices.links import link
from myxtts.telemetry.gpu import GpuInfo, open_nvml
from myxtts.telemetry.run_log import machine
from myxtts.tools.findings import Change, Finding

_WHEELS = ("tensorflow", "tensorflow-cpu")


@dataclass(frozen=True)
class Environment:
    """A machine as a tool sees it."""

    cpu: str
    cores: int
    memory_gb: float
    python: str
    tensorflow: str | None
    """Installed version, or None."""
    driver: str | None
    gpus: tuple[GpuInfo, ...]
    links: tuple[Link, ...]
    no_gpu_reason: str | None
    visible_devices: str | None
    """CUDA_VISIBLE_DEVICES, when it is set."""

    @property
    def gpu_memory_mb(self) -> list[int]:
        """MB of each GPU that says how much it has."""
        return [gpu.memory_total_mb for gpu in self.gpus if gpu.memory_total_mb is not None]

    def as_json(self) -> dict[str, Any]:
        """Plain data, for `--json`."""
        return asdict(self)


def environment(nvml_library: Any | None = None) -> Environment:
    """Look around; `nvml_library` replaces NVML in tests."""
    reasons: list[str] = []
    nvml = open_nvml(reasons.append, nvml_library)
    driver, gpus, links = None, [], []
    if nvml is not None:
        with nvml:
            driver, gpus = nvml.driver(), nvml.gpus()
            links = [
                link(nvml, a.index, b.index)
                for position, a in enumerate(gpus)
                for b in gpus[position + 1 :]
            ]
        if not gpus:
            reasons.append("the driver shows no GPU")
    host = machine()
    return Environment(
        cpu=host["cpu"],
        cores=host["cores"],
        memory_gb=host["memory_gb"],
        python=host["python"],
        tensorflow=_tensorflow_version(),
        driver=driver,
        gpus=tuple(gpus),
        links=tuple(links),
        no_gpu_reason=reasons[0] if reasons else None,
        visible_devices=os.environ.get("CUDA_VISIBLE_DEVICES"),
    )


def prerequisites(found: Environment, seen_by_tensorflow: int | None) -> list[Finding]:
    """What is missing before anything can run on a GPU, or at all."""
    findings = []
    if found.tensorflow is None:
        change = Change(command='pip install "myxtts[gpu]" (without a GPU: "myxtts[cpu]")')
        findings.append(Finding("tensorflow_missing", "fix", {}, None, change))
    if not found.gpus:
        change = Change(command="nvidia-smi must list the GPUs; rehearse with --virtual-gpus 2")
        findings.append(Finding("no_gpu", "note", {"reason": found.no_gpu_reason}, None, change))
    elif seen_by_tensorflow is not None and seen_by_tensorflow < len(found.gpus):
        evidence = {"driver": len(found.gpus), "tensorflow": seen_by_tensorflow}
        change = Change(command='pip install "myxtts[gpu]", and look at CUDA_VISIBLE_DEVICES')
        findings.append(Finding("gpu_not_seen", "fix", evidence, None, change))
    return findings


def tensorflow_gpus() -> int | None:
    """GPUs that TensorFlow sees; None when it is not installed. Imports TensorFlow."""
    if _tensorflow_version() is None:
        return None
    return len(require_tensorflow().config.list_physical_devices("GPU"))


def _tensorflow_version() -> str | None:
    for wheel in _WHEELS:
        try:
            return metadata.version(wheel)
        except metadata.PackageNotFoundError:
            continue
    return None
