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
