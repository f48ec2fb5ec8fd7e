"""The machine as tools see it, with a fake NVML."""

from __future__ import annotations

from myxtts.tools.diagnosis_text import environment_lines
from myxtts.tools.environment import environment, prerequisites
from tests.fake_nvml import FakeNvml


def test_two_cards_and_their_link() -> None:
    found = environment(FakeNvml(ancestor=50))
    assert found.gpu_memory_mb == [24576, 24576]
    assert found.driver == "550.54"
    (link,) = found.links
    assert (link.a, link.b, link.topology, link.peer_to_peer) == (0, 1, "SYS", False)
    assert found.no_gpu_reason is None
    assert found.cores >= 1


def test_a_card_that_does_not_say_its_memory() -> None:
    found = environment(FakeNvml(cards=1, missing=("memory", "name")))
    assert found.gpu_memory_mb == []
    assert len(found.gpus) == 1 and found.gpus[0].name is None


def test_no_driver_and_no_card_have_reasons() -> None:
    assert "driver" in str(environment(FakeNvml(driver=False)).no_gpu_reason)
    assert environment(FakeNvml(cards=0)).no_gpu_reason == "the driver shows no GPU"


def test_what_is_missing_before_anything_runs() -> None:
    two = environment(FakeNvml())
    assert prerequisites(two, 2) == []
    (unseen,) = prerequisites(two, 0)
    assert (unseen.rule, unseen.severity) == ("gpu_not_seen", "fix")
    (none,) = prerequisites(environment(FakeNvml(cards=0)), 0)
    assert (none.rule, none.severity) == ("no_gpu", "note")
    without = type(two)(**{**vars(two), "tensorflow": None})
    assert [one.rule for one in prerequisites(without, None)] == ["tensorflow_missing"]


def test_what_a_card_does_not_say_is_not_available() -> None:
    silent = environment(FakeNvml(missing=("name", "memory", "topology", "peer")))
    lines = environment_lines(silent)
    assert "GPU 0: N/A, N/A MB" in lines
    assert "GPU 0 to GPU 1: N/A, peer-to-peer N/A" in lines
    assert "GPU 0 to GPU 1: SYS, peer-to-peer no" in environment_lines(
        environment(FakeNvml(ancestor=50))
    )
