"""What a user can correct, and how a program ends.

Every mistake that a user can make is raised as a `UserError`: the rule that was broken, what was
received, what follows from it and what to type. The command line prints it without a traceback.
This module does not print and does not exit.
"""

from __future__ import annotations

GOOD = 0
MUST_FIX = 1
WRONG_USAGE = 2
COULD_NOT_MEASURE = 3


class UserError(Exception):
    """Something the user must fix before the work can go on."""

    exit_code = MUST_FIX

    def __init__(
        self, rule: str, *, received: object = None, follows: str = "", remedy: str = ""
    ) -> None:
        super().__init__(rule)
        self.rule = rule
        self.received = received
        self.follows = follows
        self.remedy = remedy

    def __str__(self) -> str:
        lines = [self.rule]
        if self.received is not None:
            lines.append(f"  received: {self.received}")
        if self.follows:
            lines.append(f"  so:       {self.follows}")
        if self.remedy:
            lines.append(f"  try:      {self.remedy}")
        return "\n".join(lines)


class UsageError(UserError):
    """The command or the configuration says something that cannot be meant."""

    exit_code = WRONG_USAGE


class MeasurementError(UserError):
    """The command was right, but here and now nothing could be measured."""

    exit_code = COULD_NOT_MEASURE
