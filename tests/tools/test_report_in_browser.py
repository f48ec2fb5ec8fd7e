"""The page in a real browser: at a desk and on a phone, in both languages, light and dark."""

from __future__ import annotations

import pytest

from myxtts.telemetry.session import load
from myxtts.tools.catalogue import LANGUAGES
from myxtts.tools.report import render
from myxtts.tools.report_compare import before_after
from myxtts.tools.summary import summarize
from tests.tools import browser

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed"),
]

LONG = "a-clip-with-a-name-that-has-no-place-to-break-" * 3


def eventful_page(record, language) -> str:
    """A page with everything on it, some of it hard to fit."""
    session = record("run", train=0.4, blame={"load": 0.5}, skipped=[LONG, "<b>&"])
    lines = session.path.read_text().splitlines()
    lines[-1:-1] = [
        '{"kind": "gpu_lost", "t": 1.0, "index": 1, "reason": "the GPU is lost"}',
        '{"kind": "warm", "t": 0.1, "compilations": 2}',
        f'{{"kind": "bad_step", "t": 1.0, "step": 3, "clips": ["{LONG}"]}}',
    ]
    session.path.write_text("\n".join(lines) + "\n")
    after = summarize(load(session.path))
    return render(after, language, before_after(summarize(record("before")), after))


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_overlaps_or_is_cut(language, width, record, tmp_path) -> None:
    assert browser.faults(eventful_page(record, language), tmp_path, width) == []


def test_the_probe_sees_a_page_that_is_wrong(record, tmp_path) -> None:
    page = eventful_page(record, "en")
    overlapping = page.replace("h2 {", "h2 { margin-bottom: -3rem !important;", 1)
    assert any("overlap" in fault for fault in browser.faults(overlapping, tmp_path, 390))
    too_wide = page.replace("<h1>", '<h1 style="width: 70rem">', 1)
    assert any("wide" in fault for fault in browser.faults(too_wide, tmp_path, 390))


def test_light_and_dark_are_two_pictures(record, tmp_path) -> None:
    page = eventful_page(record, "fa")
    pictures = []
    for dark in (False, True):
        target = tmp_path / f"{dark}.png"
        browser.picture(page, tmp_path, 390, target, dark=dark)
        pictures.append(target.read_bytes())
    assert all(len(picture) > 20_000 for picture in pictures)
    assert pictures[0] != pictures[1]
