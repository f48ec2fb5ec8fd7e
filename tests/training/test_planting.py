"""What `--plant` says, what becomes of it, and that a delay works where it was planted."""

import itertools
import statistics

import pytest

from myxtts.errors import UsageError
from myxtts.training import planting
from myxtts.training.planting import Delay, Delays, draws, parse
from myxtts.training.stages import Lane, Parcel, Stage
from myxtts.training.study import Study


@pytest.fixture
def slept(monkeypatch) -> list[float]:
    """The sleeps of planted delays, which take no time here."""
    naps: list[float] = []
    monkeypatch.setattr(planting.time, "sleep", naps.append)
    return naps


def test_stages_take_milliseconds_and_a_jitter() -> None:
    planted = parse(["load=20", "preprocess=15:0.8", "load=5"], seed=3)
    assert planted.delays == (
        Delay("load", 0.02), Delay("preprocess", 0.015, 0.8), Delay("load", 0.005)
    )  # fmt: skip
    assert planted.seed == 3 and not planted.settings
    assert not parse([]) and parse(["decode=1"])


@pytest.mark.parametrize(
    ("word", "settings"),
    [
        (
            "buffer=1",
            {
                "data.pipeline_depth": 1,
                "data.pipeline_depth_max": 1,
                "data.prefetch_buffer_size": 1,
            },
        ),
        ("shapes=dynamic", {"data.pad_to_fixed_length": False}),
        ("padding=single", {"data.static_shapes": "single"}),
        ("checkpoint-every=7", {"training.checkpoint_interval": 7}),
    ],
)
def test_a_setting_becomes_a_setting(word, settings) -> None:
    from myxtts.config import Config

    assert parse([word]).settings == settings
    Config().replaced(parse([word]).settings)


def test_a_delay_of_checkpoints_makes_some_happen_unless_told_how_often() -> None:
    assert parse(["checkpoint=50"]).settings == {"training.checkpoint_interval": planting.OFTEN}
    both = ["checkpoint-every=4", "checkpoint=50"]
    for words in (both, both[::-1]):
        assert parse(words).settings == {"training.checkpoint_interval": 4}
    assert parse(["validation=50"]).settings["training.validation_share"] > 0


@pytest.mark.parametrize(
    "word",
    [
        "", "load", "load=", "load=fast", "load=-3", "load=0", "load=nan", "load=5:", "load=5:x",
        "load=5:11", "upload=5", "buffer=0", "buffer=two", "shapes=static", "padding=8",
        "checkpoint-every=0", "disk=0MB/s", "disk=xMB/s", "=5",
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_what_to_type(word) -> None:
    if word == "load=5:":  # no jitter told is no jitter
        assert parse([word]).delays == (Delay("load", 0.005),)
        return
    with pytest.raises(UsageError, match="--plant") as caught:
        parse([word])
    assert caught.value.received == f"--plant {word}" and "--plant load=20" in caught.value.remedy


def test_jitter_keeps_the_mean_and_has_the_spread_that_was_told() -> None:
    times = list(itertools.islice(draws(parse(["load=20:0.8"], seed=1), "load"), 20_000))
    mean = statistics.fmean(times)
    assert mean == pytest.approx(0.02, rel=0.03)
    assert statistics.stdev(times) / mean == pytest.approx(0.8, rel=0.08)
    again = itertools.islice(draws(parse(["load=20:0.8"], seed=1), "load"), 5)
    assert list(again) == times[:5]
    other = itertools.islice(draws(parse(["load=20:0.8"], seed=2), "load"), 5)
    assert list(other) != times[:5]


def test_a_delay_comes_behind_the_work_of_its_stage_only(slept) -> None:
    delays = Delays(parse(["preprocess=30"]))
    done = []
    lanes = [
        Lane("host", 2, (Stage("load", lambda parcel: done.append("load")),)),
        Lane("ready", 2, (Stage("preprocess", lambda parcel: done.append(len(slept))),)),
    ]
    for lane in delays.along(lanes):
        for stage in lane.stages:
            stage.work(Parcel(0))
    assert done == ["load", 0] and slept == [0.03]
    assert delays.behind("training", len) is len


def test_a_slow_disk_takes_its_time_by_the_byte_and_none_for_what_is_in_memory(slept) -> None:
    delays = Delays(parse(["disk=40MB/s", "disk=2"]))
    delays.read(0)
    assert slept == []
    delays.read(10_000_000)
    assert slept == [0.002, pytest.approx(0.25)]


def test_a_delay_in_a_stage_that_is_missing_is_refused() -> None:
    lanes = [Lane("ready", 2, (Stage("preprocess", lambda parcel: None),))]
    with pytest.raises(UsageError, match="does not have"):
        Delays(parse(["transfer=5"])).along(lanes)


def test_a_study_reaches_another_process_as_it_was(tmp_path) -> None:
    study = Study(parse(["load=20:0.5", "buffer=2", "disk=9MB/s"], seed=4), 0.02, rates=True)
    study.save(tmp_path / "study.json")
    assert Study.load(tmp_path / "study.json") == study
    assert Study.load(tmp_path / "none.json") == Study()
