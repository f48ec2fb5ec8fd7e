"""A loss that is not a number changes nothing; too many of them send a run back, once."""

from pathlib import Path

import numpy as np
import pytest

from myxtts import devices
from myxtts.errors import UserError
from myxtts.telemetry import session
from myxtts.tools.incidents import incidents
from myxtts.training import checkpoint
from myxtts.training.bad_steps import BadSteps
from myxtts.training.batch_path import BatchPath
from myxtts.training.run import train
from myxtts.training.trainer import Trainer

from .conftest import Listening


def test_single_bad_steps_are_skipped():
    found = BadSteps(most=2)
    for step in (3, 5, 7):
        assert found.bad(step) == "skip"
        found.good()


def test_too_many_in_a_row_go_back_and_the_same_place_again_stops():
    found = BadSteps(most=3)
    assert [found.bad(step) for step in (7, 8, 9)] == ["skip", "skip", "back"]
    assert found.first == 7
    found.went_back(9)
    assert [found.bad(step) for step in (8, 9, 10)] == ["skip", "skip", "stop"]


def test_another_place_is_another_matter():
    found = BadSteps(most=2)
    assert [found.bad(step) for step in (7, 8)] == ["skip", "back"]
    found.went_back(8)
    found.good()
    assert [found.bad(step) for step in (20, 21)] == ["skip", "back"]


@pytest.mark.parametrize("gathered", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_bad_batch_leaves_everything_as_it_was(make_step, batch, gathered):
    settings = {"training.gradient_accumulation": gathered, "training.ema_decay": 0.9}
    step = make_step(overrides=settings)
    step(batch)
    before = [np.array(variable) for variable in step.variables]
    losses = step(batch | {"mels": batch["mels"] * np.nan})
    assert not np.isfinite(losses["total"])
    for variable, old in zip(step.variables, before, strict=True):
        np.testing.assert_array_equal(np.array(variable), old)


@pytest.mark.long
def test_what_was_gathered_before_a_bad_batch_still_counts(make_step, batch):
    settings = {"training.gradient_accumulation": 2}
    step, other = (make_step(overrides=settings) for _ in "ab")
    step(batch, update=False)
    step(batch | {"mels": batch["mels"] * np.nan}, update=True)
    other(batch, update=True)
    for one, same in zip(step.variables, other.variables, strict=True):
        np.testing.assert_array_equal(np.array(one), np.array(same))


# -- whole runs ----------------------------------------------------------------------------------


def spoil(monkeypatch, steps: set[int], *, once: bool = False) -> None:
    """The batches of these steps bring mels that are not numbers: always, or the first time."""
    prepare, left = BatchPath._preprocess, set(steps)

    def preprocess(self, parcel):
        prepare(self, parcel)
        if parcel.step in left:
            parcel.batch["mels"] *= np.nan
            if once:
                left.remove(parcel.step)

    monkeypatch.setattr(BatchPath, "_preprocess", preprocess)


def arrays_of(config) -> dict[str, list[np.ndarray]]:
    return checkpoint.load(Path(config.training.output_dir)).arrays


def test_a_bad_step_is_skipped_and_its_clips_are_named(tiny_run, monkeypatch):
    config = tiny_run({"data.max_buckets": 1}, steps=5)
    spoil(monkeypatch, {2})
    display = Listening()
    run = session.load(train(config, display))
    assert [step.step for step in run.steps] == [0, 1, 3, 4]
    (bad,) = run.of_kind("bad_step")
    assert bad["step"] == 2 and bad["losses"]["total"] == "nan" and len(bad["clips"]) == 4
    assert any("step 2 is skipped" in text and bad["clips"][0] in text for text in display.said)
    (told,) = (one for one in incidents(run) if one.name == "bad_steps")
    assert bad["clips"][0] in told.said("en") and bad["clips"][0] in told.said("fa")
    assert arrays_of(config)["optimizer"][0] == 4  # updates
    assert run.end["reason"] == "finished"


BACK = {
    "data.max_buckets": 1,
    "training.checkpoint_interval": 2,
    "training.max_bad_steps": 2,
    "training.gradient_accumulation": 2,
    "training.ema_decay": 0.9,
}


def test_too_many_bad_steps_go_back_to_the_checkpoint_before_them(tiny_run, monkeypatch):
    undisturbed, config = tiny_run(BACK, steps=8), tiny_run(BACK, steps=8)
    expected = session.load(train(undisturbed))
    spoil(monkeypatch, {5, 6}, once=True)
    run = session.load(train(config))
    (back,) = run.of_kind("went_back")
    assert (back["step"], back["to"]) == (6, 4)
    assert [step.step for step in run.steps] == [0, 1, 2, 3, 4, 4, 5, 6, 7]
    assert [step.loss for step in run.steps[5:]] == [step.loss for step in expected.steps[4:]]
    for group, arrays in arrays_of(undisturbed).items():
        for one, other in zip(arrays, arrays_of(config)[group], strict=True):
            np.testing.assert_array_equal(one, other)
    assert "went_back" in [one.name for one in incidents(run)]


def test_the_same_place_bad_again_stops_the_run(tiny_run, monkeypatch):
    config = tiny_run(BACK, steps=8)
    spoil(monkeypatch, {5, 6})
    with pytest.raises(UserError, match="not a number at step 6") as error:
        train(config)
    run = session.load(Path(config.training.output_dir))
    assert len(list(run.of_kind("went_back"))) == 1 and run.end["reason"] == "failed"
    assert [event["step"] for event in run.of_kind("bad_step")] == [5, 6, 5, 6]
    assert list(run.of_kind("bad_step"))[-1]["clips"][0] in error.value.received
    assert "learning_rate" in error.value.remedy


@pytest.mark.long
def test_without_a_checkpoint_from_before_the_run_stops(tiny_run, monkeypatch):
    config = tiny_run(BACK | {"training.checkpoint_interval": 100}, steps=8)
    spoil(monkeypatch, {1, 2})
    with pytest.raises(UserError, match="not a number at step 2"):
        train(config)


def test_weights_that_are_not_numbers_are_never_saved(tiny_run):
    config = tiny_run({"data.max_buckets": 1})
    display = Listening()
    trainer = Trainer(config, devices.place(config.data), display)
    weight = trainer.step.model.trainable_variables[0]
    trainer._milestones.save(1)
    weight.assign(weight * np.nan)
    trainer._milestones.save(2)
    kept = checkpoint.list_checkpoints(trainer.folder.checkpoints)
    assert [path.name for path in kept] == ["step-00000001"]
    assert any("no checkpoint is written at step 2" in text for text in display.said)
