"""Each check of a configuration, at its limits."""

from __future__ import annotations

import pytest

from myxtts.config import Config, known_keys
from myxtts.errors import UserError
from myxtts.tools.audit import audit, starting_batch


def rules(cores: int = 8, gpus: tuple[int, ...] = (), **data: object) -> dict[str, object]:
    config = Config().replaced({f"data.{key}": value for key, value in data.items()})
    return {one.rule: one for one in audit(config, cores, gpus)}


def test_the_defaults_are_right_for_a_machine_without_a_gpu() -> None:
    assert rules() == {}


@pytest.mark.parametrize(
    ("cores", "workers", "rule"),
    [
        (8, 8, None),
        (8, 4, None),
        (8, 0, None),
        (8, 9, "workers_too_many"),
        (8, 3, "workers_too_few"),
        (2, 2, None),
        (2, 3, "workers_too_many"),
        (2, 1, "workers_too_few"),
        (64, 32, None),
        (64, 33, "workers_too_many"),
    ],
)
def test_workers_are_four_to_thirty_two_and_never_above_the_cores(cores, workers, rule) -> None:
    assert list(rules(cores, num_workers=workers)) == ([rule] if rule else [])


def test_all_cores_of_a_large_machine_are_too_many_workers() -> None:
    found = rules(64, num_workers=0)["workers_too_many"]
    assert found.change.settings == {"data.num_workers": 32}


@pytest.mark.parametrize(("ahead", "good"), [(1, False), (2, True), (32, True), (33, False)])
def test_prefetch_is_two_to_thirty_two(ahead, good) -> None:
    assert ("prefetch_outside" not in rules(prefetch_buffer_size=ahead)) is good


@pytest.mark.parametrize(
    ("batch", "memory", "rule"),
    [
        (8, (), None),
        (8, (24_000, 24_000), "batch_small"),
        (16, (24_000, 24_000), None),
        (8, (8_000, 8_000), None),
        (8, (24_000, 8_000), None),
        (64, (24_000, 24_000), None),
        (65, (24_000, 24_000), "batch_large"),
        (65, (), "batch_large"),
    ],
)
def test_batches_may_be_small_on_small_cards(batch, memory, rule) -> None:
    found = rules(gpus=memory, batch_size=batch)
    assert [one for one in found if one.startswith("batch")] == ([rule] if rule else [])


def test_the_smallest_card_decides_the_starting_batch() -> None:
    assert starting_batch([24_576, 12_288]) == 8
    assert starting_batch([16_384]) == 12
    assert starting_batch([4_096]) == 1
    assert starting_batch([]) is None


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("use_tf_native_loading", False, "native_loading_off"),
        ("pad_to_fixed_length", False, "shapes_dynamic"),
        ("enable_xla", False, "xla_off"),
        ("optimize_cpu_gpu_overlap", False, "overlap_off"),
    ],
)
def test_switches_that_cost_time(key, value, rule) -> None:
    assert list(rules(**{key: value})) == [rule]


def test_xla_off_must_be_fixed_only_where_there_is_a_gpu() -> None:
    assert rules(enable_xla=False)["xla_off"].severity == "advice"
    assert rules(enable_xla=False, gpus=(24_000,))["xla_off"].severity == "fix"


def test_dual_gpu_keys() -> None:
    two = (24_576, 24_576)
    assert "second_gpu_unused" in rules(gpus=two)
    assert rules(gpus=two, data_gpu=0, model_gpu=1) == {}
    assert rules(data_gpu=0, model_gpu=1)["gpu_missing"].severity == "fix"
    assert rules(gpus=two[:1], data_gpu=0, model_gpu=1)["gpu_missing"].evidence["gpus"] == 1
    assert rules(data_gpu=0, model_gpu=1, virtual_gpus=2)["virtual_devices"].severity == "note"


def test_a_memory_limit_must_leave_a_gigabyte() -> None:
    dual = {"data_gpu": 0, "model_gpu": 1, "enable_memory_isolation": True}
    two = (24_576, 24_576)
    assert rules(gpus=two, model_gpu_memory=23_552, **dual) == {}
    found = rules(gpus=two, model_gpu_memory=23_553, **dual)["limit_high"]
    assert found.change.settings == {"data.model_gpu_memory": 23_552}


def test_every_change_names_a_known_key_and_makes_the_check_pass() -> None:
    wrong = {
        "use_tf_native_loading": False, "num_workers": 40, "prefetch_buffer_size": 1,
        "batch_size": 4, "pad_to_fixed_length": False, "enable_xla": False,
        "optimize_cpu_gpu_overlap": False,
    }  # fmt: skip
    config = Config().replaced({f"data.{key}": value for key, value in wrong.items()})
    found = audit(config, 8, (24_000,))
    assert len(found) == len(wrong)
    settings = {key: value for one in found for key, value in one.change.settings.items()}
    assert set(settings) <= set(known_keys())
    assert audit(config.replaced(settings), 8, (24_000,)) == []


def test_an_impossible_combination_is_the_configurations_business() -> None:
    with pytest.raises(UserError):
        Config().replaced({"data.data_gpu": 0})
