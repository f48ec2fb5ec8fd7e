"""Which validation was the best so far, and when to stop waiting for a better one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self


class BestSoFar:
    """Lives in the training thread; each checkpoint carries it along."""

    def __init__(
        self, patience: int, step: int | None = None, loss: float | None = None, stale: int = 0
    ) -> None:
        self.patience = patience
        """Validations without improvement before training stops; 0: it never does."""
        self.step = step
        self.loss = loss
        self.stale = stale
        """Validations since the best one."""

    @classmethod
    def remembered(cls, patience: int, info: Mapping[str, Any]) -> Self:
        """As a checkpoint's info describes it; new when it says nothing."""
        return cls(patience, **(info.get("best") or {}))

    def as_json(self) -> dict[str, Any]:
        """For a checkpoint's info."""
        return {"step": self.step, "loss": self.loss, "stale": self.stale}

    def saw(self, step: int, loss: float) -> bool:
        """Note a validation; True when none was better. A loss that is no number never is."""
        if loss < (float("inf") if self.loss is None else self.loss):
            self.step, self.loss, self.stale = step, loss, 0
            return True
        self.stale += 1
        return False

    @property
    def exhausted(self) -> bool:
        """The patience is at its end."""
        return self.patience > 0 and self.stale >= self.patience
