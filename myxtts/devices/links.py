"""How GPUs are joined: their distance on the bus, and whether one reads the other's memory.

Answers come from NVML and may be missing; nothing here needs TensorFlow.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from myxtts.telemetry.gpu import Nvml, open_nvml, peer_to_peer, topology

_SLOW = {
    "NODE": "slow: copies cross the PCIe bridges of a CPU",
    "SYS": "slow: copies cross from one CPU socket to the other",
}


@dataclass(frozen=True)
class Link:
    """How two GPUs reach each other; None: the driver does not say."""

    a: int
    b: int
    topology: str | None
    """In `nvidia-smi topo`'s words: PIX, PXB, PHB, NODE or SYS, nearest first."""
    peer_to_peer: bool | None

    def describe(self) -> str:
        """Words for the log."""
        near = self.topology or "topology N/A"
        if self.topology in _SLOW:
            near += f" ({_SLOW[self.topology]})"
        peer = {
            True: "peer-to-peer",
            False: "no peer-to-peer: copies go over the host's memory",
            None: "peer-to-peer N/A",
        }[self.peer_to_peer]
        return f"GPU {self.a} to GPU {self.b}: {near}, {peer}"


def link(nvml: Nvml, a: int, b: int) -> Link:
    """Between two GPUs, by the driver's numbers."""
    return Link(a, b, topology(nvml, a, b), peer_to_peer(nvml, a, b))


def between(indices: Sequence[int]) -> tuple[Link, ...]:
    """Between all pairs of these GPUs; empty without a driver that answers."""
    nvml = open_nvml()
    if nvml is None:
        return ()
    with nvml:
        pairs = combinations(map(driver_index, indices), 2)
        return tuple(link(nvml, a, b) for a, b in pairs)


def driver_index(index: int) -> int:
    """The driver's number of the GPU that TensorFlow numbers `index`.

    They differ when CUDA_VISIBLE_DEVICES shows TensorFlow only some of the cards. Cards named
    there by UUID are taken in the driver's order.
    """
    shown = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    if index < len(shown) and shown[index].strip().isdecimal():
        return int(shown[index])
    return index
