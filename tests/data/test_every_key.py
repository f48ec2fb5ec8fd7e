"""Every key under `data:` has an effect, and a test that shows it: this is the list.

A key without an entry, or an entry whose test does not exist, fails here.
"""

import ast
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from myxtts.config import DataConfig
from myxtts.data import recipe
from myxtts.data.buckets import beyond, choose
from myxtts.data.prepare import prepare

ROOT = Path(__file__).parents[2]

DEVICES = "tests/test_devices.py"
PREPARE = "tests/data/test_prepare.py"
LOADER = "tests/data/test_loader.py"
BUCKETS = "tests/data/test_buckets.py"
TRAINER = "tests/training/test_trainer.py"
SETTINGS = "tests/training/test_pipeline_settings.py"
PATH = "tests/training/test_batch_path.py"
AUGMENTATION = "tests/training/test_augmentation.py"
HERE = "tests/data/test_every_key.py"
FEEDER = "tests/training/test_feeder.py"
ADAPTS = "test_only_the_ring_between_the_devices_adapts_and_only_as_far_as_told"

SHOWN_BY = {
    "train_data": f"{TRAINER}::test_the_loss_falls",
    "val_data": f"{TRAINER}::test_validation_happens_and_is_accounted",
    "cache_dir": f"{PREPARE}::test_a_cache_folder_elsewhere_leaves_the_corpus_untouched",
    "language": f"{PREPARE}::test_languages_are_detected_where_no_column_says",
    "languages": f"{HERE}::test_languages_are_the_ones_that_detection_knows",
    "text_units": f"{PREPARE}::test_a_changed_setting_of_the_text_redoes_the_text_alone",
    "sample_rate": f"{PREPARE}::test_a_changed_setting_of_the_sound_redoes_the_sound_once",
    "n_mels": f"{PREPARE}::test_a_changed_setting_keeps_both_stores",
    "batch_size": f"{BUCKETS}::test_batches_of_all_shapes_carry_about_the_same_frames",
    "num_workers": f"{HERE}::test_so_many_workers_prepare",
    "use_tf_native_loading": f"{LOADER}::test_python_loading_really_decodes",
    "features": f"{PREPARE}::test_pcm_is_kept_only_for_live_features_and_beside_the_mels",
    "trim_silence": f"{PREPARE}::test_trimming_and_loudness_are_in_the_features",
    "loudness": f"{PREPARE}::test_trimming_and_loudness_are_in_the_features",
    "augment_gain_db": f"{AUGMENTATION}::test_gain_changes_a_clip_and_its_reference_alike",
    "augment_noise_snr_db": f"{AUGMENTATION}::test_noise_is_added_to_references_at_the_given_level",
    "augment_time_mask": f"{AUGMENTATION}::test_masks_hide_one_stretch_of_each_reference",
    "augment_frequency_mask": f"{AUGMENTATION}::test_masks_hide_one_stretch_of_each_reference",
    "cache_dataset": f"{PREPARE}::test_cache_dataset_keeps_the_store_in_memory",
    "max_text_length": f"{HERE}::test_limits_say_which_clips_are_long",
    "max_mel_frames": f"{HERE}::test_limits_say_which_clips_are_long",
    "long_clips": "tests/data/test_splitting.py::test_pieces_take_the_place_of_their_clip",
    "pad_to_fixed_length": f"{LOADER}::test_without_fixed_length_a_batch_is_as_long_as_its_longest",
    "static_shapes": f"{BUCKETS}::test_single_shape_is_the_configured_one_and_grows_for_long_clips",
    "max_buckets": f"{HERE}::test_no_more_shapes_than_allowed",
    "prefetch_buffer_size": f"{SETTINGS}::test_prefetch_buffer_size_is_the_depth_of_the_host_ring",
    "prefetch_to_gpu": f"{SETTINGS}::test_prefetch_to_gpu_uploads_before_the_host_ring",
    "pipeline_depth": f"{PATH}::test_rings_have_the_configured_depths",
    "adaptive_depth": f"{PATH}::{ADAPTS}",
    "pipeline_depth_max": f"{PATH}::{ADAPTS}",
    "pipeline_memory": f"{FEEDER}::test_the_byte_budget_keeps_heavy_batches_out",
    "stage_timeout": f"{FEEDER}::test_a_stage_that_hangs_is_named_and_left_behind",
    "pipeline_buffer_size": f"{SETTINGS}::test_buffer_size_bounds_all_batches_in_flight",
    "enhanced_gpu_prefetch": f"{SETTINGS}::"
    "test_enhanced_gpu_prefetch_adds_a_ring_of_uploaded_batches",
    "optimize_cpu_gpu_overlap": f"{SETTINGS}::test_without_overlap_every_stage_is_waited_for",
    "enable_xla": f"{TRAINER}::test_xla_is_measured_and_pinned",
    "mixed_precision": f"{TRAINER}::test_bfloat16_trains_too",
    "data_gpu": f"{DEVICES}::test_two_gpus_are_mapped_explicitly_whatever_their_order",
    "model_gpu": f"{DEVICES}::test_two_gpus_are_mapped_explicitly_whatever_their_order",
    "device_plan": "tests/training/test_replicas.py::"
    "test_a_run_of_replicas_learns_as_one_device_does",
    "virtual_gpus": f"{DEVICES}::test_virtual_devices_stand_in_for_gpus",
    "enable_memory_isolation": f"{DEVICES}::test_isolation_limits_both_gpus_and_leaves_growth_off",
    "data_gpu_memory": f"{DEVICES}::test_isolation_limits_both_gpus_and_leaves_growth_off",
    "model_gpu_memory": f"{DEVICES}::test_isolation_limits_both_gpus_and_leaves_growth_off",
    "model_start_delay": f"{SETTINGS}::test_model_start_delay_waits_for_a_full_pipeline",
}


