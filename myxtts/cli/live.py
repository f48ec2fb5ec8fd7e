"""How a run looks while it runs: a live table on a terminal, plain lines everywhere else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self, TextIO

from myxtts.cli.console import stderr

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table

    from myxtts.telemetry.session import Step
    from myxtts.training.progress import Report

PHASES = {
    "speech": "speaking",
    "text": "reading text",
    "audio": "computing mels",
    "compile": "compiling shapes",
    "listening": "listening",
    "judging": "speaking and judging",
}


class PlainDisplay:
    """Lines on standard output, as redirected logs want them, or on another stream."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._ended: tuple[str, int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def say(self, text: str) -> None:
        """A sentence for the log."""
        print(text, flush=True, file=self._stream)

    def preparing(self, phase: str, done: int, total: int) -> None:
        """Only the end of a phase is worth a line."""
        if done == total and self._ended != (phase, total):
            self._ended = (phase, total)
            print(f"{PHASES.get(phase, phase)}: {done} of {total}", flush=True, file=self._stream)

    def stepped(self, step: Step, total_steps: int) -> None:
        """Steps are summed up by the reports."""

    def reported(self, report: Report) -> None:
        """One line per report."""
        print(report.line(), flush=True, file=self._stream)


class LiveDisplay:
    """A table that is redrawn in place; sentences scroll by above it."""

    def __init__(self) -> None:
        from rich.live import Live

        self._console = stderr()
        self._live = Live(console=self._console, refresh_per_second=8)
        self._progress: Progress | None = None
        self._phase = ""
        self._step: Step | None = None
        self._report: Report | None = None
        self._total = 0

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        """A sentence above the table."""
        self._console.print(text, markup=False)

    def preparing(self, phase: str, done: int, total: int) -> None:
        """A progress bar in the table's place."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        if phase != self._phase:
            self._phase = phase
            self._progress = Progress(
                "{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            )
            self._progress.add_task(PHASES.get(phase, phase), total=total)
        assert self._progress is not None
        self._progress.update(self._progress.task_ids[0], completed=done, total=total)
        self._live.update(self._progress)

    def stepped(self, step: Step, total_steps: int) -> None:
        """Redraw with the newest step."""
        self._step, self._total = step, total_steps
        self._live.update(self._table())

    def reported(self, report: Report) -> None:
        """Redraw with the newest figures."""
        self._report = report
        self._live.update(self._table())

    def _table(self) -> Table:
        from rich.table import Table

        table = Table()
        for heading in (
            "step", "loss", "steps/s", "useful frames/s", "data wait", "ready", "memory", "left"
        ):  # fmt: skip
            table.add_column(heading, justify="right")
        step, report = self._step, self._report
        assert step is not None
        ready = list(step.rings.values())[-1] if step.rings else 0
        figures = ["…"] * 5
        if report is not None:
            minutes, seconds = divmod(int(report.remaining), 60)
            figures = [
                f"{report.steps_per_second:.2f}",
                f"{report.useful_frames_per_second:.0f}",
                f"{report.wait_share:.1%}",
                "N/A" if report.memory_mb is None else f"{report.memory_mb} MB",
                f"{minutes}:{seconds:02d}",
            ]
        position = f"{step.step + 1}/{self._total}"
        table.add_row(position, f"{step.loss:.4f}", *figures[:3], str(ready), *figures[3:])
        return table


def display() -> PlainDisplay | LiveDisplay:
    """The display that fits where the output goes."""
    return LiveDisplay() if sys.stderr.isatty() and sys.stdout.isatty() else PlainDisplay()
