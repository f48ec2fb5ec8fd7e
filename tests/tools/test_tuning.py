"""Settings that only a GPU has, read back through fake devices; the rest runs in the commands."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from myxtts.config import Config
from myxtts.devices import DevicePlan
from myxtts.tools import tuning
from myxtts.tools.tuning import Knob, Setting, not_taken

DUAL = DevicePlan("dual", "/GPU:0", "/GPU:1", isolated=True)


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Two GPUs as TensorFlow would show them, and the memory limits it took."""
    tf = pytest.importorskip("tensorflow")
    cards = [SimpleNamespace(name=f"/physical_device:GPU:{i}") for i in range(2)]
    limits = {card.name: limit for card, limit in zip(cards, (8192, 16384), strict=True)}
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind: cards)
    monkeypatch.setattr(
        tf.config,
        "get_logical_device_configuration",
        lambda card: [SimpleNamespace(memory_limit=limits[card.name])],
    )
    monkeypatch.setattr(
        tf.config.experimental, "get_memory_growth", lambda card: card.name.endswith("0")
    )
    return limits


def read(knobs: list[Knob]) -> list[Setting]:
    return [Setting(knob.name, knob.wanted, str(knob.read()), knob.note) for knob in knobs]


def test_memory_limits_are_read_back_from_the_device_of_their_role(gpus: dict[str, int]) -> None:
    config = Config().replaced(
        {
            "data.data_gpu": 0, "data.model_gpu": 1, "data.enable_memory_isolation": True,
            "data.data_gpu_memory": 8192, "data.model_gpu_memory": 16384,
        }
    )  # fmt: skip
    settings = read(tuning._memory(config, DUAL))
    assert [setting.found for setting in settings] == ["8192 MB", "16384 MB"]
    assert not_taken(settings) == []
    gpus["/physical_device:GPU:1"] = 9000
    (wrong,) = not_taken(read(tuning._memory(config, DUAL)))
    assert wrong.evidence == {
        "name": "memory limit of the model GPU",
        "wanted": "16384 MB",
        "found": "9000 MB",
    }


def test_growth_that_did_not_take_is_found(gpus: dict[str, int]) -> None:
    shared = DevicePlan("dual", "/GPU:0", "/GPU:1")
    (wrong,) = not_taken(read(tuning._memory(Config(), shared)))
    assert "GPU:1" in str(wrong.evidence["name"])
    assert wrong.severity == "fix"


def test_a_setting_that_is_left_alone_has_taken() -> None:
    assert not_taken([Setting("XLA", None, "off", "auto")]) == []
    assert len(not_taken([Setting("XLA", "autoclustering", "off", "")])) == 1
