"""What each setting of the pipeline does, as the recording of a real short run shows it."""

import threading

import pytest

from myxtts.config import Config
from myxtts.telemetry import session
from myxtts.telemetry.session import Session
from myxtts.training import trainer
from myxtts.training.batch_path import BatchPath
from myxtts.training.feeder import Feeder
from myxtts.training.run import train
from myxtts.training.stages import Stage

from .conftest import DUAL, TINY

PLAIN = {"data.model_start_delay": 60.0, "data.prefetch_buffer_size": 4}
"""Training waits for a full pipeline: what lies in the rings is then no matter of luck."""
AT_NEED = {"data.prefetch_to_gpu": False, "data.prefetch_buffer_size": 2}


@pytest.fixture(scope="module")
def recorded(small_corpus, tmp_path_factory):
    """`recorded(settings)` -> the session of a run on two devices, made once for all tests."""
    runs: dict[str, Session] = {}

    def run(settings: dict) -> Session:
        told = TINY | DUAL | {
            "data.train_data": str(small_corpus),
            "data.max_buckets": 1,
            "data.adaptive_depth": False,
            "training.report_interval": 2,
            "training.max_steps": 8,
        }  # fmt: skip
        name = repr(settings)
        if name not in runs:
            folder = {"training.output_dir": str(tmp_path_factory.mktemp("run") / "run")}
            runs[name] = session.load(train(Config().replaced(told | settings | folder)))
        return runs[name]

    return run


def lanes(run: Session) -> dict[str, list[str]]:
    (event,) = run.of_kind("pipeline")
    return {lane["ring"]: lane["stages"] for lane in event["lanes"]}


def fullest(run: Session, ring: str) -> int:
    return max(step.rings[ring] for step in run.steps)


@pytest.mark.parametrize("delay", [0.0, 60.0])
def test_model_start_delay_waits_for_a_full_pipeline(recorded, monkeypatch, delay):
    """Nothing is loaded until the wait begins, so only the wait can have filled the ring."""
    begin, load_stage = threading.Event(), BatchPath.load_stage

    class Waiting(Feeder):
        def wait_until_warm(self, timeout):
            begin.set()
            return super().wait_until_warm(timeout)

    def held(path: BatchPath, batches) -> Stage:
        real = load_stage(path, batches).work

        def load(parcel):
            begin.wait(60)
            real(parcel)

        return Stage("load", load)

    monkeypatch.setattr(trainer, "Feeder", Waiting)
    monkeypatch.setattr(BatchPath, "load_stage", held)
    run = recorded({"data.model_start_delay": delay})
    (start,) = run.of_kind("model_start")
    assert start["delay"] == delay
    assert (start["ready"]["ready"] == 3) == (delay > 0)
    assert start["waited"] < 60  # it ends with the filling, not with the delay
    assert run.accounts["data_wait"] >= start["waited"]


def test_buffer_size_bounds_all_batches_in_flight(recorded):
    many, few = recorded(PLAIN), recorded({"data.pipeline_buffer_size": 2})
    in_flight = [max(sum(step.rings.values()) for step in run.steps) for run in (many, few)]
    assert in_flight[0] > 2 >= in_flight[1]
    assert [next(run.of_kind("pipeline"))["in_flight"] for run in (many, few)] == [50, 2]


def test_prefetch_buffer_size_is_the_depth_of_the_host_ring(recorded):
    more, two = recorded(PLAIN), recorded(PLAIN | AT_NEED)
    for run, depth in ((more, 4), (two, 2)):
        assert {event["depth"] for event in run.of_kind("ring") if event["name"] == "host"} == {
            depth
        }
    assert fullest(more, "host") > 2 >= fullest(two, "host")


def test_prefetch_to_gpu_uploads_before_the_host_ring(recorded):
    ahead, at_need = recorded(PLAIN), recorded(PLAIN | AT_NEED)
    assert lanes(ahead) == {"host": ["load", "upload"], "ready": ["preprocess", "transfer"]}
    assert lanes(at_need) == {"host": ["load"], "ready": ["upload", "preprocess", "transfer"]}
    for run in (ahead, at_need):
        assert all(list(step.stages) == run_order(run) for step in run.steps)
    assert [step.loss for step in ahead.steps] == [step.loss for step in at_need.steps]


def run_order(run: Session) -> list[str]:
    return [stage for stages in lanes(run).values() for stage in stages]


def test_enhanced_gpu_prefetch_adds_a_ring_of_uploaded_batches(recorded):
    run = recorded(PLAIN | {"data.enhanced_gpu_prefetch": True})
    assert lanes(run)["uploaded"] == ["upload"]
    assert all("uploaded" in step.rings for step in run.steps)
    assert fullest(run, "uploaded") > 0  # batches do wait there, on the data device
    moved = {event["name"]: event["items"] for event in run.of_kind("ring")}
    assert moved["uploaded"] > 0


def test_without_overlap_every_stage_is_waited_for(recorded):
    alone = recorded({"data.optimize_cpu_gpu_overlap": False})
    (event,) = alone.of_kind("pipeline")
    assert not event["overlapping"]
    assert not any(step.rings for step in alone.steps)
    assert all(step.wait >= sum(step.stages.values()) for step in alone.steps)
    overlapping = recorded(PLAIN)
    assert next(overlapping.of_kind("pipeline"))["overlapping"]
    assert any(step.rings["ready"] for step in overlapping.steps)
    assert [step.loss for step in alone.steps] == [step.loss for step in overlapping.steps]
