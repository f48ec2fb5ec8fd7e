"""The best validation is kept, and the patience for a better one comes to an end."""

import math
from pathlib import Path

import pytest

from myxtts.telemetry import session
from myxtts.training import checkpoint, milestones
from myxtts.training.best import BestSoFar
from myxtts.training.run import train


def test_only_a_better_loss_is_better():
    best = BestSoFar(patience=2)
    assert best.saw(10, 2.0)
    assert not best.saw(20, 2.0)
    assert not best.saw(30, math.nan)
    assert best.exhausted and (best.step, best.loss, best.stale) == (10, 2.0, 2)
    assert best.saw(40, 1.5)
    assert not best.exhausted


def test_without_patience_it_never_ends():
    best = BestSoFar(patience=0)
    best.saw(1, 1.0)
    assert not any(best.saw(step, 2.0) or best.exhausted for step in range(2, 50))


def test_it_is_remembered_across_a_resume():
    best = BestSoFar(patience=3)
    best.saw(5, 1.0)
    best.saw(6, 1.1)
    again = BestSoFar.remembered(3, {"best": best.as_json()})
    assert again.as_json() == best.as_json() == {"step": 5, "loss": 1.0, "stale": 1}
    assert BestSoFar.remembered(3, {}).step is None


@pytest.fixture
def scripted(monkeypatch):
    """Validations that find these losses, one after the other."""

    def script(*losses: float) -> None:
        found = iter(losses)
        monkeypatch.setattr(milestones, "mean_losses", lambda *_: {"total": next(found)})

    return script


def test_a_run_stops_early_and_keeps_its_best_checkpoint(tiny_run, scripted):
    scripted(3.0, 2.0, 2.5, 2.6, 2.7, 0.0)
    config = tiny_run(
        {
            "training.validation_share": 0.2,
            "training.validation_interval": 2,
            "training.early_stop_patience": 3,
            "training.checkpoint_interval": 3,
            "training.keep_checkpoints": 1,
        }
    )
    run = session.load(train(config))
    assert len(run.steps) == 10
    assert run.end["reason"] == "finished" and run.end["best"]["step"] == 4
    (stopped,) = run.of_kind("early_stop")
    assert (stopped["step"], stopped["best_step"], stopped["best_loss"]) == (10, 4, 2.0)
    kept = checkpoint.list_checkpoints(Path(config.training.output_dir) / "checkpoints")
    assert [path.name for path in kept] == ["step-00000004", "step-00000010"]


def test_patience_goes_on_after_a_resume(tiny_run, scripted, stop_after):
    told = {
        "training.validation_share": 0.2,
        "training.validation_interval": 2,
        "training.early_stop_patience": 2,
    }
    config = tiny_run(told)
    scripted(1.0, 2.0)
    with pytest.raises(KeyboardInterrupt):
        train(config, stop_after(5))
    scripted(3.0, 0.0)
    run = session.load(train(config, resume=True))
    assert [step.step for step in run.steps] == [5]
    assert run.end["best"] == {"step": 2, "loss": 1.0, "stale": 2}
