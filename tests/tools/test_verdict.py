"""Each verdict on a run that was made to show it; no thread and no clock takes part."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from myxtts.config import Config
from myxtts.telemetry.session import Session, Step
from myxtts.tools import lane_figures, verdict_words
from myxtts.tools.catalogue import LANGUAGES
from myxtts.tools.verdict import CAUSES, Cause, verdict

STEPS = 60
LANES = [
    {"ring": "host", "stages": ["load", "upload"]},
    {"ring": "ready", "stages": ["preprocess", "transfer"]},
]


def run(
    *,
    train: float = 0.020,
    load: Sequence[float] | float = 0.005,
    preprocess: Sequence[float] | float = 0.004,
    transfer: Sequence[float] | float = 0.001,
    parts: dict[str, float] | None = None,
    depth: int = 16,
    settings: dict[str, Any] | None = None,
    useful: float = 0.93,
    compiled: Sequence[int] = (),
    events: Sequence[dict[str, Any]] = (),
    steps: int = STEPS,
    overlapping: bool = True,
) -> Session:
    """What an ideal pipeline with these times records; its rings are empty at the start."""
    times = {
        name: [of] * steps if isinstance(of, float) else list(of)
        for name, of in (("load", load), ("preprocess", preprocess), ("transfer", transfer))
    }
    free, trained, passed, taken = [0.0, 0.0], 0.0, [], []
    made: list[Step] = []
    for number in range(steps):
        of = {name: values[number] for name, values in times.items()}
        loaded = free[0] + of["load"]
        if number >= depth:
            loaded = max(loaded, passed[number - depth])
        passed.append(max(loaded, free[1]))
        ready = passed[-1] + of["preprocess"] + of["transfer"]
        if not overlapping:
            ready = trained + sum(of.values())
        elif number >= depth:
            ready = max(ready, taken[number - depth])
        free = [loaded, ready]
        start = max(ready, trained)
        taken.append(start)
        work = train * (11.0 if number in compiled else 1.0)
        made.append(
            Step(
                step=number, t=start + work, seconds=start + work - trained, wait=start - trained,
                train=work, loss=1.0, bucket=0, useful_frames=int(1000 * useful),
                padded_frames=1000, compiled=number in compiled, blame={"load": start - trained},
                stages=of, rings={"host": 0, "ready": 0 if start > trained else 1},
                parts=parts or {},
            )
        )  # fmt: skip
        trained = start + work
    config = Config().replaced(settings or {}).model_dump()
    pipeline = {"kind": "pipeline", "overlapping": overlapping, "lanes": LANES}
    header = {"config": config, "buckets": [[64, 400, 8]], "machine": {"cores": 8}}
    end = {"kind": "end", "accounts": {}}
    path = Path("runs/made/run.jsonl")
    return Session(path, header, tuple(made), (pipeline, *events), end, 0)


def rates(**seconds: float) -> list[dict[str, Any]]:
    """Stages alone, at 8 rows."""
    return [
        {"kind": "rate", "stage": stage, "bucket": 0, "rows": 8, "frames": 3200, "seconds": [of]}
        for stage, of in seconds.items()
    ]


def uneven(mean: float, long: float, every: int) -> list[float]:
    """Short but for one in `every`, which takes `long`; `mean` on the whole."""
    short = (mean * every - long) / (every - 1)
    return [long if number % every == every // 2 else short for number in range(STEPS)]


def pausing(kind: str, seconds: float, every: int = 10) -> list[dict[str, Any]]:
    return [{"kind": kind, "step": step, "seconds": seconds} for step in range(every, STEPS, every)]


READING = {"disk": 0.030, "decode": 0.004}
DECODING = {"disk": 0.002, "decode": 0.030}
SMALL = {"data.pipeline_depth": 1, "data.pipeline_depth_max": 1}

MADE: list[tuple[Cause, dict[str, Any], dict[str, Any]]] = [
    ("disk", {"load": 0.035, "parts": READING}, {"data.cache_dataset": True}),
    ("decode", {"load": 0.035, "parts": DECODING, "settings": {"data.num_workers": 2}},
     {"data.num_workers": 8}),
    ("preprocess", {"preprocess": 0.040, "settings": {"data.features": "live"}},
     {"data.features": "cached"}),
    ("transfer", {"transfer": 0.040, "settings": {"data.prefetch_to_gpu": False}},
     {"data.prefetch_to_gpu": True}),
    ("training", {}, {}),
    ("balanced", {"load": 0.0195}, {}),
    ("jitter", {"load": uneven(0.0125, 0.690, 60)}, {"data.cache_dataset": True}),
    ("buffer", {"load": uneven(0.012, 0.110, 10), "depth": 1, "settings": SMALL},
     {"data.pipeline_depth_max": 16}),
    ("recompilation",
     {"compiled": range(5, 60, 8), "settings": {"data.pad_to_fixed_length": False}},
     {"data.pad_to_fixed_length": True}),
    ("padding", {"useful": 0.5, "settings": {"data.static_shapes": "single"}},
     {"data.static_shapes": "buckets"}),
    ("checkpointing",
     {"events": pausing("checkpoint", 0.1), "settings": {"training.checkpoint_interval": 10}},
     {"training.checkpoint_interval": 210}),
    ("validation",
     {"events": pausing("validation", 0.1), "settings": {"training.validation_interval": 10}},
     {"training.validation_interval": 210}),
]  # fmt: skip


@pytest.mark.parametrize(("cause", "made", "settings"), MADE, ids=[cause for cause, *_ in MADE])
def test_each_cause_is_named_with_its_change(cause, made, settings) -> None:
    found = verdict(run(**made))
    assert found is not None and found.cause == cause
    assert found.healthy == (cause in ("training", "balanced"))
    assert found.change.settings == settings
    assert 0.0 < found.confidence <= 0.99 and 0.0 <= found.lost < 1.0
    assert found.healthy or found.lost >= 0.1


def test_every_cause_has_a_run_here_and_words_in_both_languages() -> None:
    assert {cause for cause, *_ in MADE} == set(CAUSES) == set(get_args(Cause))
    assert set(verdict_words.table()) == set(CAUSES)
    for _, made, _ in MADE:
        found = verdict(run(**made))
        assert found is not None
        for language in LANGUAGES:
            told = found.as_json(language)
            for part in ("title", "looks", "why", "remedy"):
                assert told[part] and "{" not in told[part]
            persian = any("\u0600" <= letter <= "\u06ff" for letter in told["title"])
            assert persian == (language == "fa")


def test_too_few_steps_are_no_verdict() -> None:
    assert verdict(run(steps=lane_figures.FEWEST_STEPS)) is None  # the first one does not count
    assert verdict(run(steps=lane_figures.FEWEST_STEPS + 1)) is not None


def test_a_run_that_compiles_all_the_time_needs_no_even_step() -> None:
    made = run(compiled=range(60), settings={"data.pad_to_fixed_length": False})
    found = verdict(made)
    assert found is not None and found.cause == "recompilation"


def test_the_slow_thread_is_named_not_the_one_that_waits_behind_it() -> None:
    """Training waits while a batch is preprocessed, but loading sets the pace."""
    found = verdict(run(train=0.012, load=0.030, preprocess=0.018, parts=READING))
    assert found is not None and found.cause == "disk"
    assert found.evidence["lanes"]["host"]["busy"] > 0.95


def test_a_stock_of_batches_does_not_hide_what_the_run_is_heading_for() -> None:
    made = run(load=0.025, parts=READING)
    stocked = tuple(
        replace(step, wait=0.0, seconds=step.train, rings={"host": 1, "ready": 1})
        if step.step < STEPS - 8
        else step
        for step in made.steps
    )
    found = verdict(replace(made, steps=stocked))
    assert found is not None and found.cause == "disk" and found.evidence["waited"] < 0.08
    assert found.lost == pytest.approx(1 - 20 / 25, abs=0.03)


def test_without_threads_every_stage_is_waited_for() -> None:
    made = run(preprocess=0.015, overlapping=False,
               settings={"data.optimize_cpu_gpu_overlap": False})  # fmt: skip
    found = verdict(made)
    assert found is not None and found.cause == "preprocess"
    assert found.change.settings == {"data.optimize_cpu_gpu_overlap": True}


def test_a_recording_that_does_not_divide_loading_goes_by_how_it_loads() -> None:
    assert verdict(run(load=0.035)).cause == "disk"
    python = {"data.use_tf_native_loading": False}
    assert verdict(run(load=0.035, settings=python)).cause == "decode"


def test_a_fixed_ring_is_made_deeper_by_its_depth_and_an_adaptive_one_by_its_limit() -> None:
    swings = uneven(0.012, 0.110, 10)
    fixed = run(load=swings, depth=1, settings=SMALL | {"data.adaptive_depth": False})
    assert verdict(fixed).change.settings == {"data.pipeline_depth": 16}
    capped = run(load=swings, depth=1, settings={"data.pipeline_buffer_size": 2})
    assert verdict(capped).change.settings == {"data.pipeline_buffer_size": 50}


def test_rates_that_agree_make_it_surer_and_others_less_sure() -> None:
    made = {"load": 0.035, "parts": READING}
    plain = verdict(run(**made))
    agreeing = verdict(run(**made, events=rates(load=0.034, preprocess=0.005, training=0.02)))
    doubting = verdict(run(**made, events=rates(load=0.006, preprocess=0.005, training=0.02)))
    assert plain is not None and agreeing is not None and doubting is not None
    assert doubting.confidence < plain.confidence < agreeing.confidence
    assert agreeing.evidence["rates_agree"] is True and doubting.evidence["rates_agree"] is False
    assert {plain.cause, agreeing.cause, doubting.cause} == {"disk"}


def test_the_summary_begins_with_the_verdict_and_ends_with_its_exit_code(capsys) -> None:
    from rich.console import Console

    from myxtts.tools.report_text import show
    from myxtts.tools.summary import summarize

    slow = summarize(run(load=0.035, parts=READING))
    assert slow.verdict is not None and slow.exit_code == 1
    assert list(slow.as_json("fa"))[:2] == ["run", "verdict"]
    for language, word in (("en", "Verdict: Reading from the disk"), ("fa", "حکم")):
        show(slow, Console(width=200), language)
        assert word in capsys.readouterr().out.splitlines()[0]
    assert summarize(run()).exit_code == 0
    padded = run(useful=0.5, settings={"data.static_shapes": "single"})
    assert summarize(padded).exit_code == 1  # no finding of it must be fixed, but the verdict says


def test_a_plant_that_is_not_understood_ends_before_anything_runs(capsys) -> None:
    from myxtts.cli.main import main

    assert main(["profile", "--virtual-gpus", "2", "--plant", "laod=20"]) == 2
    assert "--plant laod=20" in capsys.readouterr().err


def test_a_replay_at_the_depth_of_the_run_waits_as_the_run_did() -> None:
    rng = random.Random(5)
    swings = [rng.lognormvariate(-4.4, 0.8) for _ in range(STEPS)]
    seen = lane_figures.window(run(load=swings, depth=16))
    assert seen is not None
    waits = [lane_figures.replayed_wait(seen, depth) for depth in (1, 2, 4, 16)]
    assert waits == sorted(waits, reverse=True) and waits[-1] <= seen.wait
