"""What the GPUs do while a run goes on, read through NVML in a thread of its own.

A metric that a card does not report is None (N/A), never an exception and never a zero. The NVML
library (`nvidia-ml-py`) is imported when it is first asked for and can be replaced by a fake one.
Placing work on GPUs is `devices`' job; judging the samples is `tools`'.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

MB = 2**20
STOP_SECONDS = 5.0
"""How long `stop` waits for a driver that does not answer before it leaves the thread behind."""

# NVML's codes for a card, or a driver, that is gone and will not come back within the run.
_GONE = {1: "NVML was shut down", 9: "the driver is not loaded", 15: "the GPU is lost",
         16: "the GPU needs a reset"}  # fmt: skip
# NVML's common-ancestor levels under the names that `nvidia-smi topo` prints, nearest first.
_TOPOLOGY = {0: "X", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}

Value = TypeVar("Value")


class GpuLost(Exception):
    """A GPU stopped answering; its sampling is over."""


@dataclass(frozen=True)
class GpuInfo:
    """A card as it is, whatever it does."""

    index: int
    """Physical index, as `nvidia-smi` counts."""
    name: str | None
    memory_total_mb: int | None


@dataclass(frozen=True)
class GpuSample:
    """A card at one moment; None: the card does not say."""

    index: int
    name: str | None
    utilization: float | None
    """Percent of the last interval in which a kernel ran, 0–100."""
    memory_used_mb: int | None
    memory_total_mb: int | None
    power_w: float | None


class Nvml:
    """The few questions we ask of NVML; every answer may be None."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._handles: dict[int, Any] = {}

    def count(self) -> int:
        """How many GPUs the driver shows."""
        return self._ask(self._library.nvmlDeviceGetCount) or 0

    def driver(self) -> str | None:
        """The driver's version."""
        try:
            return _text(self._ask(self._library.nvmlSystemGetDriverVersion))
        except GpuLost:
            return None

    def gpus(self) -> list[GpuInfo]:
        """All cards that answer; none when the driver itself is gone."""
        found = []
        with contextlib.suppress(GpuLost):
            for index in range(self.count()):
                with contextlib.suppress(GpuLost):
                    found.append(self.info(index))
        return found

    def info(self, index: int) -> GpuInfo:
        """Name and memory of one card; raises `GpuLost`."""
        handle = self._handle(index)
        name = _text(self._ask(self._library.nvmlDeviceGetName, handle))
        memory = self._ask(self._library.nvmlDeviceGetMemoryInfo, handle)
        return GpuInfo(index, name, memory and memory.total // MB)

    def sample(self, index: int) -> GpuSample:
        """What one card does now; raises `GpuLost`."""
        handle, library = self._handle(index), self._library
        rates = self._ask(library.nvmlDeviceGetUtilizationRates, handle)
        memory = self._ask(library.nvmlDeviceGetMemoryInfo, handle)
        milliwatts = self._ask(library.nvmlDeviceGetPowerUsage, handle)
        return GpuSample(
            index=index,
            name=_text(self._ask(library.nvmlDeviceGetName, handle)),
            utilization=None if rates is None else float(rates.gpu),
            memory_used_mb=memory and memory.used // MB,
            memory_total_mb=memory and memory.total // MB,
            power_w=None if milliwatts is None else milliwatts / 1000,
        )

    def common_ancestor(self, a: int, b: int) -> int | None:
        """NVML's number for how near two cards are on the bus."""
        call = self._library.nvmlDeviceGetTopologyCommonAncestor
        return self._ask(call, self._handle(a), self._handle(b))

    def peer_status(self, a: int, b: int) -> int | None:
        """NVML's number for reads of one card from the other; 0: they work."""
        library = self._library
        caps = library.NVML_P2P_CAPS_INDEX_READ
        return self._ask(library.nvmlDeviceGetP2PStatus, self._handle(a), self._handle(b), caps)

    def close(self) -> None:
        """Let go of the driver."""
        with contextlib.suppress(self._library.NVMLError):  # the driver may already be gone
            self._library.nvmlShutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _handle(self, index: int) -> Any:
        if index not in self._handles:
            handle = self._ask(self._library.nvmlDeviceGetHandleByIndex, index)
            if handle is None:
                raise GpuLost(f"GPU {index}: there is no such GPU")
            self._handles[index] = handle
        return self._handles[index]

    def _ask(self, call: Callable[..., Value], *arguments: Any) -> Value | None:
        try:
            return call(*arguments)
        except self._library.NVMLError as error:
            code = getattr(error, "value", None)
            if code in _GONE:
                raise GpuLost(_GONE[code]) from error
            return None


def open_nvml(
    on_absence: Callable[[str], None] | None = None, library: Any | None = None
) -> Nvml | None:
    """NVML when a driver answers; otherwise None, and `on_absence` hears why."""
    tell = on_absence or (lambda _: None)
    if library is None:
        try:
            library = importlib.import_module("pynvml")
        except ImportError:
            tell("nvidia-ml-py is not installed")
            return None
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        tell(f"no NVIDIA driver answers ({error})")
        return None
    return Nvml(library)


def memory_totals_mb() -> dict[int, int]:
    """MB of each physical GPU that says how much it has; empty without a driver."""
    nvml = open_nvml()
    if nvml is None:
        return {}
    with nvml:
        gpus = nvml.gpus()
    return {gpu.index: gpu.memory_total_mb for gpu in gpus if gpu.memory_total_mb is not None}


def topology(nvml: Nvml, a: int, b: int) -> str | None:
    """How two cards are joined, in `nvidia-smi`'s words: PIX, PXB, PHB, NODE or SYS."""
    try:
        level = nvml.common_ancestor(a, b)
    except GpuLost:
        return None
    return None if level is None else _TOPOLOGY.get(level)


def peer_to_peer(nvml: Nvml, a: int, b: int) -> bool | None:
    """Whether one card reads the other's memory directly; None: the driver does not say."""
    try:
        status = nvml.peer_status(a, b)
    except GpuLost:
        return None
    return None if status is None else status == 0


class GpuSampler:
    """Samples GPUs in a daemon thread and hands each sample to `on_sample` in that thread.

    Nothing that goes wrong here reaches training: a lost GPU ends its own sampling and a failing
    `on_sample` ends all of it, each with one notice.
    """

    def __init__(
        self,
        nvml: Nvml,
        on_sample: Callable[[GpuSample], None],
        interval: float = 0.5,
        *,
        indices: Sequence[int] | None = None,
        on_notice: Callable[[str], None] | None = None,
        on_lost: Callable[[int, str], None] | None = None,
    ) -> None:
        """`on_lost` hears the index of a card that is gone, and why, before the notice."""
        self._nvml = nvml
        self._on_sample = on_sample
        self._interval = interval
        self._indices = indices
        self._on_notice = on_notice or (lambda _: None)
        self._on_lost = on_lost or (lambda _index, _why: None)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gpu-sampler", daemon=True)

    def start(self) -> Self:
        """Begin; the first samples are taken at once."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End; may be called twice, or without a start."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            active = list(range(self._nvml.count()) if self._indices is None else self._indices)
            while active:
                active = [index for index in active if self._sampled(index)]
                if self._stopping.wait(self._interval):
                    return
        except Exception as error:  # sampling must never cost a training run
            self._notice(f"GPU sampling ended: {error}")

    def _sampled(self, index: int) -> bool:
        try:
            sample = self._nvml.sample(index)
        except GpuLost as lost:
            self._on_lost(index, str(lost))
            self._notice(f"GPU {index} is not sampled any more: {lost}")
            return False
        self._on_sample(sample)
        return True

    def _notice(self, notice: str) -> None:
        with contextlib.suppress(Exception):  # a listener that fails has no one left to tell
            self._on_notice(notice)


def _text(value: str | bytes | None) -> str | None:
    return value.decode() if isinstance(value, bytes) else value
