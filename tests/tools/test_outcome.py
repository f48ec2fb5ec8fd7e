"""The plain-language summary: what it says of runs that went well, badly, or too short."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from myxtts.telemetry.session import Session
from myxtts.tools.outcome import Remark, outcome
from myxtts.tools.outcome_words import names, sentence


def learned(session: Session, losses: list[float], validations: dict[int, float], **end) -> Session:
    """The run with these losses, and with validations at these steps."""
    first = session.steps[0]
    steps = tuple(replace(first, step=i, loss=loss) for i, loss in enumerate(losses))
    events = [{"kind": "validation", "step": s, "loss": of} for s, of in validations.items()]
    reports = [
        {"kind": "report", "losses": {"total": of, "mel": of / 2, "duration": of / 4}}
        for of in (losses[0], losses[-1])
    ]
    others = tuple(event for event in session.events if event["kind"] != "report")
    return replace(
        session, steps=steps, events=(*others, *reports, *events), end=(session.end or {}) | end
    )


def remarks(session: Session) -> dict[str, Remark]:
    found = outcome(session)
    return {one.name: one for one in (*found.improved, *found.time, *found.next)}


def test_a_run_that_learned_and_is_not_done(record) -> None:
    run = learned(record(), [2.0 - 0.05 * i for i in range(20)], {10: 1.6, 20: 1.1})
    said = remarks(run)
    assert said["loss_fell"].evidence["first"] == pytest.approx(1.9)
    assert said["loss_fell"].evidence["last"] == pytest.approx(1.15)
    assert "mel 1.000 → 0.525" in said["loss_parts"].said("en")
    assert said["validation_best"].evidence["best_step"] == 20
    assert (
        said["go_on"].do == f"python train_main.py --output {run.path.parent} --epochs 200 --resume"
    )
    assert said["time"].evidence["account"] == "data_wait"
    assert said["listen"].do.startswith(f'myxtts say "Hello." --checkpoint {run.path.parent} ')
    assert not {"hold_out", "past_its_best", "bottleneck"} & set(said)


def test_a_run_that_stopped_at_max_steps_is_told_how_many_more(record) -> None:
    run = record()
    run.header["config"]["training"]["max_steps"] = 20
    said = remarks(learned(run, [2.0 - 0.05 * i for i in range(20)], {}))
    assert "--max-steps 40 --resume" in said["go_on"].do
    assert said["hold_out"].do == "training.validation_share: 0.05"


def test_a_run_past_its_best_points_at_the_best_checkpoint(record) -> None:
    best = {"step": 10, "loss": 1.0, "stale": 2}
    run = learned(record(), [1.0] * 20, {10: 1.0, 15: 1.1, 20: 1.2}, best=best)
    said = remarks(run)
    assert said["past_its_best"].evidence["step"] == 10
    assert str(run.path.parent / "checkpoints" / "step-00000010") in said["listen"].do
    assert "go_on" not in said


def test_a_resumed_run_remembers_the_best_of_before(record) -> None:
    best = {"step": 3, "loss": 0.5, "stale": 4}
    run = learned(record(), [1.0] * 20, {20: 1.2}, best=best)
    assert remarks(run)["validation_best"].evidence["best"] == 0.5


def test_a_loss_that_rose_is_not_praised(record) -> None:
    said = remarks(learned(record(), [1.0 + 0.1 * i for i in range(20)], {}))
    assert "loss_rose" in said and "loss_fell" not in said and "go_on" not in said


def test_a_slow_run_names_what_to_change_first(record) -> None:
    slow = record(train=0.5, blame={"load": 0.45})
    said = remarks(slow)["bottleneck"]
    assert said.said("en").startswith("Training waits for data. Change this first:\n    ")
    assert said.said("fa").startswith("آموزش منتظر داده می‌ماند")


def test_a_run_without_steps_says_so(record) -> None:
    assert [one.name for one in outcome(replace(record(), steps=())).improved] == ["no_steps"]


@pytest.mark.parametrize("name", names())
def test_both_languages_speak_of_the_same_numbers(name: str) -> None:
    numbers = [set(re.findall(r"\{(\w+)", sentence(name, language))) for language in ("en", "fa")]
    assert numbers[0] == numbers[1]


def test_the_file_holds_both_languages_and_the_json_the_commands(record) -> None:
    found = outcome(learned(record(), [2.0, 1.0] * 10, {20: 1.1}))
    assert "What improved" in found.file() and "چه چیزی بهتر شد" in found.file()
    document = found.as_json("fa")
    assert document["next"][-1]["do"].startswith("myxtts say")
    assert document["improved"][0]["text"].startswith("مقدار loss")


def test_training_prints_and_keeps_its_summary(small_corpus: Path, tmp_path, capsys, monkeypatch):
    import json

    from myxtts.cli.main import main

    monkeypatch.chdir(tmp_path)
    told = ["--train-data", str(small_corpus), "--batch-size", "4", "--max-steps", "2"]
    settings = tmp_path / "config.yaml"
    settings.write_text(
        "data: {enable_xla: false, model_start_delay: 0.0, max_buckets: 1}\n"
        "model: {width: 16, encoder_blocks: 1, decoder_blocks: 1}\n"
    )
    assert main(["train", *told, "--output", "one"]) == 0
    printed = capsys.readouterr().out
    assert "What to try next" in printed and "training.validation_share: 0.05" in printed
    assert "گام بعدی" in (tmp_path / "one" / "summary.txt").read_text(encoding="utf-8")
    assert main(["train", *told, "--output", "two", "--json", "--lang", "fa"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["outcome"]["time"][0]["name"] == "time"
    assert document["figures"]["steps"] >= 1 and (tmp_path / "two" / "summary.txt").exists()
