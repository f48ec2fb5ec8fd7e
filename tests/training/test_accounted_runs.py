"""Real runs on two devices: every second is in its own account, and a lost GPU costs none."""

import gzip
import io
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from myxtts.cli.live import PlainDisplay, live_table
from myxtts.telemetry import session
from myxtts.tools import report_text
from myxtts.tools.summary import summarize
from myxtts.training import checkpoint
from myxtts.training.batch_path import BatchPath
from myxtts.training.run import train
from myxtts.training.stages import Stage
from myxtts.training.step import TrainStep
from tests.fake_nvml import FakeNvml

THIN = {"data.max_buckets": 1, "data.prefetch_buffer_size": 1, "data.pipeline_depth": 1}


def slowly(work: Callable, seconds: float, since: int = 0) -> Callable:
    """The same work, and then a sleep; a parcel tells from which step on."""

    def slow(*arguments, **settings):
        result = work(*arguments, **settings)
        if getattr(arguments[-1], "step", since) >= since:
            time.sleep(seconds)
        return result

    return slow


def plant(monkeypatch, place: str, seconds: float, since: int = 0) -> None:
    """Make one stage of every step slower."""
    if place == "load":
        made = BatchPath.load_stage
        monkeypatch.setattr(
            BatchPath,
            "load_stage",
            lambda self, batches: Stage("load", slowly(made(self, batches).work, seconds, since)),
        )
    elif place in ("preprocess", "transfer"):
        work = getattr(BatchPath, f"_{place}")
        monkeypatch.setattr(BatchPath, f"_{place}", slowly(work, seconds, since))
    elif place == "training":
        monkeypatch.setattr(TrainStep, "__call__", slowly(TrainStep.__call__, seconds))
    else:
        monkeypatch.setattr(checkpoint, "save", slowly(checkpoint.save, seconds))


ACCOUNT = {
    "load": "data_wait", "preprocess": "data_wait", "transfer": "transfer",
    "training": "training", "checkpointing": "checkpointing",
}  # fmt: skip


def check(run: session.Session, plain: session.Session, place: str, planted: float) -> None:
    """The planted seconds are in their own account within 5 %, and in no other."""
    wall = run.end["wall"]
    assert sum(run.accounts.values()) == pytest.approx(wall, rel=1e-3)
    assert sum(row.percent for row in summarize(run).account) == pytest.approx(100.0)
    own = ACCOUNT[place]
    assert run.accounts[own] - plain.accounts[own] == pytest.approx(planted, rel=0.05)
    others = {"data_wait", "transfer", "training", "checkpointing"} - {own}
    for other in others:
        assert abs(run.accounts[other] - plain.accounts[other]) < 0.1 * planted
    if own in ("data_wait", "transfer"):
        blamed = sum(step.blame.get(place, 0.0) for step in run.steps)
        assert blamed == pytest.approx(planted, rel=0.05)


def settings_of(place: str) -> dict:
    return THIN | ({"training.checkpoint_interval": 1} if place == "checkpointing" else {})


def test_a_planted_delay_is_in_its_own_account(tiny_run, monkeypatch):
    synchronous = THIN | {"data.optimize_cpu_gpu_overlap": False}

    def run() -> session.Session:
        return session.load(train(tiny_run(synchronous, steps=4, dual=True)))

    plain = run()
    for place in ("transfer", "training"):
        with monkeypatch.context() as planted:
            plant(planted, place, 0.4)
            check(run(), plain, place, 4 * 0.4)


@pytest.mark.long
@pytest.mark.parametrize("overlapping", [True, False])
@pytest.mark.parametrize("place", list(ACCOUNT))
def test_every_planted_delay_is_in_its_own_account(tiny_run, monkeypatch, place, overlapping):
    """Where stages overlap, the first batches are prepared while shapes are compiled: the delay
    begins after them, and is long beside the training that hides a part of it."""
    settings = settings_of(place) | {"data.optimize_cpu_gpu_overlap": overlapping}
    steps, since = 9, 5 if overlapping and place in ("load", "preprocess", "transfer") else 0
    plain = session.load(train(tiny_run(settings, steps=steps, dual=True)))
    plant(monkeypatch, place, 1.0, since)
    run = session.load(train(tiny_run(settings, steps=steps, dual=True)))
    check(run, plain, place, (steps - since) * 1.0)


