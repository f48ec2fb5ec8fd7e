"""Averaged weights: what they are, that they are kept, and who uses them."""

from pathlib import Path

import numpy as np
import pytest

from myxtts import devices
from myxtts.synthesis import Speaker
from myxtts.telemetry import session
from myxtts.training import checkpoint
from myxtts.training.run import train
from myxtts.training.trainer import Trainer


def test_averages_follow_the_weights_with_the_decay(make_step, batch):
    step = make_step(overrides={"training.ema_decay": 0.25})
    expected = [weight.numpy() for weight in step.model.trainable_variables]
    for update in range(1, 5):
        step(batch)
        decay = min(0.25, (1 + update) / (10 + update))
        weights = step.model.trainable_variables
        expected = [
            decay * old + (1 - decay) * weight.numpy()
            for old, weight in zip(expected, weights, strict=True)
        ]
    for average, value in zip(step.averaged.model.trainable_variables, expected, strict=True):
        np.testing.assert_allclose(average.numpy(), value, rtol=1e-5, atol=1e-6)
    assert step.judged is step.averaged.model


@pytest.fixture(scope="module")
def averaged(thin, tmp_path_factory):
    """A run of eight steps with averaged weights, validated at its end."""
    from myxtts.config import Config

    config = Config().replaced(
        thin
        | {
            "training.max_steps": 8,
            "training.ema_decay": 0.9,
            "training.validation_share": 0.2,
            "training.output_dir": str(tmp_path_factory.mktemp("averaged") / "run"),
        }
    )
    return config, session.load(train(config))


def test_a_checkpoint_keeps_both_and_speech_prefers_the_averages(averaged):
    folder = Path(averaged[0].training.output_dir)
    found = checkpoint.load(folder)
    assert any(
        (one != other).any()
        for one, other in zip(found.arrays["ema"], found.arrays["model"], strict=True)
    )
    speaker = Speaker(folder)
    for variable, average in zip(
        speaker._mels._model.trainable_variables, found.arrays["ema"], strict=True
    ):
        np.testing.assert_array_equal(variable.numpy(), average)


def test_validation_judges_the_averages_and_fine_tuning_begins_with_them(averaged, tmp_path):
    config, run = averaged
    (recorded,) = run.of_kind("validation")
    tuned = config.replaced(
        {
            "training.from_checkpoint": config.training.output_dir,
            "training.output_dir": str(tmp_path / "tuned"),
        }
    )
    tuned = tuned.model_copy(
        update={"training": tuned.training.model_copy(update={"ema_decay": 0.0})}
    )
    trainer = Trainer(tuned, devices.place(tuned.data))
    assert trainer.step_number == 0 and int(trainer.step.optimizer.iterations) == 0
    assert trainer.validate() == recorded["loss"]
