from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from myxtts.data import text_cache
from myxtts.data.text_cache import TokenizedTexts
from myxtts.data.text_processes import Text, encode_in_processes
from myxtts.text.tokenizer import Encoded, Tokenizer

TEXTS = ["Good morning.", "سلام دنیا", "Good morning.", "Mind the gap ☃ ☃."]


class CountingTokenizer(Tokenizer):
    """Counts what is really computed."""

    def __init__(self) -> None:
        super().__init__("characters")
        self.encoded: list[tuple[str, str]] = []

    def encode(self, text: str, language: str) -> Encoded:
        self.encoded.append((text, language))
        return super().encode(text, language)


def tokenize(
    folder: Path, texts: list[str], tokenizer: Tokenizer, progress: list[int] | None = None
) -> TokenizedTexts:
    heard = progress if progress is not None else []
    return text_cache.tokenize(
        texts, [None] * len(texts), ["en", "fa"], tokenizer, folder, heard.append
    )


def assert_same(one: TokenizedTexts, other: TokenizedTexts) -> None:
    for name in ("tokens", "offsets", "language"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.unknown == other.unknown


def test_ids_languages_and_unknown_characters(tmp_path: Path) -> None:
    tokenizer = CountingTokenizer()
    progress: list[int] = []
    found = tokenize(tmp_path, TEXTS, tokenizer, progress)
    for row, text in enumerate(TEXTS):
        language = "fa" if row == 1 else "en"
        expected = Tokenizer("characters").encode(text, language).ids
        got = found.tokens[found.offsets[row] : found.offsets[row + 1]]
        np.testing.assert_array_equal(got, expected)
    assert found.language.tolist() == [0, 1, 0, 0]
    assert found.unknown == Counter({"☃": 2})
    assert progress[-1] == len(TEXTS)
    assert len(tokenizer.encoded) == 3  # equal transcripts are one


def test_the_second_time_nothing_is_computed(tmp_path: Path) -> None:
    first = tokenize(tmp_path, TEXTS, CountingTokenizer())
    again = CountingTokenizer()
    progress: list[int] = []
    assert_same(tokenize(tmp_path, TEXTS, again, progress), first)
    assert again.encoded == []
    assert progress == [len(TEXTS)]


def test_a_changed_transcript_is_the_only_one_redone(tmp_path: Path) -> None:
    tokenize(tmp_path, TEXTS, CountingTokenizer())
    tokenizer = CountingTokenizer()
    changed = [*TEXTS[:3], "Mind the step."]
    found = tokenize(tmp_path, changed, tokenizer)
    assert tokenizer.encoded == [("Mind the step.", "en")]
    assert not found.unknown
    assert_same(found, tokenize(tmp_path / "fresh", changed, CountingTokenizer()))


def test_the_language_is_part_of_the_key(tmp_path: Path) -> None:
    tokenize(tmp_path, ["10"], CountingTokenizer())
    tokenizer = CountingTokenizer()
    heard: list[int] = []
    found = text_cache.tokenize(["10"], ["fa"], ["en", "fa"], tokenizer, tmp_path, heard.append)
    assert tokenizer.encoded == [("10", "fa")]
    assert found.language.tolist() == [1]


def test_a_changed_setting_is_another_cache(tmp_path: Path) -> None:
    tokenize(tmp_path, TEXTS, CountingTokenizer())
    other = CountingTokenizer()
    other.__dict__["fingerprint"] = "0123456789abcdef"
    tokenize(tmp_path, TEXTS, other)
    assert len(other.encoded) == 3
    assert len(list(tmp_path.glob("text-*.json"))) == 2


@pytest.mark.parametrize("pattern", ["text-*.json", "text-*.bin"])
@pytest.mark.parametrize("damage", ["flip", "truncate", "delete"])
def test_damage_is_said_moved_aside_and_rebuilt(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, pattern: str, damage: str
) -> None:
    first = tokenize(tmp_path, TEXTS, CountingTokenizer())
    (path,) = tmp_path.glob(pattern)
    content = bytearray(path.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    elif damage == "truncate":
        path.write_bytes(content[:-3])
    else:
        path.unlink()
    tokenizer = CountingTokenizer()
    assert_same(tokenize(tmp_path, TEXTS, tokenizer), first)
    assert len(tokenizer.encoded) == 3
    if not (damage == "delete" and pattern.endswith("json")):
        assert list(tmp_path.glob("*.damaged"))
        assert "rebuilt" in caplog.text
    assert_same(tokenize(tmp_path, TEXTS, again := CountingTokenizer()), first)
    assert again.encoded == []


def test_a_killed_run_keeps_what_it_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_cache, "_SAVED_EVERY", 10)

    class Dies(CountingTokenizer):
        def encode(self, text: str, language: str) -> Encoded:
            if len(self.encoded) == 25:
                raise KeyboardInterrupt
            return super().encode(text, language)

    texts = [f"Sentence {number}" for number in range(40)]
    with pytest.raises(KeyboardInterrupt):
        tokenize(tmp_path, texts, Dies())
    rest = CountingTokenizer()
    tokenize(tmp_path, texts, rest)
    assert len(rest.encoded) == 20


def test_the_cache_does_not_grow_with_old_transcripts(tmp_path: Path) -> None:
    for round_ in range(5):
        tokenize(tmp_path, [f"Round {round_} {n}" for n in range(20)], CountingTokenizer())
    (path,) = tmp_path.glob("text-*.json")
    assert len(text_cache.read(path).positions) == 20
    assert len(list(tmp_path.iterdir())) == 2


def test_processes_write_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*TEXTS, *(f"Sentence {number} of ☃." for number in range(600))]
    tokenize(tmp_path / "one", texts, Tokenizer("characters"))
    monkeypatch.setattr(text_cache, "_WORTH_PROCESSES", 100)
    started: list[int] = []

    def spied(wanted: list[Text], tokenizer: Tokenizer, processes: int) -> Iterator[Encoded]:
        started.append(processes)
        return encode_in_processes(wanted, tokenizer, processes)

    monkeypatch.setattr(text_cache, "encode_in_processes", spied)
    heard: list[int] = []
    text_cache.tokenize(
        texts, [None] * len(texts), ["en", "fa"], Tokenizer("characters"), tmp_path / "two",
        heard.append, processes=2,
    )  # fmt: skip
    assert started == [2]
    assert heard[-1] == len(texts)
    one, two = (sorted((tmp_path / name).iterdir()) for name in ("one", "two"))
    assert [path.name for path in one] == [path.name for path in two]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


def test_few_texts_start_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_cache, "encode_in_processes", None)  # calling it would fail
    tokenizer = CountingTokenizer()
    text_cache.tokenize(TEXTS, ["en"] * 4, ["en"], tokenizer, tmp_path, [].append, processes=2)
    assert len(tokenizer.encoded) == 3
