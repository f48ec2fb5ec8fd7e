"""The simulated pipeline against its closed forms and against the real threads."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pytest

from myxtts.tools.pipeline_model import Layout, ModelLane, Work, simulate
from myxtts.training.depth import AdaptiveDepth
from myxtts.training.feeder import Feeder
from myxtts.training.stages import Lane, Parcel, Stage

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import ideal


def work_of(rng: np.random.Generator, steps: int, *stages: str) -> Work:
    """Times that differ by a factor of four and more."""
    drawn = {stage: rng.lognormal(-5, 0.7, steps) for stage in stages}
    return Work(drawn, rng.lognormal(-5, 0.7, steps), np.zeros(steps))


def one_lane(depth: int, deepest: int | None = None, *, overlapping: bool = True) -> Layout:
    return Layout((ModelLane("ready", ("prepare",), depth, deepest),), overlapping)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("depth", [1, 2, 3, 8])
def test_one_lane_is_the_closed_form(seed: int, depth: int) -> None:
    work = work_of(np.random.default_rng(seed), 200, "prepare")
    expected = ideal.seconds(work.stages["prepare"], work.train, depth)
    assert simulate(one_lane(depth), work, warm=False).seconds() == pytest.approx(expected)


def test_without_overlap_everything_is_summed() -> None:
    work = work_of(np.random.default_rng(1), 100, "prepare")
    expected = ideal.one_after_the_other(work.stages["prepare"], work.train)
    course = simulate(one_lane(3, overlapping=False), work)
    assert course.seconds() == pytest.approx(expected)
    assert course.waited.sum() == pytest.approx(work.stages["prepare"].sum())


@pytest.mark.parametrize("seed", range(4))
def test_a_lane_that_costs_nothing_lengthens_the_ring_before_it(seed: int) -> None:
    work = work_of(np.random.default_rng(seed), 150, "load", "copy")
    work.stages["copy"][:] = 0.0
    lanes = (ModelLane("host", ("load",), 2), ModelLane("ready", ("copy",), 3))
    # Two waiting behind the first lane, one in the second's hands, three behind it.
    expected = ideal.seconds(work.stages["load"], work.train, 2 + 1 + 3)
    assert simulate(Layout(lanes), work, warm=False).seconds() == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
def test_batches_in_flight_limit_like_a_ring(seed: int) -> None:
    """n in flight with a roomy ring: one in the lane's hands and n - 1 waiting behind it."""
    work = work_of(np.random.default_rng(seed), 150, "prepare")
    limited = Layout((ModelLane("ready", ("prepare",), 64),), in_flight=4)
    # The lane may not begin batch i before i - 4 was taken; a ring lets it begin and then wait.
    begun = simulate(limited, work, warm=False).seconds()
    assert begun >= ideal.seconds(work.stages["prepare"], work.train, 4) - 1e-12
    assert begun <= ideal.seconds(work.stages["prepare"], work.train, 3) + 1e-12


def test_a_warm_start_waits_for_a_full_ring_and_no_step_waits_before_it_is_empty() -> None:
    work = Work({"prepare": np.full(40, 2.0)}, np.full(40, 1.0), np.zeros(40))
    course = simulate(one_lane(4), work)
    assert course.taken[0] == 8.0
    assert list(course.waited[:4]) == [0.0] * 4
    assert course.waited[-1] == 1.0


def test_an_adaptive_ring_ends_rare_stalls() -> None:
    prepare = np.full(600, 0.5)
    prepare[100::100] = 6.0
    work = Work({"prepare": prepare}, np.ones(600), np.zeros(600))
    fixed = simulate(one_lane(2), work).waited.sum()
    adaptive = simulate(one_lane(2, 16), work).waited.sum()
    assert adaptive < 0.5 * fixed
    assert adaptive == pytest.approx(_by_hand(work, 2, 16))


def _by_hand(work: Work, depth: int, most: int) -> float:
    """The same ring, moved forward one event at a time."""
    adaptive, items, now, left, waited = AdaptiveDepth(depth, most), 0, 0.0, 0.0, 0.0
    prepare, train = list(work.stages["prepare"]), list(work.train)
    done, produced, taken, blocked, busy, started = prepare[0], 0, 0, False, 0.0, False
    while taken < len(train):
        if not started and items == depth:
            started, busy = True, now
        wants = started and items > 0
        at_take = busy if wants and busy >= now else now if wants else np.inf
        at_put = done if produced < len(prepare) and not blocked else np.inf
        if at_put <= at_take and at_put < np.inf:
            now = at_put
            if items < adaptive.depth:
                items, produced = items + 1, produced + 1
                if items >= adaptive.depth:
                    adaptive.filled()
                done = now + prepare[produced] if produced < len(prepare) else np.inf
            else:
                blocked = True
            continue
        now = at_take
        waits = now - busy
        found = items if waits == 0 else 0
        adaptive.taken(found, waits, busy - left)
        left, items, waited = now, items - 1, waited + waits
        busy = now + train[taken]
        taken += 1
        if blocked and items < adaptive.depth:
            blocked, items, produced = False, items + 1, produced + 1
            if items >= adaptive.depth:
                adaptive.filled()
            done = now + prepare[produced] if produced < len(prepare) else np.inf
    return waited


def test_the_real_threads_take_as_long_as_the_arithmetic_says() -> None:
    """Stages that sleep, with the times they really took; the machine may be busy beside it."""
    rng = np.random.default_rng(3)
    naps = {stage: rng.lognormal(-5.5, 0.5, 60) for stage in ("load", "copy")}
    took: dict[str, list[float]] = {"load": [], "copy": [], "train": []}

    def nap(stage: str, seconds: float) -> None:
        begin = time.perf_counter()
        time.sleep(seconds)
        took[stage].append(time.perf_counter() - begin)

    def stage(name: str) -> Stage:
        def rest(parcel: Parcel) -> None:
            nap(name, naps[name][parcel.step])

        return Stage(name, rest)

    lanes = [Lane("host", 2, (stage("load"),)), Lane("ready", 3, (stage("copy"),))]
    with Feeder(range(60), lanes) as feeder:
        begin = None
        for _ in feeder:
            begin = begin or time.perf_counter()
            nap("train", 0.005)
        measured = time.perf_counter() - (begin or 0.0)
    drawn = (ModelLane("host", ("load",), 2), ModelLane("ready", ("copy",), 3))
    stages = {name: np.array(took[name]) for name in naps}
    work = Work(stages, np.array(took["train"]), np.zeros(60))
    simulated = simulate(Layout(drawn), work, warm=False).seconds()
    assert 0.9 < measured / simulated < 1.5
