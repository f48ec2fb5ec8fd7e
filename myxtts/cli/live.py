"""How a run looks while it runs: a live table on a terminal, plain lines everywhere else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self, TextIO

from myxtts.cli.console import stderr

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
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
    """A table that is redrawn in place a few times a second; sentences scroll by above it.

    The thread that trains only leaves the newest figures here: drawing is done by a thread of its
    own, so that a step costs nothing more on a terminal than in a file.
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.live import Live

        self._progress: Progress | None = None
        self._phase = ""
        self._step: Step | None = None
        self._report: Report | None = None
        self._total = 0
        self._console = console or stderr()
        self._live = Live(console=self._console, refresh_per_second=4, get_renderable=self._drawn)

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
        self._step = None

    def stepped(self, step: Step, total_steps: int) -> None:
        """The newest step, for the next drawing."""
        self._step, self._total = step, total_steps

    def reported(self, report: Report) -> None:
        """The newest figures, for the next drawing."""
        self._report = report

    def _drawn(self) -> RenderableType:
        """What to show now; called by the thread that draws."""
        if self._step is not None:
            return live_table(self._step, self._total, self._report)
        return self._progress or ""


def live_table(step: Step, total_steps: int, report: Report | None) -> Table:
    """Where a run is, and how it does: one row. Figures come with the first report."""
    from rich.table import Column, Table

    from myxtts.training.progress import told

    ready = list(step.rings.values())[-1] if step.rings else 0
    cells = {"step": f"{step.step + 1}/{total_steps}", "loss": f"{step.loss:.4f}"}
    if report is not None:
        cells |= {
            "steps/s": f"{report.steps_per_second:.2f}",
            "useful frames/s": f"{report.useful_frames_per_second:.0f}",
            "data wait": f"{report.wait_share:.1%}",
            "busy: data, model": f"{report.data_busy:.0%}, {report.model_busy:.0%}",
            "ready": f"{ready}/{told(report.depth)}",
            "memory MB": told(report.memory_mb),
            "GPU use": report.gpu_use(),
            "power W": told(report.power_w, ".0f"),
            "left": report.time_left(),
        }
    table = Table(*(Column(heading, justify="right", no_wrap=True) for heading in cells))
    table.add_row(*cells.values())
    return table


def display() -> PlainDisplay | LiveDisplay:
    """The display that fits where the output goes."""
    return LiveDisplay() if sys.stderr.isatty() and sys.stdout.isatty() else PlainDisplay()
