"""The page and the tables: whole, escaped, self-contained, in both languages."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from myxtts.tools import audit, catalogue, environment, findings, page_words, words
from myxtts.tools.catalogue import LANGUAGES
from myxtts.tools.report import render
from myxtts.tools.report_compare import before_after
from myxtts.tools.report_text import show
from myxtts.tools.summary import summarize

VOID = {"meta", "br"}


class Structure(HTMLParser):
    """Collects tags and texts, and fails when an element is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(page: str) -> Structure:
    structure = Structure()
    structure.feed(page)
    assert structure.open == []
    return structure


def starving(record):
    return summarize(record(train=0.4, blame={"load": 0.5}, skipped=["<b>&x"]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_is_whole_and_self_contained(record, language) -> None:
    page = render(starving(record), language)
    structure = parsed(page)
    assert ("dir", "rtl" if language == "fa" else "ltr") in structure.attributes
    assert structure.tags.count("svg") == 2 + 2 + 2 + 3  # lanes, step times, buffers, GPUs
    assert structure.tags.count("h2") == 9
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"(src|href)=|https?://|@import|url\(|<script", page)


def test_the_page_says_what_the_summary_says(record) -> None:
    summary = starving(record)
    text = parsed(render(summary)).text
    for one in summary.findings:
        assert catalogue.title(one) in text
        assert catalogue.reason(one) in text
        assert str(one.change) in text
    for row in summary.account:
        assert f"{row.percent:.1f} %" in text
    assert "50.0%" in text
    assert summary.worst is not None and summary.worst.rule == "training_low"


def test_every_number_of_a_chart_is_in_the_json(record) -> None:
    summary = starving(record)
    page, told = render(summary), summary.as_json()
    drawn = told["series"]
    assert f"median {1e3 * drawn['distribution']['median']:.1f} ms" in page
    assert f"95 % are below {1e3 * drawn['distribution']['slow']:.1f} ms" in page
    window = drawn["timeline"]
    assert f"Steps {window['first_step']} to {window['last_step']}" in page
    lanes = {lane["name"]: lane["spans"] for lane in window["lanes"]}
    assert page.count("<title>training, step ") == len(lanes["training"])
    assert {ring["name"] for ring in drawn["rings"]} == {"host", "ready"}
    assert len(drawn["gpus"]) == 6


def test_before_and_after_stand_side_by_side(record) -> None:
    before = summarize(record("before", times=(0.2,) * 20))
    after = summarize(record("after"))
    pair = before_after(before, after)
    for language in LANGUAGES:
        page = render(after, language, pair)
        assert page_words.label("before_after", language) in page
        assert all(row.shown(row.a) in page and row.shown(row.b) in page for row in pair.rows)
        assert page_words.label("better", language) in page
    told = pair.as_json()
    assert told["before"]["figures"]["step_seconds"] == pytest.approx(0.2)
    assert {row["name"]: row["verdict"] for row in told["compared"]}["step time"] == "better"
    cut = summarize(record("cut", times=(0.1,)))
    assert before_after(cut, after).rows == []
    assert "not measured" in render(after, "en", before_after(cut, after))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_verdict_is_shown_with_its_confidence_and_change(record, monkeypatch, language) -> None:
    verdict = {
        "cause": "disk", "healthy": False, "confidence": 0.83, "lost": 0.42, "title": "<Slow>",
        "looks": "It waits.", "why": "Few bytes.", "remedy": "Keep it in memory.",
        "change": {"settings": {"data.cache_dataset": True}, "command": ""},
    }  # fmt: skip
    summary = summarize(record())
    told = summary.as_json(language) | {"verdict": verdict}
    monkeypatch.setattr(type(summary), "as_json", lambda self, language="en": told)
    text = parsed(render(summary, language)).text
    for said in ("<Slow>", "83%", "42%", "It waits. Few bytes. Keep it in memory.",
                 "data.cache_dataset: true"):  # fmt: skip
        assert said in text


def test_a_lost_gpu_is_marked_where_it_was_lost(record) -> None:
    session = record()
    gone = {"kind": "gpu_lost", "t": 1.0, "index": 1, "reason": "the GPU is lost"}
    lost = type(session)(**{**vars(session), "events": (*session.events, gone)})
    text = parsed(render(summarize(lost))).text
    assert "GPU 1 lost" in text and "(lost)" in text


def test_the_bar_is_one_hundred_percent_wide(record) -> None:
    widths = re.findall(r'style="width:([\d.]+)%', render(summarize(record())))
    assert sum(map(float, widths)) == pytest.approx(100.0)


def test_texts_of_a_recording_cannot_become_markup(record) -> None:
    page = render(starving(record))
    assert "<b>&x" not in page and "&lt;b&gt;&amp;x" in page


def test_a_rehearsal_is_called_one_and_has_no_tier(record) -> None:
    text = parsed(render(summarize(record(plan={"virtual": True}, gpus={})))).text
    assert words.word("rehearsal") in text
    assert "not measured: virtual devices are not GPUs" in text
    assert "GPU: not measured" in text


def test_a_run_without_steady_steps_is_not_measured(record) -> None:
    summary = summarize(record(times=(0.1,), ended=False))
    structure = parsed(render(summary))
    assert words.word("step_times") not in structure.text
    assert "not measured" in structure.text
    assert summary.as_json()["figures"] is None


def test_a_healthy_run_has_nothing_to_change(record) -> None:
    page = render(summarize(record()))
    assert '<div class="card good">' in page and words.word("no_findings") in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_terminal_shows_the_same_numbers(record, language) -> None:
    summary = starving(record)
    stream = io.StringIO()
    show(summary, Console(file=stream, width=120), language)
    shown = stream.getvalue()
    assert "100.0" in shown
    assert words.word("preprocess", language).split()[0] in shown
    assert str(summary.findings[0].change) in shown
    assert "N/A" not in shown


def test_missing_metrics_are_shown_as_not_available(record) -> None:
    gpus = {0: {"utilization": None, "power_w": None, "memory_used_mb": None}}
    summary = summarize(record(gpus=gpus))
    stream = io.StringIO()
    show(summary, Console(file=stream, width=120))
    assert stream.getvalue().count("N/A") >= 3
    assert parsed(render(summary)).text.count("N/A") >= 3


def test_every_text_exists_in_both_languages() -> None:
    for texts in catalogue._TEXTS.values():
        assert set(texts) == set(LANGUAGES)
        fields = [set(re.findall(r"{(\w+)", "".join(texts[language]))) for language in LANGUAGES]
        assert fields[0] == fields[1]
    for labels in (words.words() | page_words.labels()).values():
        assert set(labels) == set(LANGUAGES)


def test_every_rule_has_a_text() -> None:
    sources = "".join(
        Path(module.__file__ or "").read_text() for module in (findings, audit, environment)
    )
    named = set(re.findall(r'Finding\(\s*"(\w+)"', sources))
    assert len(named) > 20
    assert named <= set(catalogue.rules())


def test_what_a_run_noticed_itself_is_passed_on(record) -> None:
    session = record()
    noticed = {"kind": "finding", "t": 1.0, "rule": "host_copy", "why": "no peer-to-peer"}
    with_notice = type(session)(**{**vars(session), "events": (*session.events, noticed)})
    (found,) = summarize(with_notice).findings
    assert catalogue.title(found) == "host copy"
    assert catalogue.reason(found) == "why: no peer-to-peer"
