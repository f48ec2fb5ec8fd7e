"""Each rule on a run that shows it, and on one that does not."""

from __future__ import annotations

import pytest

from myxtts.tools.findings import Change, Finding, combined_settings, exit_code, findings, ordered


def rules(session) -> dict[str, Finding]:
    return {one.rule: one for one in findings(session)}


def test_a_healthy_run_has_no_finding(record) -> None:
    assert findings(record()) == []
    assert exit_code([]) == 0


@pytest.mark.parametrize(
    ("rule", "below", "above"),
    [
        ("data_load_high", {"load": 0.19}, {"load": 0.21}),
        ("data_load_high", {"load": 0.1, "upload": 0.09}, {"load": 0.1, "upload": 0.11}),
        ("transfer_high", {"transfer": 0.14}, {"transfer": 0.16}),
    ],
)
def test_a_wait_counts_from_its_limit_on(record, rule, below, above) -> None:
    assert rule not in rules(record("below", train=0.7, blame=below))
    found = rules(record("above", train=0.7, blame=above))[rule]
    assert found.severity == "fix"
    assert found.expected_gain == pytest.approx(sum(above.values()))
    assert exit_code([found]) == 1


def test_training_below_half_names_what_takes_its_place(record) -> None:
    assert "training_low" not in rules(record("enough", train=0.51, blame={}))
    found = rules(record("little", train=0.49, blame={"preprocess": 0.4}))["training_low"]
    assert found.evidence["largest"] == "preprocess"
    assert found.evidence["share"] == pytest.approx(0.49)


def test_variation_counts_from_thirty_percent_on(record) -> None:
    assert "step_variation_high" not in rules(record("even", times=(0.1, 0.11) * 10))
    uneven = record("uneven", times=(0.1, 0.1, 0.1, 0.4) * 5, train=0.2, blame={"load": 0.7})
    found = rules(uneven)["step_variation_high"]
    assert found.evidence["variation"] > 0.3 and found.evidence["cause"] == "load"
    assert found.severity == "fix"
    assert found.expected_gain is not None and 0 < found.expected_gain < 1


def test_a_deeper_buffer_is_no_remedy_when_training_itself_varies(record) -> None:
    uneven = record("uneven", times=(0.1, 0.1, 0.1, 0.4) * 5, train=0.9)
    found = rules(uneven)["step_variation_high"]
    assert found.evidence["cause"] == "training"
    assert found.severity == "advice" and not found.change.settings


def test_padding_counts_below_ninety_percent(record) -> None:
    assert "padding_high" not in rules(record("full", useful=900))
    single = record("padded", useful=650, data={"static_shapes": "single"})
    found = rules(single)["padding_high"]
    assert found.change.settings == {"data.static_shapes": "buckets"}
    assert found.expected_gain == pytest.approx(0.9 * 0.35)


def test_compiling_inside_training_is_a_fault(record) -> None:
    times = [0.1] * 20
    times[7] = 5.1
    found = rules(record(times=times, compiled=[7], data={"pad_to_fixed_length": False}))
    assert found["compiled_in_training"].evidence["seconds"] == pytest.approx(5.0)
    assert found["compiled_in_training"].change.settings == {"data.pad_to_fixed_length": True}


def test_skipped_clips_are_named(record) -> None:
    found = rules(record(skipped=["a", "b"]))["clips_skipped"]
    assert found.evidence == {"clips": 2, "first": "a", "reason": "zero bytes"}
    assert exit_code([found]) == 0


def test_missing_gpu_metrics_are_a_note(record) -> None:
    gpus = {0: {"utilization": None, "power_w": 100.0}}
    found = rules(record(gpus=gpus))["gpu_metrics_missing"]
    assert found.evidence["missing"] == ["GPU 0 utilization"]


def test_a_cut_run_says_so(record) -> None:
    session = record(ended=False)
    assert "run_incomplete" in rules(session)


def test_the_remedy_is_the_first_setting_that_the_run_did_not_have(record) -> None:
    starving = {"load": 0.5}
    synchronous = record("a", train=0.4, blame=starving, data={"optimize_cpu_gpu_overlap": False})
    change = rules(synchronous)["data_load_high"].change
    assert change.settings == {"data.optimize_cpu_gpu_overlap": True}

    few = record("b", train=0.4, blame=starving, data={"num_workers": 2}, cores=8)
    assert rules(few)["data_load_high"].change.settings == {"data.num_workers": 8}

    all_cores = record("c", train=0.4, blame=starving, data={"num_workers": 0}, cores=8)
    assert rules(all_cores)["data_load_high"].change.settings == {"data.cache_dataset": True}


def test_an_adaptive_ring_is_given_room_and_a_fixed_one_is_made_deeper(record) -> None:
    starving = {"preprocess": 0.5}
    small = {"pipeline_depth": 2, "pipeline_depth_max": 2}
    adaptive = record("adaptive", train=0.4, blame=starving, data=small)
    change = rules(adaptive)["training_low"].change
    assert change.settings == {"data.pipeline_depth_max": 6}
    fixed = record("fixed", train=0.4, blame=starving, data=small | {"adaptive_depth": False})
    assert rules(fixed)["training_low"].change.settings == {"data.pipeline_depth": 6}


def test_order_is_severity_then_gain() -> None:
    note = Finding("n", "note", {}, 0.9, Change())
    small = Finding("s", "fix", {}, 0.1, Change({"data.batch_size": 8}))
    large = Finding("l", "fix", {}, 0.5, Change({"data.batch_size": 16, "data.num_workers": 4}))
    assert [one.rule for one in ordered([note, small, large])] == ["l", "s", "n"]
    assert combined_settings([note, small, large]) == {
        "data.batch_size": 16,
        "data.num_workers": 4,
    }


def test_a_change_reads_like_the_configuration() -> None:
    change = Change({"data.enable_xla": "auto", "data.data_gpu": None, "data.cache_dataset": True})
    assert str(change) == "data.enable_xla: auto, data.data_gpu: null, data.cache_dataset: true"
    assert str(Change(command="myxtts analyze")) == "myxtts analyze"
