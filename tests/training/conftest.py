"""A configuration that trains in seconds."""

import pytest

from myxtts.config import Config

DUAL = {"data.virtual_gpus": 2, "data.data_gpu": 0, "data.model_gpu": 1}


@pytest.fixture
def tiny_run(small_corpus, tmp_path):
    """`tiny_run(steps=…, **overrides)` -> a configuration with a run folder of its own."""
    runs = iter(range(100))

    def configure(overrides: dict | None = None, *, steps: int = 20, dual: bool = False) -> Config:
        settings = {
            "data.train_data": str(small_corpus),
            "data.batch_size": 4,
            "data.max_buckets": 2,
            "data.enable_xla": False,
            "data.model_start_delay": 0.0,
            "model.width": 16,
            "model.encoder_blocks": 1,
            "model.decoder_blocks": 1,
            "training.max_steps": steps,
            "training.warmup_steps": 5,
            "training.report_interval": 10,
            "training.output_dir": str(tmp_path / f"run{next(runs)}"),
        }
        return Config().replaced(settings | (DUAL if dual else {}) | (overrides or {}))

    return configure
