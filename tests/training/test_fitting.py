"""A batch that does not fit is done in parts, and nothing else about the run changes."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from myxtts.errors import UserError
from myxtts.telemetry import session
from myxtts.tools.incidents import incidents
from myxtts.training import batch_path, checkpoint, preprocess, step
from myxtts.training.fitting import Fitting, cut, joined, shape_of
from myxtts.training.parted import combined, shares_of
from myxtts.training.run import train

ROWS = 3
"""More clips than that do not fit, where memory is short in these tests."""


def out_of_memory() -> Exception:
    return tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor [4,48,16]")


def batch_of(rows: int) -> dict:
    return {
        "mels": tf.reshape(tf.range(rows * 5.0), [rows, 5]),
        "weights": tf.ones([rows]),
        "step": tf.constant(7),
    }


@pytest.mark.parametrize("rows", [1, 4, 5, 7])
@pytest.mark.parametrize("parts", [2, 3, 4])
def test_a_cut_batch_joins_to_itself(rows, parts):
    whole = batch_of(rows)
    pieces = cut(whole, parts)
    assert len(pieces) <= parts and len({shape_of(piece) for piece in pieces}) == 1
    assert sum(float(tf.reduce_sum(piece["weights"])) for piece in pieces) == rows  # no filler
    again = joined(pieces, rows)
    assert set(again) == set(whole)
    for name, tensor in whole.items():
        np.testing.assert_array_equal(again[name], tensor)


def test_host_batches_are_cut_on_the_host():
    pieces = cut({"mels": np.arange(10.0).reshape(5, 2), "weights": np.ones(5, np.float32)}, 2)
    assert all(isinstance(piece["mels"], np.ndarray) for piece in pieces)
    assert pieces[1]["weights"].tolist() == [1.0, 1.0, 0.0]


def test_what_was_learned_of_a_shape_is_not_tried_again():
    tried = []

    def attempt(parts: int) -> str:
        tried.append(parts)
        if parts < 4:
            raise out_of_memory()
        return "done"

    fitting = Fitting("training", "/GPU:1")
    assert fitting.do(batch_of(8), attempt) == "done"
    assert fitting.do(batch_of(8), attempt) == "done"
    assert tried == [1, 2, 4, 4]
    assert [(found.rows, found.parts) for found in fitting.shortages] == [(8, 4)]
    fitting.do(batch_of(6), attempt)
    assert tried[4:] == [1, 2, 4]  # another shape is another matter


def test_a_single_clip_that_does_not_fit_says_what_to_do():
    def never(parts: int) -> None:
        raise out_of_memory()

    with pytest.raises(UserError, match="not enough for a single clip") as error:
        Fitting("training", "/GPU:1").do(batch_of(3), never)
    assert "--model-size" in error.value.remedy


@pytest.mark.parametrize("parts", [2, 4])
def test_parts_give_the_losses_and_gradients_of_the_whole(make_step, batch, parts):
    """Clips of mixed lengths, and durations too, which are a mean over tokens."""
    model = make_step()
    losses, gradients = model._gradients_in(batch, 1)
    in_parts, gathered = model._gradients_in(batch, parts)
    for name, loss in losses.items():
        assert float(in_parts[name]) == pytest.approx(float(loss), rel=1e-5)
    for one, other in zip(gradients, gathered, strict=True):
        one, other = (np.asarray(tf.convert_to_tensor(g)) for g in (one, other))
        np.testing.assert_allclose(other, one, rtol=2e-3, atol=2e-6)
    judged = combined([model._evaluate(p) for p in cut(batch, parts)], shares_of(cut(batch, parts)))
    assert float(judged["total"]) == pytest.approx(float(losses["total"]), rel=1e-5)


def test_weighing_parts_by_frames_alone_would_not_be_the_same(make_step, batch):
    model = make_step()
    whole = float(model._gradients_in(batch, 1)[0]["duration"])
    pieces = cut(batch, 2)
    parts = [float(model._evaluate(piece)["duration"]) for piece in pieces]
    by_frames = sum(
        loss * share.frames for loss, share in zip(parts, shares_of(pieces), strict=True)
    )
    assert by_frames != pytest.approx(whole, rel=1e-3)


# -- whole runs ----------------------------------------------------------------------------------


def short_of_memory(monkeypatch, work: str) -> None:
    """From now on, a device has no room for more than `ROWS` clips at a time."""

    def refuse(batch, make):
        if shape_of(batch)[0] > ROWS:
            raise out_of_memory()
        return make()

    if work == "training":

        class Short(step.TrainStep):
            def __init__(self, *arguments, **settings):
                super().__init__(*arguments, **settings)
                whole = self._gradients
                self._gradients = lambda batch: refuse(batch, lambda: whole(batch))

        monkeypatch.setattr("myxtts.training.assembly.TrainStep", Short)
    elif work == "preprocess":

        class ShortOfRoom(preprocess.Preprocessor):
            def __init__(self, *arguments, **settings):
                super().__init__(*arguments, **settings)
                whole = self._compute
                self._compute = lambda batch: refuse(batch, lambda: whole(batch))

        monkeypatch.setattr("myxtts.training.trainer.Preprocessor", ShortOfRoom)
    elif work == "transfer":
        copy = batch_path.transfer
        monkeypatch.setattr(
            batch_path, "transfer", lambda batch, device: refuse(batch, lambda: copy(batch, device))
        )
    else:
        copied = preprocess.Preprocessor.upload
        monkeypatch.setattr(
            preprocess.Preprocessor,
            "upload",
            lambda self, batch: refuse(batch, lambda: copied(self, batch)),
        )


def weights_of(config) -> list[np.ndarray]:
    return checkpoint.load(Path(config.training.output_dir)).arrays["model"]


class Words:
    """A display that remembers what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def __getattr__(self, name):
        return lambda *arguments: None


