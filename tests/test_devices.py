"""Placement: every plan, every refusal. GPU branches run against TensorFlow's own validation with
fake physical devices and a fake driver, in processes of their own: TensorFlow starts only once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from myxtts import devices
from myxtts.config import Config
from myxtts.devices import Link
from myxtts.devices.links import driver_index
from myxtts.errors import UserError

ROOT = Path(__file__).parents[1]

PLACE = """
import json, sys
from tests import fake_gpus
from tests.fake_nvml import FakeNvml
from myxtts import devices
from myxtts.config import Config

gpus, driver, overrides = json.loads(sys.argv[1])
tf = fake_gpus.plant(gpus, None if driver is None else FakeNvml(cards=gpus, **driver))
plan = devices.place(Config().replaced(overrides).data)
print(json.dumps({
    "kind": plan.kind, "data": plan.data_device, "model": plan.model_device,
    "virtual": plan.virtual, "isolated": plan.isolated, "mapping": dict(plan.mapping),
    "replicas": plan.replicas, "line": plan.describe(), **fake_gpus.accepted(tf),
}))
"""

PRINT = """
import contextlib, io, json, sys
from tests import fake_gpus
from tests.fake_nvml import FakeNvml
from myxtts.cli.main import main

gpus, driver, commands = json.loads(sys.argv[1])
fake_gpus.plant(gpus, FakeNvml(cards=gpus, **driver))
answers = []
for words in commands:
    said, unheard = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(unheard):
        code = main(["train", "--train-data", "corpus", *words])
    answers.append([code, said.getvalue()])
print(json.dumps(answers))
"""


def child(program: str, *told: object) -> object:
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(told)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def place(overrides: dict, gpus: int = 0, driver: dict | None = None) -> dict:
    """`driver` is what the fake NVML is made with; None: no driver answers."""
    return child(PLACE, gpus, driver, {f"data.{key}": value for key, value in overrides.items()})


def test_without_a_gpu_everything_is_on_the_cpu():
    plan = place({})
    assert (plan["kind"], plan["data"], plan["model"]) == ("one", "/CPU:0", "/CPU:0")


def test_virtual_devices_stand_in_for_gpus():
    plan = place({"virtual_gpus": 2, "data_gpu": 0, "model_gpu": 1})
    assert (plan["kind"], plan["data"], plan["model"]) == ("dual", "/CPU:0", "/CPU:1")
    assert plan["virtual"] and "logical CPU device" in plan["line"]


def test_one_gpu_of_several_is_used_and_grows():
    plan = place({}, gpus=3)
    assert (plan["kind"], plan["model"]) == ("one", "/GPU:0")
    assert plan["visible"] == ["/physical_device:GPU:0"]
    assert plan["growth"] == {"0": True}


def test_two_gpus_are_mapped_explicitly_whatever_their_order():
    plan = place({"data_gpu": 3, "model_gpu": 2}, gpus=4, driver={"ancestor": 50})
    assert (plan["data"], plan["model"]) == ("/GPU:1", "/GPU:0")
    assert plan["mapping"] == {"/GPU:0": "physical GPU 2", "/GPU:1": "physical GPU 3"}
    assert plan["visible"] == ["/physical_device:GPU:2", "/physical_device:GPU:3"]
    assert plan["growth"] == {"2": True, "3": True}
    assert plan["line"] == (
        "plan dual: data on /GPU:1, model on /GPU:0 (/GPU:1 is physical GPU 3; "
        "/GPU:0 is physical GPU 2; memory grows as needed; GPU 2 to GPU 3: SYS (slow: copies "
        "cross from one CPU socket to the other), no peer-to-peer: copies go over the host's "
        "memory)"
    )


def test_isolation_limits_both_gpus_and_leaves_growth_off():
    plan = place(
        {
            "data_gpu": 0, "model_gpu": 1, "enable_memory_isolation": True,
            "data_gpu_memory": 8192, "model_gpu_memory": 16384,
        },
        gpus=2,
        driver={},
    )  # fmt: skip
    assert plan["limits"] == {"0": 8192, "1": 16384}
    assert not any(plan["growth"].values())
    assert plan["isolated"] and "/GPU:1 is physical GPU 1, limited to 16384 MB" in plan["line"]


def test_limits_come_from_the_cards_when_none_are_told():
    told = {"data_gpu": 1, "model_gpu": 0, "enable_memory_isolation": True}
    plan = place(told, gpus=2, driver={"memory_mb": [24564, 12282]})
    assert plan["limits"] == {"0": 16384, "1": 4096}


@pytest.mark.parametrize(
    ("named", "physical"), [({}, [0, 1, 2]), ({"data_gpu": 2, "model_gpu": 1}, [1, 2])]
)
def test_replicas_take_all_gpus_or_the_two_that_are_named(named, physical):
    plan = place({"device_plan": "replicas", **named}, gpus=3, driver={"ancestor": 10, "peer": 0})
    logical = [f"/GPU:{position}" for position in range(len(physical))]
    assert plan["replicas"] == logical and plan["model"] == plan["data"] == "/GPU:0"
    assert plan["mapping"] == {
        name: f"physical GPU {index}" for name, index in zip(logical, physical, strict=True)
    }
    assert plan["visible"] == [f"/physical_device:GPU:{index}" for index in physical]
    assert all(plan["growth"].values())
    assert "GPU 1 to GPU 2: PIX, peer-to-peer" in plan["line"]


REFUSED = {
    ("--data-gpu", "0", "--model-gpu", "1"): {
        0: (1, """\
