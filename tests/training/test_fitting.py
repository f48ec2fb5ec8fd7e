"""A batch that does not fit is done in parts, and nothing else about the run changes."""

import numpy as np
import pytest
import tensorflow as tf

from myxtts.errors import UserError
from myxtts.telemetry import session
from myxtts.tools.incidents import incidents
from myxtts.training import checkpoint, preprocess, step, transfer
from myxtts.training.fitting import Fitting, cut, joined, shape_of
from myxtts.training.parted import combined, shares_of
from myxtts.training.run import train

from .conftest import Listening

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


def test_parts_give_the_losses_and_gradients_of_the_whole(make_step, batch):
    """Clips of mixed lengths, and durations too, which are a mean over tokens."""
    model = make_step()
    losses, gradients = model._gradients_in(batch, 1)
    for parts in (2, 4):
        in_parts, gathered = model._gradients_in(batch, parts)
        for name, loss in losses.items():
            assert float(in_parts[name]) == pytest.approx(float(loss), rel=1e-5)
        for one, other in zip(gradients, gathered, strict=True):
            one, other = (np.asarray(tf.convert_to_tensor(g)) for g in (one, other))
            np.testing.assert_allclose(other, one, rtol=2e-3, atol=2e-6)

    pieces = cut(batch, 2)
    shares, judged = shares_of(pieces), [model._evaluate(piece) for piece in pieces]
    assert float(combined(judged, shares)["total"]) == pytest.approx(float(losses["total"]), 1e-5)
    by_frames = sum(
        float(one["duration"]) * share.frames for one, share in zip(judged, shares, strict=True)
    )
    assert by_frames != pytest.approx(float(losses["duration"]), rel=1e-4)  # hence the tokens


# -- whole runs ----------------------------------------------------------------------------------


def short_of_memory(monkeypatch, work: str) -> None:
    """From now on, a device has no room for more than `ROWS` clips at a time."""

    def refuse(batch, make):
        if shape_of(batch)[0] > ROWS:
            raise out_of_memory()
        return make()

    if work == "training":

        class Short(step.TrainStep):
            def _gradients_in(self, batch, parts):
                if parts == 1:
                    refuse(batch, lambda: None)
                return super()._gradients_in(batch, parts)

        monkeypatch.setattr("myxtts.training.assembly.TrainStep", Short)
    elif work == "preprocess":

        class ShortOfRoom(preprocess.Preprocessor):
            def __init__(self, *arguments, **settings):
                super().__init__(*arguments, **settings)
                whole = self._compute
                self._compute = lambda batch: refuse(batch, lambda: whole(batch))

        monkeypatch.setattr("myxtts.training.trainer.Preprocessor", ShortOfRoom)
    elif work == "transfer":
        moved = transfer.Route.__call__
        monkeypatch.setattr(
            transfer.Route,
            "__call__",
            lambda self, batch: refuse(batch, lambda: moved(self, batch)),
        )
    else:
        copied = preprocess.Preprocessor.upload
        monkeypatch.setattr(
            preprocess.Preprocessor,
            "upload",
            lambda self, batch: refuse(batch, lambda: copied(self, batch)),
        )


def weights_of(run: session.Session) -> list[np.ndarray]:
    return checkpoint.load(run.path.parent).arrays["model"]


LIVE = {
    "data.features": "live",
    "data.augment_gain_db": 3.0,
    "data.augment_noise_snr_db": 20.0,
    "data.augment_time_mask": 20,
    "data.augment_frequency_mask": 8,
}


def check(run: session.Session, expected: session.Session, work: str, said: list[str]) -> None:
    """The run learned what the roomy one did, and told once what it was short of."""
    losses, roomy = ([one.loss for one in each.steps] for each in (run, expected))
    assert [one.step for one in run.steps] == list(range(len(roomy)))
    np.testing.assert_allclose(losses, roomy, rtol=1e-4)
    if work != "training":  # rows do not know each other before they train
        assert losses == roomy
    for one, other in zip(weights_of(expected), weights_of(run), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-3, atol=2e-5)

    (shortage,) = run.of_kind("out_of_memory")
    assert shortage["work"] == work and shortage["rows"] == 4
    in_parts = work in ("training", "preprocess")
    assert shortage["parts"] == (2 if in_parts else 1)
    assert sum("memory of" in text for text in said) == 1
    told = [one.name for one in incidents(run)]
    assert ("out_of_memory" if in_parts else "copied_late") in told
    assert "nothing_compiled" in told  # the parts were compiled in warm-up


def check_works(tiny_run, monkeypatch, overrides: dict, *works: str) -> None:
    def configured():
        return tiny_run({"data.max_buckets": 1} | overrides, steps=6, dual=True)

    expected = session.load(train(configured()))
    for work in works:
        display = Listening()
        with monkeypatch.context() as patched:
            short_of_memory(patched, work)
            run = session.load(train(configured(), display))
        check(run, expected, work, display.said)


def test_a_run_that_is_short_of_memory_learns_the_same(tiny_run, monkeypatch):
    check_works(tiny_run, monkeypatch, {}, "training", "preprocess")


@pytest.mark.long
def test_copies_that_find_no_room_are_made_later(tiny_run, monkeypatch):
    check_works(tiny_run, monkeypatch, {}, "transfer", "upload")


@pytest.mark.long
@pytest.mark.parametrize(
    ("work", "overrides"),
    [
        ("preprocess", LIVE),
        ("training", {"training.gradient_accumulation": 2}),
        ("training", {"training.ema_decay": 0.9}),
        ("training", {"model.refiner_blocks": 1}),
        ("training", {"data.enable_xla": True}),
    ],
)
def test_parts_are_the_whole_in_every_kind_of_run(tiny_run, monkeypatch, work, overrides):
    check_works(tiny_run, monkeypatch, overrides, work)


@pytest.mark.long
def test_running_short_in_mid_run_compiles_the_parts_then_and_says_so(tiny_run, monkeypatch):
    """The first steps fit; from the fourth on they do not."""
    config = tiny_run({"data.max_buckets": 1}, steps=6)
    whole = []

    class Short(step.TrainStep):
        def _gradients_in(self, batch, parts):
            if parts == 1:
                whole.append(batch)
                if len(whole) > 4:  # one of them compiled
                    raise out_of_memory()
            return super()._gradients_in(batch, parts)

    monkeypatch.setattr("myxtts.training.assembly.TrainStep", Short)
    run = session.load(train(config))
    assert [one.step for one in run.steps] == list(range(6))
    assert [one.compiled for one in run.steps] == [False, False, False, True, False, False]
    assert len(whole) == 5  # not tried again
    (shortage,) = run.of_kind("out_of_memory")
    assert shortage["step"] == 3
    assert run.accounts["compiling"] >= run.steps[3].train
