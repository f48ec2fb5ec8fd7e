"""A corpus with one clip of each problem, beside many good ones."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from myxtts.audio.decode import write_wav
from myxtts.config import DataConfig
from myxtts.data.corpus_check import CorpusCheck, check, histogram
from myxtts.errors import UserError

from .conftest import tone

MakeCorpus = Callable[..., Path]


def good(folder: Path, clips: int = 30) -> list[str]:
    """Lines of clips whose text is as long as their audio: ten characters a second."""
    (folder / "wavs").mkdir(parents=True)
    lines = ["id|text|speaker|language"]
    for number in range(clips):
        words = " ".join(f"word{'abcdefghij'[(number + k) % 10]}" for k in range(3 + number % 7))
        words = f"{words} {'xyz'[number % 3] * (1 + number // 3)}"
        lines.append(clip(folder, f"g{number:02d}", words, len(words) / 10, number))
    return lines


def clip(folder: Path, name: str, text: str, seconds: float, seed: int = 0) -> str:
    write_wav(folder / "wavs" / f"{name}.wav", tone(seconds, 110, seed), 22050)
    return f"{name}|{text}|s{seed % 2}|en"


def checked(folder: Path, lines: list[str], data: DataConfig) -> CorpusCheck:
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return check(folder, data)


def told(found: CorpusCheck) -> list[tuple[str, str, str, int]]:
    return [(one.kind, one.effect, one.clip, one.line) for one in found.problems]


def test_a_good_corpus(tmp_path: Path, data: DataConfig) -> None:
    heard: list[tuple[str, int, int]] = []
    folder = tmp_path / "corpus"
    (folder / "metadata.csv").parent.mkdir()
    lines = good(folder)
    (folder / "metadata.csv").write_text("\n".join(lines))
    found = check(folder, data, lambda *told: heard.append(told))
    assert found.problems == ()
    assert found.good
    assert (found.clips, found.lost, found.form) == (30, 0, "metadata.csv")
    assert found.hours == pytest.approx(sum(s.hours for s in found.speakers))
    assert [(share.name, share.clips) for share in found.languages] == [("en", 30)]
    assert {share.name: share.clips for share in found.speakers} == {"s0": 15, "s1": 15}
    assert found.speakers[0].hours >= found.speakers[1].hours
    assert sum(found.tokens.counts) == sum(found.seconds.counts) == 30
    assert heard[-1] == ("checking clips", 30, 30)
    assert sorted(path.name for path in folder.iterdir()) == ["metadata.csv", "wavs"]


def test_every_problem_with_its_line(tmp_path: Path, data: DataConfig) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    lines = good(folder)
    write_wav(folder / "wavs/silent.wav", np.zeros(22050, np.float32), 22050)
    write_wav(folder / "wavs/clipped.wav", np.clip(9 * tone(1.2, 110, 7), -1, 1), 22050)
    (folder / "wavs/broken.wav").write_bytes(b"")
    copy = (folder / "wavs/g03.wav").read_bytes()
    (folder / "wavs/copy.wav").write_bytes(copy)
    text = lines[5].split("|")[1]
    other = " ".join(reversed(lines[4].split("|")[1].split()))
    lines += [
        "gone|no audio here|s0|en",  # line 32
        "broken|zero bytes|s0|en",
        "silent|ten letter|s0|en",
        "clipped|twelve signs|s0|en",
        clip(folder, "empty", "", 1.0, 50),
        clip(folder, "marks", "…!?!", 0.4, 51),
        clip(folder, "short", "hi", 0.2, 52),
        clip(folder, "misfit", "one", 6.0, 53),
        clip(folder, "crowded", "far too many letters for so little sound", 0.4, 54),
        clip(folder, "unknown", "snow ☃ ☃ man", 1.2, 55),
        lines[9].replace("|s", "|other"),
        f"copy|{other}|s1|en",
        clip(folder, "again", text, len(text) / 10, 56),
        clip(folder, "klingon", "ten letter", 1.0, 57).replace("|en", "|tlh"),
        "../out|outside|s0|en",
        clip(folder, "long", "a long clip " * 16, 19.2, 58),
    ]
    found = checked(folder, lines, data)
    assert told(found) == [
        ("missing", "lost", "gone", 32),
        ("unreadable", "lost", "broken", 33),
        ("silent", "harmed", "silent", 34),
        ("clipped", "harmed", "clipped", 35),
        ("empty text", "lost", "empty", 36),
        ("empty text", "harmed", "marks", 37),
        ("too short", "harmed", "short", 38),
        ("transcript does not fit", "harmed", "misfit", 39),
        ("transcript does not fit", "lost", "crowded", 40),
        ("unknown characters", "harmed", "unknown", 41),
        ("duplicate", "lost", "g08", 42),
        ("duplicate", "harmed", "copy", 43),
        ("duplicate", "advice", "again", 44),
        ("unknown language", "lost", "klingon", 45),
        ("unreadable line", "lost", "", 46),
        ("too long", "advice", "long", 47),
    ]
    assert all(one.file == folder / "metadata.csv" for one in found.problems)
    assert not found.good
    assert found.lost == 7
    assert found.clips == 46
    assert found.unknown_characters == {"☃": 2}


def test_advice_alone_is_good(tmp_path: Path, data: DataConfig) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    lines = good(folder)
    text = lines[5].split("|")[1]
    found = checked(folder, [*lines, clip(folder, "z", text, len(text) / 10, 60)], data)
    assert told(found) == [("duplicate", "advice", "z", 32)]
    assert found.good


def test_what_is_too_long_depends_on_the_configuration(tmp_path: Path, data: DataConfig) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    lines = [*good(folder), clip(folder, "long", "a long clip " * 10, 12.0, 61)]
    extended = checked(folder, lines, data)
    assert (told(extended), extended.beyond_largest_shape) == ([], 1)
    refusing = data.model_copy(update={"long_clips": "refuse"})
    assert told(check(folder, refusing)) == [("too long", "lost", "long", 32)]


def test_a_corpus_of_which_nothing_can_be_heard(tmp_path: Path, data: DataConfig) -> None:
    (tmp_path / "metadata.csv").write_text("a|Text.\n")
    found = check(tmp_path, data)
    assert told(found) == [("missing", "lost", "a", 1)]
    assert (found.hours, found.speakers, found.seconds.counts) == (0.0, (), ())


def test_no_corpus(tmp_path: Path, data: DataConfig) -> None:
    with pytest.raises(UserError, match="is no corpus"):
        check(tmp_path, data)


@pytest.mark.parametrize(
    "values", [[5.0], [1.0, 1.0], [0.01, 0.02], [float(n % 7) for n in range(50)], [1e-9, 3000.0]]
)
def test_a_histogram_counts_every_value_once(values: list[float]) -> None:
    bars = histogram(values)
    assert sum(bars.counts) == len(values)
    assert len(bars.edges) == len(bars.counts) + 1 <= 22
    assert list(bars.edges) == sorted(set(bars.edges))
    assert bars.edges[0] <= min(values) and max(values) <= bars.edges[-1]


def test_one_extreme_value_does_not_hide_the_others() -> None:
    bars = histogram([3.0 + (n % 50) / 10 for n in range(1000)] + [600.0])
    assert len(bars.counts) >= 10
    assert bars.edges[-1] == 600.0


def test_whole_numbers_have_whole_bars() -> None:
    assert histogram([65, 66, 66, 68], narrowest=1).edges == (65.0, 66.0, 67.0, 68.0)