def test_every_key_has_an_entry_and_every_entry_a_key() -> None:
    assert set(SHOWN_BY) == set(DataConfig.model_fields)


@pytest.mark.parametrize("file", sorted({node.split("::")[0] for node in SHOWN_BY.values()}))
def test_the_tests_exist(file: str) -> None:
    named = {node for node in SHOWN_BY.values() if node.startswith(f"{file}::")}
    assert named <= {f"{file}::{name}" for name in _tests_of(ROOT / file)}


def _tests_of(path: Path) -> Iterator[str]:
    for item in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(item, ast.FunctionDef) and item.name.startswith("test_"):
            yield item.name


def test_languages_are_the_ones_that_detection_knows(
    make_corpus: Callable[..., Path], data: DataConfig
) -> None:
    folder = make_corpus(clips=2)
    (folder / "metadata.csv").write_text("c000|سلام، حال شما چطور است؟\nc001|How are you today?\n")

    def found(*languages: str) -> list[int]:
        update = {"language": "auto", "languages": list(languages)}
        return prepare(folder, data.model_copy(update=update)).language.tolist()

    assert found("en", "fa") == [1, 0]
    assert found("fa") == [1, 1]


@pytest.mark.parametrize("workers", [1, 3])
def test_so_many_workers_prepare(
    make_corpus: Callable[..., Path],
    data: DataConfig,
    workers: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each waits until all are at work, so fewer would never end and more would be seen."""
    seen: set[int] = set()
    together = threading.Barrier(workers)
    decode = recipe.decode

    def counting(path: Path, sample_rate: int) -> np.ndarray:
        seen.add(threading.get_ident())
        together.wait(30)
        return decode(path, sample_rate)

    monkeypatch.setattr(recipe, "decode", counting)
    prepare(make_corpus(clips=workers * 4), data.model_copy(update={"num_workers": workers}))
    assert len(seen) == workers


def test_limits_say_which_clips_are_long() -> None:
    tokens, frames = np.array([20, 90, 20]), np.array([300, 300, 900])

    def long(**limits: int) -> list[int]:
        return beyond(tokens, frames, DataConfig(**limits)).tolist()

    assert long() == [2]
    assert long(max_mel_frames=900) == []
    assert long(max_text_length=64) == [1, 2]


def test_no_more_shapes_than_allowed() -> None:
    frames = np.random.default_rng(0).integers(100, 800, 4000).astype(np.int32)
    counts = [len(choose(frames // 6, frames, DataConfig(max_buckets=most))) for most in (1, 3, 8)]
    assert counts[0] == 1 < counts[1] <= 3 < counts[2] <= 8
