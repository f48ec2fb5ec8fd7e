"""Beginning with the weights of a checkpoint, and refusing one that cannot be meant."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from myxtts.cli.main import main
from myxtts.config import Config
from myxtts.errors import UserError
from myxtts.telemetry import session
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import checkpoint, network
from myxtts.training.run import train

SMALL = {"model.width": 16, "model.encoder_blocks": 1, "model.decoder_blocks": 1}


@pytest.fixture(scope="module")
def base(small_corpus, tmp_path_factory):
    """The folder of a run of six steps."""
    return train(
        Config().replaced(
            {
                "data.train_data": str(small_corpus),
                "data.batch_size": 4,
                "data.max_buckets": 1,
                "data.enable_xla": False,
                "data.model_start_delay": 0.0,
                "training.max_steps": 6,
                "training.output_dir": str(tmp_path_factory.mktemp("base") / "run"),
            }
            | SMALL
        )
    )


def test_a_tuned_run_begins_with_the_weights_and_nothing_else(base, tiny_run):
    told = {"training.from_checkpoint": str(base), "training.learning_rate": 1e-9}
    config = tiny_run(told, steps=2)
    run = session.load(train(config))
    assert [step.step for step in run.steps] == [0, 1]
    before, after = checkpoint.load(base), checkpoint.load(Path(config.training.output_dir))
    assert after.arrays["optimizer"][0] == 2  # a new optimiser, which made two updates
    for one, other in zip(before.weights, after.weights, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert after.info["mel_mean"] == before.info["mel_mean"]
    assert run.steps[0].loss < session.load(base).steps[0].loss


def refused(found: Path, overrides: dict, tokenizer: str = "phonemes") -> str:
    config = Config().replaced(SMALL | overrides)
    with pytest.raises(UserError) as raised:
        network.check_fits(checkpoint.load(found), config, Tokenizer(tokenizer))
    return str(raised.value)


def test_another_vocabulary_is_refused(base):
    text = refused(base, {"data.text_units": "characters"}, "characters")
    assert "was trained with another vocabulary" in text and "data.text_units" in text


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("model.width", 32, "width 16, here 32"),
        ("model.decoder_blocks", 2, "decoder_blocks 1, here 2"),
    ],
)
def test_another_size_is_refused(base, key, value, says):
    text = refused(base, {key: value})
    assert "does not fit the configured model" in text and says in text


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("data.n_mels", 40, "80 mel bins, this run has 40 mel bins"),
        ("data.sample_rate", 16000, "22050 Hz, this run has 16000 Hz"),
    ],
)
def test_other_sound_is_refused(base, key, value, says):
    text = refused(base, {key: value})
    assert "was trained on other sound" in text and says in text
    assert f"{key}: " in text


def command(base: Path, corpus: Path, folder: Path, *more: str) -> int:
    arguments = ["train", "--train-data", str(corpus), "--from-checkpoint", str(base)]
    return main([*arguments, "--output", str(folder / "tuned"), *more])


def test_a_damaged_checkpoint_is_refused(base, small_corpus, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    copy = shutil.copytree(base, tmp_path / "copy")
    weights = next((copy / "checkpoints").iterdir()) / "model.npz"
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    assert command(copy, small_corpus, tmp_path) == 1
    assert "is damaged: model.npz does not match its checksum" in capsys.readouterr().err


def test_a_checkpoint_without_weights_is_refused(base, tmp_path):
    copy = shutil.copytree(base, tmp_path / "copy")
    next((copy / "checkpoints").iterdir()).joinpath("model.npz").unlink()
    with pytest.raises(UserError, match="is damaged"):
        checkpoint.load(copy)


def test_a_folder_without_a_checkpoint_is_refused(small_corpus, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command(tmp_path / "nowhere", small_corpus, tmp_path) == 1
    assert "There is no checkpoint in" in capsys.readouterr().err
