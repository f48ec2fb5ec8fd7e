"""Shared by all tests: two logical CPU devices, and one small corpus spoken by espeak-ng."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("NO_COLOR", "1")

import pytest

from myxtts.config import Config


@pytest.fixture(scope="session", autouse=True)
def two_logical_devices():
    """TensorFlow starts once per process, so the devices of all tests are set before it does."""
    from myxtts import devices

    devices.place(Config().replaced({"data.virtual_gpus": 2}).data)


@pytest.fixture(scope="session")
def small_corpus(tmp_path_factory):
    """24 clips, English and Persian, four voices; prepared by whichever test comes first."""
    from myxtts.data import demo_corpus

    return demo_corpus.make(tmp_path_factory.mktemp("corpus"), clips=24, seed=1)


THIN = {
    "data.batch_size": 4,
    "data.max_buckets": 1,
    "data.enable_xla": False,
    "data.model_start_delay": 0.0,
    "model.width": 16,
    "model.encoder_blocks": 1,
    "model.decoder_blocks": 1,
}
"""Settings of a run that takes seconds: the thinnest model, one shape, nothing compiled."""


@pytest.fixture(scope="session")
def thin(small_corpus):
    """`THIN` with a corpus."""
    return THIN | {"data.train_data": str(small_corpus)}


@pytest.fixture(scope="session")
def talking_run(thin, tmp_path_factory):
    """A run that has learned how long sounds last; what it says cannot be understood yet."""
    from myxtts.training.run import train

    settings = thin | {
        "training.max_steps": 60,
        "training.epochs": 1000,
        "training.warmup_steps": 10,
        "training.learning_rate": 3e-3,
        "training.output_dir": str(tmp_path_factory.mktemp("talking") / "run"),
    }
    return train(Config().replaced(settings))


@pytest.fixture(scope="session")
def speaker(talking_run):
    """One for all tests: loading it takes longer than most of them."""
    from myxtts.synthesis import Speaker

    return Speaker.load(talking_run)