LIVE = {
    "data.features": "live",
    "data.augment_gain_db": 3.0,
    "data.augment_noise_snr_db": 20.0,
    "data.augment_time_mask": 20,
    "data.augment_frequency_mask": 8,
}


@pytest.mark.parametrize(
    ("work", "overrides"),
    [
        ("training", {}),
        ("preprocess", LIVE),
        pytest.param("transfer", {}, marks=pytest.mark.long),
        pytest.param("upload", {}, marks=pytest.mark.long),
        pytest.param("training", {"training.gradient_accumulation": 2}, marks=pytest.mark.long),
        pytest.param("training", {"training.ema_decay": 0.9}, marks=pytest.mark.long),
    ],
)
def test_a_run_that_is_short_of_memory_learns_the_same(tiny_run, monkeypatch, work, overrides):
    roomy, short = (tiny_run({"data.max_buckets": 1} | overrides, steps=6, dual=True) for _ in "ab")
    expected = session.load(train(roomy))
    short_of_memory(monkeypatch, work)
    display = Words()
    run = session.load(train(short, display))

    assert [one.step for one in run.steps] == list(range(6))
    np.testing.assert_allclose(
        [one.loss for one in run.steps], [one.loss for one in expected.steps], rtol=1e-4
    )
    for one, other in zip(weights_of(roomy), weights_of(short), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-3, atol=2e-5)
    if work != "training":  # rows do not know each other before they train
        assert [one.loss for one in run.steps] == [one.loss for one in expected.steps]

    (shortage,) = run.of_kind("out_of_memory")  # told once, and not tried again
    assert shortage["work"] == work and shortage["rows"] == 4
    assert shortage["parts"] == (2 if work in ("training", "preprocess") else 1)
    assert sum("memory of" in text for text in display.said) == 1
    assert "out_of_memory" in [one.name for one in incidents(run)]


def test_running_short_in_mid_run_compiles_the_parts_then_and_says_so(tiny_run, monkeypatch):
    """The first steps fit; from the fourth on they do not."""
    config = tiny_run({"data.max_buckets": 1}, steps=6)
    calls = []

    class Short(step.TrainStep):
        def __init__(self, *arguments, **settings):
            super().__init__(*arguments, **settings)
            whole = self._gradients

            def gradients(batch):
                calls.append(shape_of(batch)[0])
                if len(calls) > 4:  # one of them compiled
                    raise out_of_memory()
                return whole(batch)

            self._gradients = gradients

    monkeypatch.setattr("myxtts.training.assembly.TrainStep", Short)
    run = session.load(train(config))
    assert [one.step for one in run.steps] == list(range(6))
    assert [one.compiled for one in run.steps] == [False, False, False, True, False, False]
    assert len(calls) == 5  # not tried again
    (shortage,) = run.of_kind("out_of_memory")
    assert shortage["step"] == 3
    assert run.accounts["compiling"] >= run.steps[3].train
