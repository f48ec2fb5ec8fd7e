"""Placement: every plan, every refusal. GPU branches run against TensorFlow's own validation with
fake physical devices, each in a process of its own, because TensorFlow starts only once."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

PLACE = """
import json, sys
import tensorflow as tf
from tensorflow.python.eager import context as eager_context
from myxtts import devices
from myxtts.config import Config
from myxtts.errors import UserError

gpus, totals, overrides = json.loads(sys.argv[1])
context = eager_context.context()
if gpus:
    context._initialize_physical_devices()
    fakes = [tf.config.PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(gpus)]
    context._physical_devices += fakes
    context._physical_device_to_index.update({d: i for i, d in enumerate(fakes)})
    context._visible_device_list += fakes
    context._memory_growth_map.update({d: None for d in fakes})
devices._memory_totals = lambda: {int(k): v for k, v in totals.items()}
try:
    plan = devices.place(Config().replaced(overrides).data)
except UserError as refused:
    print(json.dumps({"refused": str(refused), "exit_code": refused.exit_code}))
    sys.exit()
visible = [d.name for d in tf.config.get_visible_devices("GPU")]
limits, growth = {}, {}
for d in tf.config.get_visible_devices("GPU"):
    logical = tf.config.get_logical_device_configuration(d)
    limits[d.name[-1]] = logical and logical[0].memory_limit
    growth[d.name[-1]] = tf.config.experimental.get_memory_growth(d)
print(json.dumps({
    "kind": plan.kind, "data": plan.data_device, "model": plan.model_device,
    "virtual": plan.virtual, "isolated": plan.isolated, "mapping": dict(plan.mapping),
    "visible": visible, "limits": limits, "growth": growth, "line": plan.describe(),
}))
"""


def place(overrides: dict, gpus: int = 0, totals: dict | None = None) -> dict:
    told = json.dumps([gpus, totals or {}, {f"data.{k}": v for k, v in overrides.items()}])
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PLACE), told],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


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
    plan = place({"data_gpu": 3, "model_gpu": 2}, gpus=4)
    assert (plan["data"], plan["model"]) == ("/GPU:1", "/GPU:0")
    assert plan["mapping"] == {"/GPU:0": "physical GPU 2", "/GPU:1": "physical GPU 3"}
    assert plan["visible"] == ["/physical_device:GPU:2", "/physical_device:GPU:3"]
    assert plan["growth"] == {"2": True, "3": True}


def test_isolation_limits_both_gpus_and_leaves_growth_off():
    plan = place(
        {
            "data_gpu": 0, "model_gpu": 1, "enable_memory_isolation": True,
            "data_gpu_memory": 8192, "model_gpu_memory": 16384,
        },
        gpus=2,
        totals={0: 24564, 1: 24564},
    )  # fmt: skip
    assert plan["limits"] == {"0": 8192, "1": 16384}
    assert not any(plan["growth"].values())
    assert plan["isolated"]


def test_limits_come_from_the_cards_when_none_are_told():
    told = {"data_gpu": 1, "model_gpu": 0, "enable_memory_isolation": True}
    plan = place(told, gpus=2, totals={0: 24564, 1: 12282})
    assert plan["limits"] == {"0": 16384, "1": 4096}


@pytest.mark.parametrize(
    ("overrides", "gpus", "totals", "expected", "code"),
    [
        ({"data_gpu": 0, "model_gpu": 1}, 0, {}, "needs at least 2 GPUs, found 0", 1),
        ({"data_gpu": 0, "model_gpu": 1}, 1, {}, "needs at least 2 GPUs, found 1", 1),
        ({"data_gpu": 0, "model_gpu": 5}, 2, {}, "--model-gpu 5 is out of range", 2),
        ({"data_gpu": 7, "model_gpu": 1, "virtual_gpus": 2}, 0, {}, "--data-gpu 7 is out of", 2),
        (
            {"data_gpu": 0, "model_gpu": 1, "enable_memory_isolation": True,
             "data_gpu_memory": 8000, "model_gpu_memory": 4000},
            2, {0: 8188, 1: 8188}, "must leave 1024 MB", 2,
        ),
        (
            {"data_gpu": 0, "model_gpu": 1, "enable_memory_isolation": True},
            2, {}, "add --data-gpu-memory MB", 2,
        ),
    ],
)  # fmt: skip
def test_what_the_machine_cannot_do_is_refused(overrides, gpus, totals, expected, code):
    refused = place(overrides, gpus, totals)
    assert expected in refused["refused"]
    assert refused["exit_code"] == code
