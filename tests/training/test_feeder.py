"""The pipeline: order, overlap, errors with their stage, clean ends, and who is to blame."""

import threading
import time

import pytest

from myxtts.training.feeder import EndOfData, Feeder, Lane, Parcel, Stage, StageError, blame


def load(parcel: Parcel) -> None:
    parcel.batch = parcel.step * 10


def double(parcel: Parcel) -> None:
    parcel.batch *= 2


def lanes(*works, depth: int = 2) -> list[Lane]:
    return [Lane(f"r{i}", depth, (Stage(w.__name__, w),)) for i, w in enumerate(works)]


def alive() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("myxtts-")]


@pytest.mark.parametrize("synchronous", [True, False])
@pytest.mark.parametrize("depth", [1, 3])
def test_every_batch_once_and_in_order(synchronous, depth):
    with Feeder(range(200), lanes(load, double, depth=depth), synchronous=synchronous) as feeder:
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
