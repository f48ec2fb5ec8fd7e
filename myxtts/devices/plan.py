"""The device plan: logical devices, their roles, and what they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from myxtts.devices.links import Link

PlanKind = Literal["one", "dual", "replicas"]


@dataclass(frozen=True)
class DevicePlan:
    """Logical devices of a run, as TensorFlow names them."""

    kind: PlanKind
    data_device: str
    model_device: str
    """With replicas the first of them: it holds the whole batch and speaks the samples."""
    virtual: bool = False
    isolated: bool = False
    mapping: Mapping[str, str] = field(default_factory=dict)
    """What each logical device is: "/GPU:0" -> "physical GPU 2"."""
    replicas: tuple[str, ...] = ()
    """Devices that train together, each on its share of a batch; empty in the other plans."""
    links: tuple[Link, ...] = ()
    """How the GPUs of the plan are joined."""
    trials: Mapping[PlanKind, float | None] = field(default_factory=dict)
    """What `auto` measured: useful frames a second of each plan; None: it did not run."""

    def describe(self) -> str:
        """One line for the log."""
        names = [f"{logical} is {self.mapping.get(logical, logical)}" for logical in self.devices]
        memory = "own memory limits" if self.isolated else "memory grows as needed"
        facts = [*names, memory, *(link.describe() for link in self.links)]
        return f"plan {self.kind}: {self._roles()} ({'; '.join(facts)})"

    @property
    def devices(self) -> list[str]:
        """Every device that the plan uses, once."""
        return list(dict.fromkeys((self.data_device, self.model_device, *self.replicas)))

    def _roles(self) -> str:
        if self.kind == "dual":
            return f"data on {self.data_device}, model on {self.model_device}"
        if self.kind == "replicas":
            return f"each batch is divided over {', '.join(self.replicas)}"
        return f"everything on {self.model_device}"
