"""The validation of two devices: real work in every section, one verdict, and no false one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf

from myxtts.cli.main import main
from myxtts.config import Config, DataConfig
from myxtts.tools import validation
from myxtts.tools.validation import SECTIONS, Check, verdict
from myxtts.training import transfer

ROOT = Path(__file__).parents[2]
VIRTUAL = ["validate", "--virtual-gpus", "2"]


def data(**settings: object) -> DataConfig:
    told = {"virtual_gpus": 2, "data_gpu": 0, "model_gpu": 1} | settings
    return Config().replaced({f"data.{key}": value for key, value in told.items()}).data


def checked(**settings: object) -> list[Check]:
    return list(validation.validate(data(**settings)))


def zeros(tensor, target):
    with tf.device(target):
        return tf.zeros_like(tensor)


def test_all_five_sections_are_printed_with_a_mark_on_every_line(capsys) -> None:
    assert main(VIRTUAL) == 0
    printed = capsys.readouterr().out
    for number, title in enumerate(SECTIONS, 1):
        assert f"\n{number}. {title}\n" in printed
    lines = [line for line in printed.splitlines() if line.startswith("   ")]
    assert len(lines) > 20 and all(line.strip()[0] in "✓–" for line in lines)
    for line in (
        "✓ indices: data GPU 0, model GPU 1",
        "✓ visible devices: CPU:0, CPU:1",
        "✓ 16,777,216 bytes /CPU:1 → /CPU:0: equal",
        "✓ batches: 8 of 8, in order",
        "✓ content: 0 batches differ from those made in turn",
    ):
        assert line in printed
    assert printed.endswith("verdict: the two-device pipeline works here\n")


def test_without_two_gpus_the_verdict_is_no(capsys) -> None:
    if len(tf.config.list_physical_devices("GPU")) >= 2:
        pytest.skip("this machine has two GPUs")
    assert main(["validate"]) == 1
    printed = capsys.readouterr().out
    assert "✗ device plan: Dual-device mode needs at least 2 GPUs, found" in printed
    assert "not reached: Model on the model device;" in printed
    assert printed.endswith("verdict: NOT ready\n")


def test_a_wrong_direct_copy_falls_back_to_the_hop(monkeypatch) -> None:
    monkeypatch.setattr(transfer, "direct", zeros)
    checks = checked()
    assert verdict(checks)
    direct = [check for check in checks if check.section == 4 and "bytes" in check.name]
    hops = [check for check in checks if "over the host" in check.name]
    assert len(direct) == 8 and not any(check.good for check in direct)
    assert len(hops) == 2 and all(check.good for check in hops)
    assert "CHANGED" in direct[0].detail and "takes this hop" in hops[0].detail


@pytest.mark.long
def test_no_good_copy_is_no_good_verdict(monkeypatch) -> None:
    monkeypatch.setattr(transfer, "direct", zeros)
    monkeypatch.setattr(transfer, "over_host", zeros)
    checks = checked()
    assert not verdict(checks)
    assert [check.good for check in checks if "over the host" in check.name] == [False, False]
    assert checks[-1].section == 5 and "arrive changed" in checks[-1].detail


@pytest.mark.long
def test_weights_in_the_wrong_place_are_seen(monkeypatch) -> None:
    build = validation._small_model

    def elsewhere():
        with tf.device("/CPU:0"):
            return build()

    monkeypatch.setattr(validation, "_small_model", elsewhere)
    checks = checked()
    (weights,) = [check for check in checks if check.name == "weights"]
    assert weights.good is False and "0 on" not in weights.detail
    assert not verdict(checks)


def test_a_device_that_fails_ends_in_a_verdict_not_a_traceback(monkeypatch, capsys) -> None:
    def fails():
        raise tf.errors.ResourceExhaustedError(None, None, "out of memory")

    monkeypatch.setattr(validation, "_small_model", fails)
    assert main([*VIRTUAL, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["good"]
    assert told["checks"][-1]["section"] == 3
    assert "ResourceExhaustedError" in told["checks"][-1]["detail"]


POLICY = """
import json, sys
from tests import fake_gpus
from tests.fake_nvml import FakeNvml
from myxtts import devices
from myxtts.config import Config
from myxtts.tools import validation

fake_gpus.plant(2, FakeNvml(ancestor=50))
data = Config().replaced(json.loads(sys.argv[1])).data
first = [[check.name, check.good, check.detail] for check in validation._prerequisites(data)]
policy = validation.memory_policy(devices.place(data))
print(json.dumps([first, policy.good, policy.detail]))
"""


@pytest.mark.parametrize(
    ("isolation", "said"),
    [
        ({}, "/GPU:0 grows, /GPU:1 grows"),
        (
            {"data.enable_memory_isolation": True, "data.data_gpu_memory": 4096,
             "data.model_gpu_memory": 8192},
            "/GPU:0 limited to 4096 MB, /GPU:1 limited to 8192 MB",
        ),
    ],
    ids=["growth", "limits"],
)  # fmt: skip
def test_cards_are_named_and_the_memory_policy_is_read_back(isolation, said) -> None:
    told = json.dumps({"data.data_gpu": 0, "data.model_gpu": 1} | isolation)
    done = subprocess.run(
        [sys.executable, "-c", POLICY, told],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr
    first, good, detail = json.loads(done.stdout.splitlines()[-1])
    assert (good, detail) == (True, said)
    found = {name: (fine, what) for name, fine, what in first}
    assert found["NVIDIA driver"] == (True, "550.54")
    assert found["GPUs"] == (True, "0: Test Card, 1: Test Card")
    assert found["GPUs seen by TensorFlow"] == (True, "2")
    assert found["topology"][0] and "SYS (slow" in found["topology"][1]
