"""Every key under `model:` has an effect, and a test that shows it: this is the list."""

import ast
from pathlib import Path

import numpy as np
import pytest

from myxtts.config import ModelConfig
from myxtts.models.refiner import Refiner
from myxtts.synthesis import Speaker
from myxtts.training.preprocess import Preprocessor
from myxtts.training.run import train

ROOT = Path(__file__).parents[2]
SIZES = "tests/models/test_sizes.py"
HERE = "tests/training/test_every_model_key.py"
OVERRIDES = f"{SIZES}::test_the_configuration_changes_every_size"

SHOWN_BY = {
    "size": f"{SIZES}::test_a_size_has_about_the_parameters_it_claims",
    "width": OVERRIDES,
    "encoder_blocks": OVERRIDES,
    "decoder_blocks": OVERRIDES,
    "refiner_blocks": f"{SIZES}::test_a_refiner_can_be_left_out_and_put_in",
    "refiner_steps": f"{HERE}::test_speech_is_refined_in_as_many_steps_as_told",
    "voice_conditioning": f"{HERE}::test_conditioning_can_be_turned_off",
    "language_conditioning": f"{HERE}::test_conditioning_can_be_turned_off",
}


def test_every_key_is_shown_by_a_test_that_exists() -> None:
    assert SHOWN_BY.keys() == ModelConfig.model_fields.keys()
    for shown in SHOWN_BY.values():
        file, _, name = shown.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, name


@pytest.mark.parametrize("steps", [4, 7])
def test_speech_is_refined_in_as_many_steps_as_told(
    tiny_run, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_run(
        {"model.size": "small", "model.refiner_blocks": 1, "model.refiner_steps": steps}, steps=1
    )
    taken = []
    refine = Refiner.refine

    def watched(refiner, guide, steps):
        taken.append(steps)
        return refine(refiner, guide, steps)

    monkeypatch.setattr(Refiner, "refine", watched)
    Speaker(train(config)).say("Yes.", language="en")
    assert set(taken) == {steps}


@pytest.mark.parametrize("voice", [True, False])
@pytest.mark.parametrize("language", [True, False])
def test_conditioning_can_be_turned_off(voice: bool, language: bool) -> None:
    model = ModelConfig(voice_conditioning=voice, language_conditioning=language)
    batch = {
        "mels": np.ones((1, 8, 4), np.float16),
        "mel_lengths": np.array([8], np.int32),
        "reference": np.ones((1, 8, 4), np.float16),
        "reference_lengths": np.array([8], np.int32),
        "language": np.array([3], np.int32),
    }
    told = Preprocessor("/CPU:0", np.zeros(4), np.ones(4), model)(batch)
    assert bool(told["reference"].numpy().any()) is voice
    assert told["reference_lengths"].numpy().tolist() == [8 if voice else 0]
    assert told["language"].numpy().tolist() == [3 if language else 0]