error: Dual-device mode needs at least 2 GPUs, found 0
  received: data_gpu: 0, model_gpu: 1
  so:       nothing is trained: one device in the place of two would be another run
  try:      train on one device (leave out --data-gpu and --model-gpu), or rehearse with \
--virtual-gpus 2
"""),
        1: (1, """\
error: Dual-device mode needs at least 2 GPUs, found 1
  received: data_gpu: 0, model_gpu: 1
  so:       nothing is trained: one device in the place of two would be another run
  try:      train on one device (leave out --data-gpu and --model-gpu), or rehearse with \
--virtual-gpus 2
"""),
    },
    ("--plan", "replicas"): {
        1: (1, """\
error: The plan replicas needs at least 2 GPUs, found 1
  received: device_plan: replicas
  so:       there is nothing to divide a batch over
  try:      --plan one, or rehearse with --virtual-gpus 2
"""),
    },
    ("--plan", "replicas", "--virtual-gpus", "1"): {
        0: (1, """\
error: The plan replicas needs at least 2 virtual GPUs, found 1
  received: device_plan: replicas
  so:       there is nothing to divide a batch over
  try:      --plan one, or rehearse with --virtual-gpus 2
"""),
    },
    ("--data-gpu", "0", "--model-gpu", "5"): {
        2: (2, """\
error: --model-gpu 5 is out of range: there are 2 GPUs
  received: --model-gpu 5
  so:       no other device is taken in its place
  try:      choose two of 0 to 1
"""),
    },
    ("--data-gpu", "7", "--model-gpu", "1", "--virtual-gpus", "2"): {
        0: (2, """\
error: --data-gpu 7 is out of range: there are 2 virtual GPUs
  received: --data-gpu 7
  so:       no other device is taken in its place
  try:      choose two of 0 to 1
"""),
    },
    ("--plan", "replicas", "--data-gpu", "0", "--model-gpu", "2"): {
        2: (2, """\
error: --model-gpu 2 is out of range: there are 2 GPUs
  received: --model-gpu 2
  so:       no other device is taken in its place
  try:      choose two of 0 to 1
"""),
    },
    ("--data-gpu", "0", "--model-gpu", "1", "--enable-memory-isolation",
     "--data-gpu-memory", "4000", "--model-gpu-memory", "8000"): {
        2: (2, """\
error: A memory limit must leave 1024 MB of the card free
  received: 8000 MB on GPU 1, which has 8188 MB
  so:       CUDA itself would find no room, and the run would die later
  try:      a limit of at most 7164 MB
"""),
    },
}  # fmt: skip


@pytest.mark.parametrize("gpus", [0, 1, 2])
def test_what_the_machine_cannot_do_is_refused(gpus):
    """As printed by train_main.py; a refused plan changes nothing, so one process asks them all."""
    cases = {words: answers[gpus] for words, answers in REFUSED.items() if gpus in answers}
    printed = child(PRINT, gpus, {"memory_mb": [8188] * gpus}, list(cases))
    assert {words: tuple(said) for words, said in zip(cases, printed, strict=True)} == cases


def test_a_card_that_hides_its_memory_needs_a_limit():
    words = ["--data-gpu", "0", "--model-gpu", "1", "--enable-memory-isolation"]
    assert child(PRINT, 2, {"missing": ["memory"]}, [words]) == [[2, """\
error: The memory of GPU 0 cannot be read, so its limit cannot be chosen
  so:       isolation would be a guess
  try:      add --data-gpu-memory MB and --model-gpu-memory MB
"""]]  # fmt: skip


def test_a_plan_comes_too_late_after_tensorflow_has_started():
    import tensorflow as tf

    tf.config.list_logical_devices()
    with pytest.raises(UserError, match="before TensorFlow starts") as refused:
        devices.place(Config().replaced({"data.virtual_gpus": 8}).data)
    assert refused.value.remedy and refused.value.follows


@pytest.mark.parametrize(
    ("link", "said"),
    [
        (Link(0, 1, "PIX", True), "GPU 0 to GPU 1: PIX, peer-to-peer"),
        (
            Link(0, 1, "NODE", False),
            "GPU 0 to GPU 1: NODE (slow: copies cross the PCIe bridges of a CPU), "
            "no peer-to-peer: copies go over the host's memory",
        ),
        (Link(2, 3, None, None), "GPU 2 to GPU 3: topology N/A, peer-to-peer N/A"),
    ],
)
def test_a_link_is_said_in_words(link, said):
    assert link.describe() == said


def test_the_driver_numbers_cards_that_tensorflow_does_not_see(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert driver_index(1) == 1
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    assert [driver_index(0), driver_index(1), driver_index(2)] == [2, 3, 2]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-8932f937")
    assert driver_index(0) == 0
