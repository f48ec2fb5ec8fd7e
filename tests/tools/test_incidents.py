"""What went otherwise than planned is told in both languages, with its numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from myxtts.telemetry import session
from myxtts.telemetry.run_log import SCHEMA, RunLog
from myxtts.tools.catalogue import LANGUAGES
from myxtts.tools.incidents import incidents, sentences
from myxtts.tools.report import render
from myxtts.tools.summary import summarize

STEP = {
    "seconds": 0.1, "wait": 0.0, "train": 0.1, "loss": 1.0, "bucket": 0, "useful_frames": 9,
    "padded_frames": 10,
}  # fmt: skip
SHORT = {"work": "training", "device": "/GPU:1", "rows": 16, "length": 400, "step": 3}

MISHAPS: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("out_of_memory", "out_of_memory", SHORT | {"parts": 2}, ["/GPU:1", "16", "400", "2", "3"]),
    ("out_of_memory", "copied_late", SHORT | {"parts": 1}, ["/GPU:1", "16", "400", "3"]),
    ("bad_step", "bad_steps", {"step": 7, "losses": {}, "clips": ["a<b", "c"]}, ["7", "a<b, c"]),
    ("went_back", "went_back", {"step": 9, "to": 4, "path": "x"}, ["9", "4"]),
    ("not_saved", "not_saved", {"step": 8}, ["8"]),
    ("gpu_lost", "gpu_lost", {"index": 1, "reason": "fell off"}, ["1", "fell off", "N/A"]),
]


def record(
    folder: Path, *events: tuple[str, dict[str, Any]], compiled: tuple[int, ...] = ()
) -> session.Session:
    with RunLog(folder / "run.jsonl") as log:
        log.write("header", schema=SCHEMA, config={"data": {}}, plan={})
        log.write("warm", compilations=3)
        for number in range(10):
            log.write("step", step=number, compiled=number in compiled, **STEP)
        for kind, fields in events:
            log.write(kind, **fields)
        log.write("end", reason="finished", wall=1.0, accounts={"training": 1.0})
    return session.load(folder)


def test_both_languages_say_the_same_numbers() -> None:
    for texts in sentences().values():
        fields = [set(re.findall(r"{(\w+)", texts[language])) for language in LANGUAGES]
        assert fields[0] == fields[1]


@pytest.mark.parametrize(("kind", "name", "fields", "numbers"), MISHAPS)
def test_a_mishap_is_told_with_its_numbers(tmp_path, kind, name, fields, numbers) -> None:
    run = record(tmp_path, (kind, fields))
    found = {one.name: one for one in incidents(run)}
    assert set(found) == {"nothing_compiled", name}
    for language in LANGUAGES:
        assert all(number in found[name].said(language) for number in numbers)
    page = render(summarize(run))
    assert "a<b" not in page
    assert [one["name"] for one in summarize(run).as_json()["incidents"]] == list(found)


def test_many_bad_steps_are_counted_and_a_few_named(tmp_path) -> None:
    bad = [("bad_step", {"step": n, "losses": {}, "clips": [f"clip{n}"]}) for n in range(8)]
    (told,) = (one for one in incidents(record(tmp_path, *bad)) if one.name == "bad_steps")
    assert "0, 1, 2, 3, 4, … (8)" in told.said("en")


def test_compilations_after_warm_up_are_named(tmp_path) -> None:
    (told,) = incidents(record(tmp_path, compiled=(4, 6)))
    assert told.name == "compiled_late" and not told.good
    assert "2 of 10 steps" in told.said("en") and "4, 6" in told.said("en")


def test_a_run_that_never_said_it_was_warm_is_not_judged(tmp_path) -> None:
    with RunLog(tmp_path / "run.jsonl") as log:
        log.write("header", schema=SCHEMA, config={}, plan={})
    assert incidents(session.load(tmp_path)) == []
