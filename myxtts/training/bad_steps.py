"""What to do about steps whose loss is not a number: skip them, go back, or stop.

A single bad step is skipped. Several in a row mean that the weights, and not a clip, are at fault:
then the run goes back to a checkpoint from before. When the same stretch is bad once more, going
back does not help, and the run ends. Skipping and going back are done by `loop`.
"""

from __future__ import annotations

from typing import Literal

Verdict = Literal["skip", "back", "stop"]


class BadSteps:
    """Counts bad steps in a row; used by the thread that trains."""

    def __init__(self, most: int) -> None:
        self.most = most
        """So many in a row are too many (training.max_bad_steps)."""
        self.first: int | None = None
        """Where the stretch of bad steps begins; None: the last step was good."""
        self._count = 0
        self._went_back_from = -1

    def good(self) -> None:
        """A step had a loss."""
        self.first, self._count = None, 0

    def bad(self, step: int) -> Verdict:
        """The loss of `step` is not a number."""
        self.first = step if self.first is None else self.first
        self._count += 1
        if self._count < self.most:
            return "skip"
        return "stop" if self.first <= self._went_back_from else "back"

    def went_back(self, step: int) -> None:
        """The run leaves `step` for a checkpoint from before `first`."""
        self._went_back_from = step
        self.good()
