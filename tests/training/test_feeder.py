"""The pipeline: order, overlap, errors with their stage, clean ends, and who is to blame."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from myxtts.errors import UserError
from myxtts.training.feeder import Feeder
from myxtts.training.stages import EndOfData, Lane, Parcel, Stage, StageError, StageHung, blame


def load(parcel: Parcel) -> None:
    parcel.batch = parcel.step * 10


def double(parcel: Parcel) -> None:
    parcel.batch *= 2


def lanes(*works, depth: int = 2) -> list[Lane]:
    return [Lane(f"r{i}", depth, (Stage(w.__name__, w),)) for i, w in enumerate(works)]


def alive() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("myxtts-")]


def end_by_themselves() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("myxtts-"):
            thread.join(5)
    assert not alive()


@pytest.mark.parametrize("synchronous", [True, False])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("deepest", [None, 8])
def test_every_batch_once_and_in_order(synchronous, depth, deepest):
    made = [replace(lane, deepest=deepest) for lane in lanes(load, double, depth=depth)]
    with Feeder(range(200), made, synchronous=synchronous) as feeder:
        feeder.start()
        assert [parcel.batch for parcel in feeder] == [step * 20 for step in range(200)]
    assert not alive()


def test_a_stage_error_reaches_the_consumer_after_the_batches_before_it():
    def fail(parcel: Parcel) -> None:
        if parcel.step == 5:
            raise OSError("disk gone")

    seen = []
    with Feeder(range(10), lanes(load, fail, double)) as feeder:
        feeder.start()
        with pytest.raises(StageError, match="stage fail, step 5: OSError: disk gone"):
            seen.extend(parcel.step for parcel in feeder)
    assert seen == [0, 1, 2, 3, 4]
    assert not alive()


@pytest.mark.parametrize("synchronous", [True, False])
def test_a_stage_may_say_that_there_is_no_more(synchronous):
    def until_three(parcel: Parcel) -> None:
        if parcel.step == 3:
            raise EndOfData
        parcel.batch = parcel.step

    with Feeder(range(100), lanes(until_three), synchronous=synchronous) as feeder:
        feeder.start()
        assert [parcel.batch for parcel in feeder] == [0, 1, 2]


def test_leaving_early_ends_all_threads():
    with Feeder(range(10**9), lanes(load, double)) as feeder:
        feeder.start()
        for parcel in feeder:
            if parcel.step == 7:
                break
    assert not alive()


def test_no_more_batches_are_in_flight_than_allowed():
    loaded = []
    counting = Stage("load", lambda parcel: loaded.append(parcel.step))
    with Feeder(range(100), [Lane("r", 50, (counting,))], in_flight=4) as feeder:
        feeder.start()
        feeder.wait_until_warm(0.2)
        assert len(loaded) == 4
        next(iter(feeder))
        time.sleep(0.1)
        assert len(loaded) == 5


def test_lanes_overlap():
    """While the consumer holds batch 0, the lanes already work on later ones."""
    at_work = threading.Event()

    def later(parcel: Parcel) -> None:
        if parcel.step == 1:
            at_work.set()

    with Feeder(range(3), lanes(load, later)) as feeder:
        feeder.start()
        parcels = iter(feeder)
        assert next(parcels).step == 0
        assert at_work.wait(5)


def test_a_wait_is_blamed_on_the_stage_that_the_batch_was_in():
    parcel = Parcel(0, finished={"load": 2.0, "preprocess": 5.0, "transfer": 6.0})
    assert blame(parcel, 1.0, 6.0) == {"load": 1.0, "preprocess": 3.0, "transfer": 1.0}
    assert blame(parcel, 5.5, 6.5) == {"transfer": 0.5}  # the rest is the hand-over
    assert blame(parcel, 7.0, 7.0) == {}


def test_a_real_wait_is_blamed_on_the_slow_stage():
    def slow(parcel: Parcel) -> None:
        time.sleep(0.01)

    with Feeder(range(5), lanes(load, slow)) as feeder:
        feeder.start()
        parcels = iter(feeder)
        for _ in range(5):
            started = time.perf_counter()
            parcel = next(parcels)
            ended = time.perf_counter()
            shares = blame(parcel, started, ended)
            assert sum(shares.values()) <= ended - started
            assert max(shares, key=lambda stage: shares[stage]) == "slow"


def named(parcel: Parcel) -> None:
    parcel.facts["clips"] = [f"clip-{parcel.step}-{row}" for row in range(10)]


@pytest.mark.parametrize("synchronous", [True, False])
def test_an_error_names_stage_step_and_clips(synchronous):
    def fail(parcel: Parcel) -> None:
        raise OSError("disk gone")

    feeder = Feeder(range(10), lanes(named, fail), synchronous=synchronous)
    with feeder, pytest.raises(StageError) as caught:
        list(feeder)
    assert (caught.value.stage, caught.value.step) == ("fail", 0)
    assert caught.value.clips == tuple(f"clip-0-{row}" for row in range(10))
    assert "clips clip-0-0, clip-0-1" in str(caught.value) and "and 2 more" in str(caught.value)
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize("synchronous", [True, False])
def test_an_error_that_says_what_to_do_also_says_where(synchronous):
    def refuse(parcel: Parcel) -> None:
        raise UserError("No such clip", received="nothing", remedy="look again")

    feeder = Feeder(range(10), lanes(named, refuse), synchronous=synchronous)
    with feeder, pytest.raises(UserError) as caught:
        list(feeder)
    assert caught.value.received.startswith("nothing (stage refuse, step 0, clips clip-0-0, ")
    assert caught.value.remedy == "look again"


def hanging(released: threading.Event):
    def hang(parcel: Parcel) -> None:
        if parcel.step == 4:
            released.wait()

    return hang


def test_a_stage_that_hangs_is_named_and_left_behind():
    released, seen = threading.Event(), []
    feeder = Feeder(range(10), lanes(named, hanging(released), load), stage_timeout=0.2)
    with pytest.raises(StageHung, match="stage hang, step 4: not done after") as caught:
        seen.extend(parcel.step for parcel in feeder)
    assert seen == [0, 1, 2, 3]
    assert caught.value.clips[0] == "clip-4-0" and "data.stage_timeout" in caught.value.remedy
    assert feeder.close() == ["stage hang, step 4"]
    assert alive() == ["myxtts-r1"]
    released.set()
    end_by_themselves()
    assert feeder.close() == []


def test_closing_does_not_wait_for_ever_for_a_stage():
    released = threading.Event()
    feeder = Feeder(range(10), lanes(load, hanging(released)))
    assert next(iter(feeder)).step == 0
    while feeder.states()[0].items < 5:
        time.sleep(0.001)
    assert feeder.close(patience=0.1) in ([], ["stage hang, step 4"])
    released.set()
    assert feeder.close() == [] and not alive()


def test_a_slow_stage_does_not_hang():
    def slow(parcel: Parcel) -> None:
        time.sleep(0.03)

    with Feeder(range(20), lanes(load, slow), stage_timeout=0.4) as feeder:
        assert len(list(feeder)) == 20


def test_threads_end_by_themselves_when_a_later_lane_ends_the_data():
    def until_three(parcel: Parcel) -> None:
        if parcel.step == 3:
            raise EndOfData

    feeder = Feeder(range(10**9), lanes(load, double, until_three))
    assert len(list(feeder)) == 3
    end_by_themselves()
    assert feeder.close() == []


def test_the_byte_budget_keeps_heavy_batches_out():
    loaded = []

    def heavy(parcel: Parcel) -> None:
        loaded.append(parcel.step)
        parcel.batch = np.zeros(1000, np.uint8)

    with Feeder(range(100), lanes(heavy, depth=50), in_flight_bytes=4500) as feeder:
        feeder.start()
        feeder.wait_until_warm(0.2)
        assert len(loaded) == 4
        assert len(list(feeder)) == 100


def test_a_ring_that_runs_dry_after_it_was_full_becomes_deeper():
    """The producer stops for a while; what the consumer then waited for is bridged next time."""
    go_on, changes = threading.Event(), []

    def stall(parcel: Parcel) -> None:
        if parcel.step == 20:
            go_on.wait()

    lane = replace(lanes(stall)[0], deepest=8)
    with Feeder(range(60), [lane], on_depth=changes.append) as feeder:
        feeder.start()
        feeder.wait_until_warm(5)
        for parcel in feeder:
            time.sleep(0.002)
            if parcel.step == 19:
                threading.Timer(0.05, go_on.set).start()
    assert changes[0].reason == "empty after full"
    assert (changes[0].ring, changes[0].before) == ("r0", 2) and changes[0].after > 2
    assert feeder.states()[0].deepest <= 8