class Watching(PlainDisplay):
    """Plain lines, and the live table of every report beside them."""

    def __init__(self) -> None:
        super().__init__(io.StringIO())
        self.tables: list[str] = []
        self.step = None

    @property
    def lines(self) -> str:
        return self._stream.getvalue()

    def stepped(self, step, total_steps):
        self.step, self.total = step, total_steps

    def reported(self, report):
        super().reported(report)
        shown = io.StringIO()
        Console(file=shown, width=200).print(live_table(self.step, self.total, report))
        self.tables.append(shown.getvalue())


def test_a_gpu_that_is_lost_in_mid_run_costs_nothing_but_its_figures(tiny_run, monkeypatch):
    """Card 0 has no power meter, card 1 falls off the bus after its first sample."""
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(missing=("power",), lost={1: 1}))
    plant(monkeypatch, "training", 0.2)  # so that there is a mid-run for the sampler to see
    watching = Watching()
    config = tiny_run(THIN | {"training.report_interval": 3}, steps=9, dual=True)
    run = session.load(train(config, watching))

    assert run.end["reason"] == "finished" and len(run.steps) == 9
    (lost,) = run.of_kind("gpu_lost")
    assert lost["index"] == 1
    assert "73% / N/A" in watching.tables[-1]
    assert "GPU use 73 % / N/A  power N/A W" in watching.lines
    assert "GPU 1 is not sampled any more: the GPU is lost" in watching.lines

    shown = io.StringIO()
    report_text.show(summarize(run), Console(file=shown, width=160))
    text = shown.getvalue().replace("\N{NO-BREAK SPACE}", " ")
    rows = {line.split("Test Card")[0].strip(): line for line in text.splitlines()}
    assert "73 %" in rows["GPU 0"] and rows["GPU 0"].count("N/A") == 1
    assert "(lost)" in rows["GPU 1"] and rows["GPU 1"].count("N/A") == 4
    assert "GPU 1 did not answer any more" in text


def nothing_compiled(run: session.Session) -> str:
    assert not any(step.compiled for step in run.steps)
    assert {step.bucket for step in run.steps} == set(range(len(run.header["buckets"])))
    shown = io.StringIO()
    report_text.show(summarize(run), Console(file=shown, width=200))
    return shown.getvalue()


def test_nothing_is_compiled_after_warm_up_and_the_report_says_so(tiny_run, monkeypatch):
    """And what such a run shows without a GPU: a line, a table, TensorBoard's curves, a trace."""
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(driver=False))
    watching = Watching()
    settings = {"training.trace": True}
    run = session.load(train(tiny_run(settings, steps=24, dual=True), watching))
    folder, programs = run.path.parent, len(run.header["buckets"]) + 1
    text = nothing_compiled(run)
    assert f"Nothing was compiled after warm-up: {programs} programs before the first" in text
    assert "none in the 24 steps" in text

    assert "GPU use N/A  power N/A W" in watching.lines and "N/A" in watching.tables[-1]
    assert [event["reason"] for event in run.of_kind("gpu_absent")]
    report = next(run.of_kind("report"))
    assert report["gpus"] == [] and report["power_w"] is None and report["depth"] == 3
    assert {
        "training/model device busy, percent", "training/data device busy, percent",
        "training/batches ready", "training/buffer depth", "training/memory, MB",
        "training/variation of the step, percent",
    } <= tags_of(folder / "tensorboard")  # fmt: skip
    drawn = json.loads(gzip.decompress((folder / "trace.json.gz").read_bytes()))["traceEvents"]
    for stage in ("load", "upload", "preprocess", "transfer", "training"):
        assert sum(event["name"] == stage for event in drawn) == 24


def tags_of(folder: Path) -> set[str]:
    import tensorflow as tf

    (file,) = folder.glob("events.*")
    return {
        value.tag
        for record in tf.compat.v1.io.tf_record_iterator(str(file))
        for value in tf.compat.v1.Event.FromString(record).summary.value
    }


@pytest.mark.long
def test_nothing_is_compiled_in_two_thousand_steps(tiny_run):
    settings = {
        "data.max_buckets": 4,
        "data.batch_size": 2,
        "model.width": 8,
        "training.epochs": 1000,
        "training.report_interval": 500,
    }
    run = session.load(train(tiny_run(settings, steps=2000, dual=True)))
    assert len(run.header["buckets"]) > 1
    assert "none in the 2000 steps" in nothing_compiled(run)
    assert run.end["compilations"] == next(run.of_kind("warm"))["compilations"]
