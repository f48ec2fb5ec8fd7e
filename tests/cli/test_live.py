"""The live table: everything a watcher wants, N/A for what a machine does not say."""

import io
import time

from rich.console import Console

from myxtts.cli.live import LiveDisplay, live_table
from myxtts.telemetry.gpu_watch import GpuReading
from myxtts.telemetry.session import Step
from myxtts.training.progress import Report

STEP = Step(
    step=39, t=4.0, seconds=0.1, wait=0.01, train=0.09, loss=1.5, bucket=0, useful_frames=900,
    padded_frames=1000, compiled=False, rings={"host": 4, "ready": 2},
)  # fmt: skip
REPORT = Report(
    step=40, total_steps=7240, loss=1.5, mean=0.5, std=0.1, wait_share=0.1, ready=2,
    useful_frames_per_second=9000.0, memory_mb=812, depth=3, data_busy=0.21, model_busy=0.9,
    gpus=(GpuReading(0, 73.0, 210.4), GpuReading(1, 20.0, 100.0)),
)  # fmt: skip


def drawn(report: Report | None) -> str:
    shown = io.StringIO()
    Console(file=shown, width=200).print(live_table(STEP, 7240, report))
    return shown.getvalue()


def test_every_figure_is_in_the_table() -> None:
    text = drawn(REPORT)
    for figure in (
        "40/7240", "1.5000", "2.00", "9000", "10.0%", "21%, 90%", "2/3", "812", "73% / 20%", "310",
        "1:00:00",
    ):  # fmt: skip
        assert figure in text


def test_what_is_not_known_is_called_so() -> None:
    lost = (GpuReading(0, 73.0, 210.4), GpuReading(1, None, None))
    text = drawn(Report(**vars(REPORT) | {"gpus": lost, "memory_mb": None, "depth": None}))
    assert "73% / N/A" in text and "2/N/A" in text and text.count("N/A") == 4


def test_before_the_first_report_there_is_a_step_and_a_loss() -> None:
    assert "40/7240" in drawn(None) and "power" not in drawn(None)


def test_the_table_is_drawn_by_a_thread_of_its_own() -> None:
    shown = io.StringIO()
    with LiveDisplay(
        Console(file=shown, force_terminal=True, width=200, highlight=False)
    ) as display:
        display.preparing("compile", 1, 2)
        display.say("a sentence [with] brackets")
        display.stepped(STEP, 7240)
        display.reported(REPORT)
        deadline = time.monotonic() + 10
        while "40/7240" not in shown.getvalue() and time.monotonic() < deadline:
            time.sleep(0.05)
    assert "40/7240" in shown.getvalue() and "a sentence [with] brackets" in shown.getvalue()
