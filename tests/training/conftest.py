"""A configuration that trains in seconds."""

import pytest

from myxtts.config import Config

from ..conftest import THIN

DUAL = {"data.virtual_gpus": 2, "data.data_gpu": 0, "data.model_gpu": 1}
TINY = THIN | {
    "data.max_buckets": 2,
    "training.warmup_steps": 5,
    "training.report_interval": 10,
}


@pytest.fixture
def tiny_run(small_corpus, tmp_path):
    """`tiny_run(steps=…, **overrides)` -> a configuration with a run folder of its own."""
    runs = iter(range(100))

    def configure(overrides: dict | None = None, *, steps: int = 20, dual: bool = False) -> Config:
        settings = TINY | {
            "data.train_data": str(small_corpus),
            "training.max_steps": steps,
            "training.output_dir": str(tmp_path / f"run{next(runs)}"),
        }
        return Config().replaced(settings | (DUAL if dual else {}) | (overrides or {}))

    return configure


class Listening:
    """A display that remembers what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def __getattr__(self, name):
        return lambda *arguments: None


@pytest.fixture
def stop_after():
    """`stop_after(steps)` -> a display that presses Ctrl-C when so many steps are done."""

    class Stop:
        def __init__(self, steps: int) -> None:
            self.steps = steps

        def __getattr__(self, name):
            return lambda *arguments: None

        def stepped(self, step, total):
            if step.step + 1 == self.steps:
                raise KeyboardInterrupt

    return Stop


ROWS, TOKENS, FRAMES, REFERENCE, MELS = 4, 16, 48, 16, 20


@pytest.fixture(scope="session")
def batch():
    """A batch of noise on no device in particular: four clips of mixed lengths."""
    return noise(0)


def noise(seed: int) -> dict:
    """Tensors of a batch, drawn from `seed`."""
    import numpy as np
    import tensorflow as tf

    draw = np.random.default_rng(seed)
    frames = draw.integers(FRAMES // 3, FRAMES + 1, ROWS)
    spoken = (np.arange(FRAMES) < frames[:, None])[:, :, None]
    arrays = {
        "tokens": draw.integers(1, 30, (ROWS, TOKENS)),
        "token_lengths": draw.integers(4, TOKENS + 1, ROWS),
        "mels": draw.normal(size=(ROWS, FRAMES, MELS)) * spoken,
        "mel_lengths": frames,
        "reference": draw.normal(size=(ROWS, REFERENCE, MELS)),
        "reference_lengths": np.full(ROWS, REFERENCE),
        "language": np.zeros(ROWS),
        "weights": np.ones(ROWS),
    }
    floats = ("mels", "reference", "weights")
    return {
        name: tf.constant(array.astype(np.float32 if name in floats else np.int32))
        for name, array in arrays.items()
    }


@pytest.fixture(scope="session")
def make_step():
    """`make_step(policy, overrides)` -> a step of the thinnest model, not compiled with XLA."""
    from myxtts.text.tokenizer import Tokenizer
    from myxtts.training import assembly

    def make(policy: str = "float32", overrides: dict | None = None):
        config = Config().replaced(
            {
                "data.n_mels": MELS,
                "model.width": 16,
                "model.encoder_blocks": 1,
                "model.decoder_blocks": 1,
                "training.warmup_steps": 0,
            }
            | (overrides or {})
        )
        tokenizer = Tokenizer("characters")
        return assembly.make_step(config, tokenizer, 100, policy, "/CPU:0", lambda *_: False)

    return make
