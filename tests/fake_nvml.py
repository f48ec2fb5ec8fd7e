"""A stand-in for the `pynvml` module: two cards, any metric of which may be missing or lost."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

GPU_IS_LOST = 15
NOT_SUPPORTED = 3
DRIVER_NOT_LOADED = 9


class FakeNvml:
    """`missing` names calls that a card does not support; `lost` maps an index to the sample
    after which the card is gone."""

    NVML_P2P_CAPS_INDEX_READ = 0

    class NVMLError(Exception):
        def __init__(self, value: int) -> None:
            super().__init__(f"NVML error {value}")
            self.value = value

    def __init__(
        self,
        cards: int = 2,
        missing: tuple[str, ...] = (),
        lost: dict[int, int] | None = None,
        driver: bool = True,
        ancestor: int = 40,
        memory_mb: Sequence[int] = (),
        peer: int = 1,
        dead: bool = False,
    ) -> None:
        """`dead`: the driver is gone when the first question is asked."""
        self.dead = dead
        self.cards, self.missing, self.lost, self.has_driver = cards, missing, lost or {}, driver
        self.ancestor, self.peer = ancestor, peer
        self.memory_mb = memory_mb or [24 * 2**10] * cards
        self.samples = [0] * cards
        self.open = False

    def nvmlInit(self) -> None:
        if not self.has_driver:
            raise self.NVMLError(DRIVER_NOT_LOADED)
        self.open = True

    def nvmlShutdown(self) -> None:
        self.open = False

    def nvmlDeviceGetCount(self) -> int:
        return self._answer("count", self.cards)

    def nvmlSystemGetDriverVersion(self) -> bytes:
        return self._answer("driver", b"550.54")

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        if index >= self.cards:
            raise self.NVMLError(2)
        return index

    def nvmlDeviceGetName(self, handle: int) -> str:
        return self._answer("name", "Test Card")

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:
        total = self.memory_mb[handle] * 2**20
        return self._answer("memory", SimpleNamespace(used=3 * 2**30, total=total))

    def nvmlDeviceGetUtilizationRates(self, handle: int) -> Any:
        self.samples[handle] += 1
        if self.samples[handle] > self.lost.get(handle, 10**9):
            raise self.NVMLError(GPU_IS_LOST)
        return self._answer("utilization", SimpleNamespace(gpu=73, memory=10))

    def nvmlDeviceGetPowerUsage(self, handle: int) -> int:
        return self._answer("power", 210_500)

    def nvmlDeviceGetTopologyCommonAncestor(self, a: int, b: int) -> int:
        return self._answer("topology", self.ancestor)

    def nvmlDeviceGetP2PStatus(self, a: int, b: int, caps: int) -> int:
        return self._answer("peer", self.peer)

    def _answer(self, metric: str, value: Any) -> Any:
        if self.dead:
            raise self.NVMLError(DRIVER_NOT_LOADED)
        if metric in self.missing:
            raise self.NVMLError(NOT_SUPPORTED)
        return value
