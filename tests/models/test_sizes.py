from __future__ import annotations

from typing import get_args

import pytest

from myxtts.config import ModelConfig, ModelSizeName
from myxtts.errors import UsageError
from myxtts.models.sizes import SIZES, ModelSize, size_named
from myxtts.models.xtts import XTTS
from myxtts.training.network import dimensions


def parameters(size: ModelSize) -> int:
    return int(XTTS(size, vocabulary_size=200, languages=18, n_mels=80).count_params())


def test_a_size_is_found_by_name_and_the_configuration_knows_all() -> None:
    assert size_named("tiny") is SIZES["tiny"]
    assert all(size.name == name for name, size in SIZES.items())
    assert get_args(ModelSizeName) == tuple(SIZES)


def test_an_unknown_size_names_the_family() -> None:
    with pytest.raises(UsageError) as raised:
        size_named("huge")
    assert "huge" in str(raised.value)
    assert all(name in str(raised.value) for name in SIZES)


def test_tiny_is_what_its_checkpoints_hold() -> None:
    assert parameters(SIZES["tiny"]) == 1_668_721


@pytest.mark.parametrize(("name", "millions"), [("small", 15), ("normal", 54), ("big", 163)])
def test_a_size_has_about_the_parameters_it_claims(name: str, millions: int) -> None:
    assert parameters(SIZES[name]) == pytest.approx(millions * 1e6, rel=0.15)


@pytest.mark.parametrize("name", SIZES)
def test_the_configuration_changes_every_size(name: str) -> None:
    thin = {"size": name, "width": 32, "encoder_blocks": 1, "decoder_blocks": 1}
    thin["refiner_blocks"] = 1
    least = parameters(dimensions(ModelConfig(**thin)))
    assert least < 0.5e6
    for key, more in (
        ("width", 48),
        ("encoder_blocks", 2),
        ("decoder_blocks", 2),
        ("refiner_blocks", 2),
    ):
        assert parameters(dimensions(ModelConfig(**thin | {key: more}))) > 1.02 * least, key


@pytest.mark.parametrize("name", SIZES)
def test_a_configuration_without_numbers_is_the_size_itself(name: str) -> None:
    assert dimensions(ModelConfig(size=name)) == SIZES[name]


def test_a_refiner_can_be_left_out_and_put_in() -> None:
    def refiner(**told: object) -> object:
        size = dimensions(ModelConfig(width=32, encoder_blocks=1, decoder_blocks=1, **told))
        return XTTS(size, vocabulary_size=8, languages=2, n_mels=8).refiner

    assert refiner(size="small", refiner_blocks=0) is None
    assert refiner(size="tiny") is None
    assert len(refiner(size="tiny", refiner_blocks=2).stack.blocks) == 2
