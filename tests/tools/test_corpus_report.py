from collections.abc import Sequence
from pathlib import Path

import pytest

from myxtts.data.corpus_check import CorpusCheck, Histogram, Share
from myxtts.data.corpus_rules import Effect, Problem
from myxtts.errors import UsageError
from myxtts.tools import corpus_report

BARS = Histogram((0.0, 1.0, 2.0, 9.0), (80, 0, 1))


def checked(problems: Sequence[Problem] = (), speakers: int = 1) -> CorpusCheck:
    return CorpusCheck(
        folder=Path("corpus"), form="VCTK", clips=81, lost=0, hours=1.5,
        speakers=tuple(Share(f"speaker{n}", 81, 1.5) for n in range(speakers)),
        languages=(Share("en", 81, 1.5),), beyond_largest_shape=0, tokens=BARS, seconds=BARS,
        unknown_characters={}, problems=tuple(problems),
    )  # fmt: skip


def problem(line: int, effect: Effect = "lost", detail: str = "the file does not exist") -> Problem:
    return Problem("missing", effect, Path("metadata.csv"), line, "a", detail)


def test_a_good_corpus_in_a_few_lines() -> None:
    lines = list(corpus_report.lines(checked()))
    assert lines[0] == "corpus: VCTK, 81 clips, 1.50 hours, 1 speaker"
    assert "speakers: speaker0 1.50 h (81)" in lines
    assert lines[-1] == "✓ nothing is wrong"


def test_bars_are_as_long_as_their_counts() -> None:
    head, first, none, few = corpus_report.histogram_lines("seconds", BARS)
    assert head == "seconds  clips"
    assert first == f"    0–1  {'█' * 40} 80"
    assert none == "    1–2  0"
    assert few == "    2–9  ▌ 1"


def test_problems_by_file_and_line_and_their_sums() -> None:
    found = checked([problem(n) for n in range(1, 31)])
    lines = list(corpus_report.lines(found, most_problems=20))
    listed = [line for line in lines if line.startswith("✗ metadata.csv:")]
    assert listed[0] == "✗ metadata.csv:1: missing: a: the file does not exist"
    assert len(listed) == 20
    assert "✗ missing: 30 (lost)" in lines
    assert "--all" in lines[-1]
    assert len([line for line in corpus_report.lines(found) if "metadata.csv:" in line]) == 30


def test_advice_says_that_nothing_is_lost() -> None:
    lines = list(corpus_report.lines(checked([problem(1, "advice")])))
    assert lines[-1] == "✓ no clip is lost or harmed"


def test_many_speakers_and_long_names_are_cut() -> None:
    lines = list(corpus_report.lines(checked(speakers=13)))
    assert any(line.endswith("and 3 more") for line in lines)
    assert corpus_report.shortened("f" * 128) == "f" * 15 + "…"


def test_a_corpus_cannot_steer_the_terminal() -> None:
    lines = corpus_report.lines(checked([problem(1, detail="\x1b]0;title\x07 می‌روم")]))
    (line,) = [line for line in lines if "metadata.csv:" in line]
    assert "\x1b" not in line and "\x07" not in line
    assert "می‌روم" in line


def test_plots(tmp_path: Path) -> None:
    corpus_report.write_plot(checked(), tmp_path / "a.svg")
    corpus_report.write_plot(checked(), tmp_path / "a.PNG")
    svg = (tmp_path / "a.svg").read_text()
    assert svg.startswith("<svg") and "0–1 seconds: 80 clips" in svg and "tokens" in svg
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="SVG or a PNG"):
        corpus_report.check_plot_name(tmp_path / "a.pdf")


def test_a_plot_of_nothing(tmp_path: Path) -> None:
    nothing = Histogram((), ())
    empty = CorpusCheck(
        Path("c"), "VCTK", 1, 1, 0.0, (), (), 0, nothing, nothing, {}, (problem(1),)
    )  # fmt: skip
    corpus_report.write_plot(empty, tmp_path / "a.svg")
    corpus_report.write_plot(empty, tmp_path / "a.png")
    assert list(corpus_report.lines(empty))
