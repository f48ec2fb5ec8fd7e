"""The typed tree: every mistake is named, every combination that cannot work is refused."""

import typing

import pytest

from myxtts.config import Config, LanguageCode, documentation, known_keys, parse
from myxtts.errors import UsageError


def refused(tree: dict) -> UsageError:
    with pytest.raises(UsageError) as caught:
        parse(tree, "test.yaml", {"data.batchsize": 7})
    return caught.value


def test_an_unknown_key_is_answered_with_the_nearest_and_its_line():
    error = refused({"data": {"batchsize": 8}})
    assert "data.batchsize in test.yaml, line 7" in str(error)
    assert "did you mean data.batch_size?" in str(error)


def test_an_unknown_section_is_answered_with_the_nearest():
    assert "did you mean data?" in str(refused({"dat": {}}))


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"data": {"batch_size": "8"}}, "valid integer"),
        ({"data": {"batch_size": 0}}, "greater than or equal to 1"),
        ({"data": {"enable_xla": "maybe"}}, "must be auto, true or false"),
        ({"data": {"mixed_precision": "half"}}, "must be auto, bfloat16, float16, true or false"),
        ({"data": {"static_shapes": "none"}}, "must be buckets or single"),
        ({"data": {"languages": ["en", "xx"]}}, "must be en, fa,"),
        ({"training": {"learning_rate": -1.0}}, "greater than 0"),
    ],
)
def test_a_wrong_value_is_answered_with_what_is_right(tree, expected):
    error = refused(tree)
    assert expected in str(error)
    assert "received:" in str(error)
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"data_gpu": 0}, "add --model-gpu N"),
        ({"model_gpu": 0}, "add --data-gpu N"),
        ({"data_gpu": 1, "model_gpu": 1}, "two different GPUs"),
        ({"enable_memory_isolation": True}, "both must be named"),
        ({"data_gpu_memory": 4096}, "only with memory isolation"),
        ({"language": "de", "languages": ["en"]}, "add de to data.languages"),
        ({"augment_gain_db": 6.0}, "needs live features"),
        ({"augment_noise_snr_db": 20.0}, "needs live features"),
        ({"augment_time_mask": 8}, "data.features: live, or leave augment_time_mask out"),
        ({"augment_frequency_mask": 8}, "needs live features"),
        ({"features": "live", "augment_frequency_mask": 80}, "leave some bins"),
    ],
)
def test_an_impossible_combination_says_what_to_type(data, expected):
    assert expected in str(refused({"data": data}))


@pytest.mark.parametrize("model", [{"size": "small"}, {"size": "tiny", "refiner_blocks": 1}])
def test_attention_needs_an_even_width(model):
    assert "model.width: 34" in str(refused({"model": {"width": 33, **model}}))
    assert parse({"model": {"width": 33}}, "test.yaml").model.width == 33


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"training": {"early_stop_patience": 3}}, "nothing to validate on"),
        (
            {"data": {"val_data": "held-out"}, "training": {"validation_share": 0.1}},
            "not both",
        ),
    ],
)
def test_validation_that_cannot_be_meant_says_what_to_type(tree, expected):
    assert expected in str(refused(tree))


def test_flags_override_single_fields_and_none_leaves_them():
    config = Config().replaced({"data.batch_size": 4, "training.epochs": None})
    assert config.data.batch_size == 4
    assert config.training.epochs == Config().training.epochs


def test_host_batches_ahead_follow_the_batch_size():
    ahead = [Config().replaced({"data.batch_size": b}).data.host_batches_ahead for b in (4, 16, 64)]
    assert ahead == [8, 4, 2]
    assert Config().replaced({"data.prefetch_buffer_size": 5}).data.host_batches_ahead == 5


def test_every_key_is_explained():
    assert [key for key in known_keys() if not documentation(key)] == []


def test_the_language_codes_are_those_of_the_text_room():
    from myxtts.text.languages import LANGUAGES

    assert list(typing.get_args(LanguageCode)) == list(LANGUAGES)
