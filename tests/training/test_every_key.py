"""Every key under `model:` and `training:` has an effect, and a test that shows it: the list.

A key without an entry, or an entry whose test does not exist, fails here. The keys under `data:`
have a list of their own, in tests/data.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from myxtts import devices
from myxtts.config import Config, ModelConfig, TrainingConfig
from myxtts.models.sizes import SIZES
from myxtts.telemetry import session
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import checkpoint, network
from myxtts.training.preprocess import Preprocessor
from myxtts.training.run import train
from myxtts.training.schedule import WarmUpThenDecay
from myxtts.training.step import make_optimizer
from myxtts.training.trainer import Trainer

ROOT = Path(__file__).parents[2]

HERE = "tests/training/test_every_key.py"
TRAINER = "tests/training/test_trainer.py"
DIMENSIONS = f"{HERE}::test_dimensions_are_those_of_the_network"
CONDITIONING = f"{HERE}::test_conditioning_that_is_turned_off_does_not_reach_the_model"
RATE = f"{HERE}::test_the_learning_rate_rises_and_falls_as_told"
RUN = f"{HERE}::test_a_run_goes_where_and_as_long_as_it_is_told"
CHECKPOINTS = f"{TRAINER}::test_old_checkpoints_go_and_new_ones_stay"

SHOWN_BY = {
    "model.size": f"{HERE}::test_the_size_named_is_the_one_built",
    "model.width": DIMENSIONS,
    "model.encoder_blocks": DIMENSIONS,
    "model.decoder_blocks": DIMENSIONS,
    "model.refiner_blocks": DIMENSIONS,
    "model.refiner_steps": f"{HERE}::test_speech_is_refined_in_as_many_steps_as_told",
    "model.voice_conditioning": CONDITIONING,
    "model.language_conditioning": CONDITIONING,
    "training.optimizer": f"{HERE}::test_the_optimiser_is_the_one_named",
    "training.learning_rate": RATE,
    "training.schedule": RATE,
    "training.warmup_steps": RATE,
    "training.weight_decay": f"{HERE}::test_weights_decay_as_told",
    "training.epochs": RUN,
    "training.max_steps": f"{TRAINER}::test_validation_happens_and_is_accounted",
    "training.gradient_clip": "tests/training/test_precision.py::"
    "test_the_clip_norm_means_the_gradient_without_its_scale",
    "training.gradient_accumulation": "tests/training/test_accumulation.py::"
    "test_a_run_updates_every_n_batches_and_after_the_last",
    "training.ema_decay": "tests/training/test_averaging.py::"
    "test_averages_follow_the_weights_with_the_decay",
    "training.seed": f"{HERE}::test_another_seed_is_another_start_and_another_order",
    "training.from_checkpoint": "tests/training/test_fine_tuning.py::"
    "test_a_tuned_run_begins_with_the_weights_and_nothing_else",
    "training.output_dir": RUN,
    "training.checkpoint_dir": RUN,
    "training.checkpoint_interval": CHECKPOINTS,
    "training.keep_checkpoints": CHECKPOINTS,
    "training.validation_share": "tests/data/test_held_out.py::"
    "test_training_never_sees_a_held_out_clip",
    "training.validation_interval": f"{TRAINER}::test_validation_happens_and_is_accounted",
    "training.sample_interval": "tests/training/test_samples.py::test_samples_are_accounted_for",
    "training.early_stop_patience": "tests/training/test_best.py::"
    "test_a_run_stops_early_and_keeps_its_best_checkpoint",
    "training.report_interval": RUN,
    "training.max_bad_steps": "tests/training/test_bad_steps.py::"
    "test_too_many_bad_steps_go_back_to_the_checkpoint_before_them",
    "training.trace": "tests/training/test_accounted_runs.py::"
    "test_nothing_is_compiled_after_warm_up_and_the_report_says_so",
}


def test_every_key_has_an_entry_and_every_entry_a_key() -> None:
    keys = {f"model.{key}" for key in ModelConfig.model_fields}
    keys |= {f"training.{key}" for key in TrainingConfig.model_fields}
    assert set(SHOWN_BY) == keys


@pytest.mark.parametrize("file", sorted({node.split("::")[0] for node in SHOWN_BY.values()}))
def test_the_tests_exist(file: str) -> None:
    named = {node for node in SHOWN_BY.values() if node.startswith(f"{file}::")}
    assert named <= {f"{file}::{name}" for name in _tests_of(ROOT / file)}


def _tests_of(path: Path) -> Iterator[str]:
    for item in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(item, ast.FunctionDef) and item.name.startswith("test_"):
            yield item.name


def test_the_size_named_is_the_one_built():
    for name, size in SIZES.items():
        assert network.dimensions(ModelConfig(size=name)) == size


def test_dimensions_are_those_of_the_network():
    told = ModelConfig(width=48, encoder_blocks=3, decoder_blocks=5, refiner_blocks=2)
    model = network.build(told, Tokenizer("characters"), 20, "float32", seed=0)
    assert model.token_embedding.output_dim == 48
    assert len(model.encoder.blocks) == 3 and len(model.decoder.blocks) == 5
    assert len(model.refiner.stack.blocks) == 2


@pytest.mark.parametrize("steps", [4, 7])
def test_speech_is_refined_in_as_many_steps_as_told(steps, monkeypatch):
    blocks = {"encoder_blocks": 1, "decoder_blocks": 1, "refiner_blocks": 1}
    told = ModelConfig(size="small", width=16, refiner_steps=steps, **blocks)
    model = network.build(told, Tokenizer("characters"), 20, "float32", seed=0)
    taken = []
    monkeypatch.setattr(
        model.refiner, "refine", lambda guide, steps: taken.append(steps) or guide.coarse
    )
    one, ten = tf.constant([1]), tf.constant([10])
    model.synthesize(tf.ones((1, 10), tf.int32), ten, one, tf.zeros((1, 8, 20)), one, 64)
    assert taken == [steps]


@pytest.mark.parametrize("voice", [True, False])
@pytest.mark.parametrize("language", [True, False])
def test_conditioning_that_is_turned_off_does_not_reach_the_model(voice, language):
    told = ModelConfig(voice_conditioning=voice, language_conditioning=language)
    prepare = Preprocessor("/CPU:0", np.zeros(4), np.ones(4), told)
    batch = prepare(
        {
            "mels": tf.ones([2, 8, 4], tf.float16),
            "mel_lengths": tf.constant([8, 8]),
            "reference": tf.ones([2, 4, 4], tf.float16),
            "reference_lengths": tf.constant([4, 4]),
            "language": tf.constant([1, 1]),
        }
    )
    assert bool(tf.reduce_any(batch["reference"] != 0)) == voice
    assert bool(tf.reduce_any(batch["reference_lengths"] != 0)) == voice
    assert bool(tf.reduce_any(batch["language"] != 0)) == language
    assert bool(tf.reduce_all(batch["mels"] == 1))


def test_the_optimiser_is_the_one_named():
    assert Config().training.optimizer == "adamw"
    assert isinstance(make_optimizer(Config(), 10), keras.optimizers.AdamW)


@pytest.mark.parametrize(
    ("schedule", "half_way", "end"), [("linear", 0.525, 0.05), ("cosine", 0.525, 0.05),
                                      ("constant", 1.0, 1.0)]
)  # fmt: skip
def test_the_learning_rate_rises_and_falls_as_told(schedule, half_way, end):
    told = TrainingConfig(learning_rate=0.5, schedule=schedule, warmup_steps=10)
    rate = WarmUpThenDecay(told, total_steps=110)
    shares = [float(rate(step)) / 0.5 for step in (0, 4, 9, 60, 110)]
    assert shares == pytest.approx([0.1, 0.5, 1.0, half_way, end])


def test_weights_decay_as_told():
    """Without a gradient only the decay is left: w -> w - rate * decay * w."""
    left = []
    for decay in (0.0, 0.1):
        told = {"training.weight_decay": decay, "training.learning_rate": 0.5}
        told |= {"training.warmup_steps": 0, "training.schedule": "constant"}
        weight = keras.Variable(np.ones(3, np.float32))
        make_optimizer(Config().replaced(told), 10).apply([tf.zeros(3)], [weight])
        left.append(float(weight.numpy()[0]))
    assert left == pytest.approx([1.0, 1.0 - 0.5 * 0.1])


def test_another_seed_is_another_start_and_another_order(tiny_run):
    def begun(seed: int) -> tuple[list[int], np.ndarray]:
        config = tiny_run({"training.seed": seed})
        trainer = Trainer(config, devices.place(config.data))
        rows = [row for step in range(6) for row in trainer.data.loader.plan(step).rows.tolist()]
        return rows, trainer.step.model.to_prior.kernel.numpy()

    (order, weights), (again, same), (other, differ) = begun(3), begun(3), begun(4)
    assert order == again and order != other and sorted(order) == sorted(other)
    assert (weights == same).all() and (weights != differ).any()


def test_a_run_goes_where_and_as_long_as_it_is_told(tiny_run, tmp_path):
    kept = tmp_path / "elsewhere"
    config = tiny_run(
        {
            "training.epochs": 1,
            "training.checkpoint_dir": str(kept),
            "training.report_interval": 2,
        },
        steps=10_000,
    )
    folder = train(config)
    assert str(folder) == config.training.output_dir and (folder / "run.jsonl").is_file()
    run = session.load(folder)
    assert len(run.steps) == 6  # 24 clips in batches of 4
    assert [path.name for path in checkpoint.list_checkpoints(kept)] == ["step-00000006"]
    assert not (folder / "checkpoints").exists()
    assert [event["step"] for event in run.of_kind("report")] == [2, 4, 6]
