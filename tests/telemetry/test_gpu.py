"""NVML without a GPU: a fake library, real threads."""

from __future__ import annotations

import threading

import pytest

from myxtts.telemetry.gpu import (
    GpuLost,
    GpuSample,
    GpuSampler,
    Nvml,
    open_nvml,
    peer_to_peer,
    topology,
)
from tests.fake_nvml import FakeNvml


class Collected:
    """Samples and notices of a sampler; lets a test wait for a number of samples."""

    def __init__(self) -> None:
        self.samples: list[GpuSample] = []
        self.notices: list[str] = []
        self._changed = threading.Condition()

    def add(self, sample: GpuSample) -> None:
        with self._changed:
            self.samples.append(sample)
            self._changed.notify_all()

    def of(self, index: int) -> list[GpuSample]:
        return [sample for sample in self.samples if sample.index == index]

    def wait_for(self, index: int, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.of(index)) >= count, timeout=10)


def test_a_card_says_everything() -> None:
    library = FakeNvml()
    nvml = open_nvml(library=library)
    assert nvml is not None
    with nvml:
        assert nvml.driver() == "550.54"
        assert [(gpu.index, gpu.name, gpu.memory_total_mb) for gpu in nvml.gpus()] == [
            (0, "Test Card", 24576),
            (1, "Test Card", 24576),
        ]
        assert nvml.sample(1) == GpuSample(1, "Test Card", 73.0, 3072, 24576, 210.5)
    assert not library.open


@pytest.mark.parametrize(
    ("metric", "field"),
    [
        ("utilization", "utilization"),
        ("memory", "memory_used_mb"),
        ("memory", "memory_total_mb"),
        ("power", "power_w"),
        ("name", "name"),
    ],
)
def test_a_metric_that_a_card_lacks_is_none_and_the_others_stay(metric: str, field: str) -> None:
    sample = Nvml(FakeNvml(missing=(metric,))).sample(0)
    assert getattr(sample, field) is None
    others = {"utilization", "memory_used_mb", "power_w"} - {field}
    if metric == "memory":
        others -= {"memory_used_mb"}
    assert all(getattr(sample, other) is not None for other in others)


def test_zero_utilisation_is_a_zero_and_not_missing() -> None:
    library = FakeNvml()
    library._answer = lambda metric, value: (  # type: ignore[method-assign]
        type(value)(gpu=0) if metric == "utilization" else value
    )
    assert Nvml(library).sample(0).utilization == 0.0


def test_without_a_driver_there_is_a_reason() -> None:
    reasons: list[str] = []
    assert open_nvml(reasons.append, FakeNvml(driver=False)) is None
    assert len(reasons) == 1 and "driver" in reasons[0]


def test_a_card_that_does_not_exist_is_lost() -> None:
    with pytest.raises(GpuLost):
        Nvml(FakeNvml(cards=1)).sample(1)


@pytest.mark.parametrize(
    ("level", "name"),
    [(10, "PIX"), (20, "PXB"), (30, "PHB"), (40, "NODE"), (50, "SYS"), (99, None)],
)
def test_topology_has_the_names_of_nvidia_smi(level: int, name: str | None) -> None:
    assert topology(Nvml(FakeNvml(ancestor=level)), 0, 1) == name


def test_topology_and_peer_status_may_be_unknown() -> None:
    silent = Nvml(FakeNvml(missing=("topology", "peer")))
    assert topology(silent, 0, 1) is None
    assert peer_to_peer(silent, 0, 1) is None
    assert peer_to_peer(Nvml(FakeNvml()), 0, 1) is False
    assert topology(silent, 0, 7) is None


def test_the_sampler_samples_all_cards_until_it_is_stopped() -> None:
    found = Collected()
    sampler = GpuSampler(Nvml(FakeNvml()), found.add, 0.001, on_notice=found.notices.append)
    with sampler:
        found.wait_for(0, 3)
        found.wait_for(1, 3)
    taken = len(found.samples)
    assert not sampler._thread.is_alive()
    sampler.stop()
    assert len(found.samples) == taken
    assert found.notices == []


def test_a_lost_card_ends_its_own_sampling_with_one_notice() -> None:
    found = Collected()
    nvml = Nvml(FakeNvml(lost={1: 2}))
    with GpuSampler(nvml, found.add, 0.001, on_notice=found.notices.append):
        found.wait_for(0, 10)
    assert len(found.of(1)) == 2
    assert len(found.of(0)) >= 10
    assert len(found.notices) == 1
    assert "GPU 1" in found.notices[0] and "lost" in found.notices[0]


def test_a_listener_that_fails_ends_the_sampling_and_nothing_else() -> None:
    notices: list[str] = []
    noticed = threading.Event()

    def fail(sample: GpuSample) -> None:
        raise OSError("disk full")

    def hear(notice: str) -> None:
        notices.append(notice)
        noticed.set()

    with GpuSampler(Nvml(FakeNvml()), fail, 0.001, on_notice=hear):
        assert noticed.wait(10)
    assert notices == ["GPU sampling ended: disk full"]


def test_stop_without_start_is_harmless() -> None:
    GpuSampler(Nvml(FakeNvml()), lambda sample: None).stop()
