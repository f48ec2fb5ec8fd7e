"""The page and the tables: whole, escaped, self-contained, in both languages."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from myxtts.tools import audit, catalogue, environment, findings, words
from myxtts.tools.catalogue import LANGUAGES
from myxtts.tools.report import render
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
    assert structure.tags.count("svg") == 1
    assert structure.tags.count("h2") == 8
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
    assert structure.tags.count("svg") == 0
    assert "not measured" in structure.text
    assert summary.as_json()["figures"] is None


def test_a_healthy_run_has_nothing_to_change(record) -> None:
    text = parsed(render(summarize(record()))).text
    assert words.word("healthy") in text and words.word("no_findings") in text


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
    for labels in words.words().values():
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
