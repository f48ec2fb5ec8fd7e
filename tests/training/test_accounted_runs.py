"""Real runs on two devices: every second is in its own account, and a lost GPU costs none."""

import gzip
import io
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from myxtts.audio.decode import write_wav
from myxtts.cli.live import PlainDisplay, live_table
from myxtts.data.ljspeech import METADATA
from myxtts.telemetry import session
from myxtts.tools import report_text
from myxtts.tools.summary import summarize
from myxtts.training import checkpoint
from myxtts.training.batch_path import BatchPath
from myxtts.training.run import train
from myxtts.training.stages import Stage
from myxtts.training.step import TrainStep
from tests.fake_nvml import FakeNvml

RATE = 22050
THIN = {"data.max_buckets": 1, "data.prefetch_buffer_size": 1, "data.pipeline_depth": 1}


class Planted:
    """A sleep behind every piece of one stage's work, and how long both really took."""

    def __init__(self, seconds: float, since: int = 0) -> None:
        self._seconds = seconds
        self._since = since
        self.times: list[float] = []
        """Work and sleep together, of each call that slept."""
        self.slept = 0.0

    def behind(self, work: Callable) -> Callable:
        """The same work, slower; where it is given a parcel, from step `since` on."""

        def slow(*arguments, **settings):
            started = time.perf_counter()
            result = work(*arguments, **settings)
            if getattr(arguments[-1], "step", self._since) >= self._since:
                begun = time.perf_counter()
                time.sleep(self._seconds)
                ended = time.perf_counter()
                self.slept += ended - begun
                self.times.append(ended - started)
            return result

        return slow


def plant(monkeypatch, place: str, planted: Planted) -> None:
    """Make one stage of every step slower."""
    if place == "load":
        made = BatchPath.load_stage
        monkeypatch.setattr(
            BatchPath,
            "load_stage",
            lambda self, batches: Stage("load", planted.behind(made(self, batches).work)),
        )
    elif place in ("preprocess", "transfer"):
        name = f"_{place}"
        monkeypatch.setattr(BatchPath, name, planted.behind(getattr(BatchPath, name)))
    elif place == "training":
        monkeypatch.setattr(TrainStep, "__call__", planted.behind(TrainStep.__call__))
    else:
        monkeypatch.setattr(checkpoint, "save", planted.behind(checkpoint.save))


ACCOUNT = {
    "load": "data_wait", "preprocess": "data_wait", "transfer": "transfer",
    "training": "training", "checkpointing": "checkpointing",
}  # fmt: skip
STEPS = 4


def check(run: session.Session, place: str, planted: Planted) -> None:
    """What the stage took is in its own account, to within 5 % of what was planted."""
    assert sum(run.accounts.values()) == pytest.approx(run.end["wall"], rel=1e-3)
    assert sum(row.percent for row in summarize(run).account) == pytest.approx(100.0)
    own = run.accounts[ACCOUNT[place]]
    if place in ("load", "preprocess"):  # other stages are waited for, too
        stages = {"load", "upload", "preprocess"} - {place}
        own -= sum(step.blame.get(stage, 0.0) for step in run.steps for stage in stages)
        assert sum(s.blame[place] for s in run.steps) == pytest.approx(own, abs=0.05 * own)
    # Warm-up trains once, too; that is compiling.
    took = sum(planted.times[-STEPS:] if place == "training" else planted.times)
    assert own == pytest.approx(took, abs=0.05 * planted.slept)
    assert took > planted.slept * (0.7 if place == "training" else 1.0)


def settings_of(place: str) -> dict:
    return THIN | ({"training.checkpoint_interval": 1} if place == "checkpointing" else {})


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(place, marks=() if place in ("transfer", "training") else pytest.mark.long)
        for place in ACCOUNT
    ],
)
def test_a_planted_delay_is_in_its_own_account(tiny_run, monkeypatch, place):
    """One stage after the other: what a stage takes, the loop loses."""
    settings = settings_of(place) | {"data.optimize_cpu_gpu_overlap": False}
    planted = Planted(1.0 if place == "checkpointing" else 0.3)
    plant(monkeypatch, place, planted)
    check(session.load(train(tiny_run(settings, steps=STEPS, dual=True))), place, planted)


@pytest.mark.long
@pytest.mark.parametrize("place", ["load", "preprocess", "transfer"])
def test_a_delay_that_overlaps_with_training_is_a_wait_for_its_stage(tiny_run, monkeypatch, place):
    """The delay begins behind the batches that are prepared while shapes are compiled; a part of
    it is hidden by training, and the rest is waited for."""
    planted = Planted(1.5, since=5)
    plant(monkeypatch, place, planted)
    run = session.load(train(tiny_run(settings_of(place), steps=9, dual=True)))
    assert sum(run.accounts.values()) == pytest.approx(run.end["wall"], rel=1e-3)
    blamed = sum(step.blame.get(place, 0.0) for step in run.steps)
    hidden = sum(step.seconds - step.wait for step in run.steps)
    assert 0.95 * planted.slept - hidden < blamed < 1.05 * planted.slept
    assert run.accounts[ACCOUNT[place]] >= blamed - 0.01


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
    plant(
        monkeypatch, "training", Planted(0.2)
    )  # so that there is a mid-run for the sampler to see
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


def tones(folder: Path) -> Path:
    """A corpus whose clips last half a second, one, two and four: no one shape fits them."""
    (folder / "wavs").mkdir(parents=True)
    lines = []
    for number in range(32):
        seconds = 0.5 * 2 ** (number % 4)
        time = np.arange(int(RATE * seconds)) / RATE
        tone = 0.3 * np.sin(2 * np.pi * (200 + 20 * number) * time)
        write_wav(folder / "wavs" / f"tone{number:02d}.wav", tone.astype(np.float32), RATE)
        lines.append(f"tone{number:02d}|{' '.join(['tone'] * int(4 * seconds))} {number}.")
    (folder / METADATA).write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.mark.long
def test_nothing_is_compiled_in_two_thousand_steps(tiny_run, tmp_path):
    settings = {
        "data.train_data": str(tones(tmp_path / "tones")),
        "data.max_buckets": 4,
        "data.batch_size": 2,
        "model.width": 16,
        "training.epochs": 1000,
        "training.report_interval": 500,
    }
    run = session.load(train(tiny_run(settings, steps=2000, dual=True)))
    assert len(run.header["buckets"]) >= 2
    assert "none in the 2000 steps" in nothing_compiled(run)
    assert run.end["compilations"] == next(run.of_kind("warm"))["compilations"]
