"""Figures of recordings and of redirected output, side by side."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from myxtts.errors import MeasurementError, UsageError
from myxtts.tools import scaling_page
from myxtts.tools.catalogue import LANGUAGES
from myxtts.tools.compare import compare, speedup
from myxtts.tools.figures import RunFigures, of_session, of_text, read
from myxtts.tools.report_text import show
from myxtts.tools.scaling import scaling
from myxtts.tools.summary import summarize

OUTPUT = "\n".join(
    (
        "plan dual: data on /GPU:0, model on /GPU:1",
        "step 50/100  loss 1.2345  5.00 steps/s  step 200.0 ms ± 10.0 (5.0 %)  wait 2.0 %  "
        "useful 2000 frames/s  memory 812 MB",
        "warning: something",
        "step 100/100  loss 1.1  10.00 steps/s  step 100.0 ms ± 10.0 (10.0 %)  wait 4.0 %  "
        "useful 4000 frames/s  memory N/A MB",
        "batch size 16, 100 steps: 150.0 ms",
        "  total                61.50   100.0  ",
        "  GPU\N{NO-BREAK SPACE}0\N{NO-BREAK SPACE}Test   data   41\N{NO-BREAK SPACE}%   1 / 2 MB",
        "  GPU 1 Test   model   72 %   1 / 2 MB",
        "",
    )
)


def test_a_recording_in_figures(record) -> None:
    figures = of_session(record(times=(9.0, 0.1, 0.2, 0.1, 0.2)))
    assert figures.steps == 4
    assert figures.step_seconds == pytest.approx(0.15)
    assert figures.useful_frames_per_second == pytest.approx(4 * 950 / 0.6)
    assert (figures.data_utilization, figures.model_utilization) == (65.0, 92.0)
    assert figures.memory_mb == 812
    assert figures.wall == pytest.approx(9.6)
    assert figures.batch_size == 16


def test_a_recording_without_a_steady_step_cannot_be_measured(record) -> None:
    with pytest.raises(MeasurementError):
        of_session(record(times=(0.1,)))


def test_printed_lines_in_figures() -> None:
    figures = of_text(OUTPUT, "run.txt")
    assert figures.steps == 100
    assert figures.step_seconds == pytest.approx(0.15)
    # 50 steps at 200 ± 10 and 50 at 100 ± 10: the spread between them counts too.
    assert figures.step_std == pytest.approx((0.05**2 + 0.01**2) ** 0.5)
    assert figures.wait_share == pytest.approx(0.03)
    assert figures.useful_frames_per_second == pytest.approx(3000)
    assert (figures.memory_mb, figures.wall, figures.batch_size) == (812, 61.5, 16)
    assert (figures.data_utilization, figures.model_utilization) == (41.0, 72.0)


def test_what_training_prints_when_it_ends_is_read_back(record) -> None:
    summary = summarize(record(data={"batch_size": 24}))
    stream = io.StringIO()
    show(summary, Console(file=stream, width=100))
    figures = of_text(OUTPUT.partition("batch size 16")[0] + stream.getvalue(), "run.txt")
    assert figures.batch_size == 24
    assert figures.wall == pytest.approx(2.0)
    assert (figures.data_utilization, figures.model_utilization) == (65.0, 92.0)


def test_the_line_that_training_prints_is_the_line_that_is_read() -> None:
    progress = pytest.importorskip("myxtts.training.progress")
    report = progress.Report(
        step=50, total_steps=400, loss=1.5, mean=0.2, std=0.01, wait_share=0.02,
        useful_frames_per_second=2310.4, ready=3, memory_mb=None,
    )  # fmt: skip
    figures = of_text(report.line() + "\n", "run.txt")
    assert figures.step_seconds == pytest.approx(0.2)
    assert figures.memory_mb is None


def test_output_of_two_runs_in_one_file_is_refused() -> None:
    with pytest.raises(MeasurementError, match="more than one run"):
        of_text(OUTPUT + OUTPUT, "both.txt")


def test_any_spelling_of_a_run_is_read(record, tmp_path: Path) -> None:
    session = record("first")
    text = tmp_path / "out.txt"
    text.write_text(OUTPUT)
    copied = tmp_path / "copied.log"
    copied.write_bytes(session.path.read_bytes())
    expected = of_session(session).step_seconds
    for path in (session.path, session.path.parent, copied):
        assert read(path).step_seconds == expected
    assert read(text).steps == 100
    with pytest.raises(UsageError):
        read(tmp_path / "nothing.txt")
    (tmp_path / "other.txt").write_text("hello\n")
    with pytest.raises(MeasurementError):
        read(tmp_path / "other.txt")


def test_a_faster_run_is_better_and_a_gpu_that_was_not_sampled_is_not_measured(record) -> None:
    slow = of_session(record("slow", times=(0.2, 0.21) * 10, gpus={}))
    fast = of_session(record("fast", times=(0.1, 0.11) * 10))
    rows = {row.name: row for row in compare(slow, fast)}
    assert rows["step time"].verdict == "better"
    assert rows["step time"].change == pytest.approx(-0.48, abs=0.02)
    assert rows["steps"].verdict == "better"
    assert rows["data GPU utilisation"].verdict == "not measured"
    assert {row.name: row for row in compare(fast, slow)}["step time"].verdict == "worse"
    assert speedup(slow, fast) == pytest.approx(1.95, abs=0.05)


def test_a_difference_within_noise_is_no_change(record) -> None:
    a = of_session(record("a", times=(0.1, 0.2) * 10))
    b = of_session(record("b", times=(0.1, 0.19) * 10))
    rows = {row.name: row for row in compare(a, b)}
    assert rows["step time"].verdict == "no clear change"


def test_a_hair_is_no_change() -> None:
    rows = {row.name: row for row in compare(plain(0.002), plain(0.004))}
    assert rows["waiting for data"].verdict == "no clear change"
    assert rows["total time"].verdict == "no clear change"
    rows = {row.name: row for row in compare(plain(0.002), plain(0.04, wall=11.0))}
    assert rows["waiting for data"].verdict == "worse"
    assert rows["total time"].verdict == "worse"


def plain(wait: float, wall: float = 10.0) -> RunFigures:
    return RunFigures("run", 10, 0.1, 0.01, wait_share=wait, wall=wall)


def test_scaling_finds_the_best_batch_and_where_it_stops_paying(record) -> None:
    runs = [
        of_session(record(f"b{batch}", data={"batch_size": batch}, times=(seconds,) * 5,
                          useful=batch * 100))
        for batch, seconds in ((32, 0.315), (8, 0.1), (16, 0.16))
    ]  # fmt: skip
    found = scaling(runs)
    assert [row.batch_size for row in found.rows] == [8, 16, 32]
    assert found.best == 32
    assert found.enough == 16
    assert scaling_page.verdict(found) == "best: 32; beyond 16 less than 5 % is gained"
    assert "not measured" in scaling_page.verdict(scaling([runs[1], runs[2]]))
    for language in LANGUAGES:
        page = scaling_page.render(found, language)
        assert scaling_page.verdict(found, language) in page
        assert page.count("<svg") == 2 and page.count("<polyline") == 2
        assert all(cell in page for row in found.rows for cell in scaling_page.cells(row))
    assert found.rows[0].efficiency == pytest.approx(1.0)
    assert found.rows[2].efficiency == pytest.approx(0.1 / 0.315)


def test_scaling_needs_two_batch_sizes(record) -> None:
    one = of_session(record())
    with pytest.raises(MeasurementError):
        scaling([one, one])
    with pytest.raises(UsageError):
        scaling([of_text(OUTPUT.replace("batch size 16, ", ""), "run.txt")])
    assert of_text(OUTPUT.replace("batch size 16, ", ""), "batch-32.txt").batch_size == 32
