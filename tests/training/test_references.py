"""Which clips a checkpoint keeps as voices."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from myxtts.training.references import MOST_SPEAKERS, REFERENCE_FRAMES, of_corpus

EN, FA = 0, 1


def corpus(rows: list[tuple[int, int, int]], names: list[str]) -> SimpleNamespace:
    """Rows of (language, speaker, frames); the mels of row i are all i."""
    language, speaker, frames = (np.array(column, np.int32) for column in zip(*rows, strict=True))
    mels = [np.full((count, 4), row, np.float16) for row, count in enumerate(frames)]
    store = SimpleNamespace(mel=lambda row: mels[row])
    return SimpleNamespace(
        language=language, speaker=speaker, frames=frames, speakers=names, store=store
    )


def test_the_most_spoken_comes_first_with_a_clip_that_is_long_enough() -> None:
    rows = [(FA, 0, 90), (EN, 0, 100), (EN, 1, 80), (EN, 1, 300), (EN, 1, 900), (FA, 0, 120)]
    kept = of_corpus(corpus(rows, ["ann", "bob"]))
    assert [(each.language, each.speaker) for each in kept] == [
        ("en", "bob"), ("en", "ann"), ("fa", "ann"),
    ]  # fmt: skip
    assert [each.mels[0, 0] for each in kept] == [3, 1, 5]
    assert [len(each.mels) for each in kept] == [REFERENCE_FRAMES, 100, 120]


def test_a_corpus_of_thousands_keeps_those_who_speak_most_and_one_of_each_language() -> None:
    rows = [(EN, speaker, 50) for speaker in range(200) for _ in range(1 + (speaker >= 150))]
    rows.append((FA, 0, 50))
    kept = of_corpus(corpus(rows, [f"p{n:03}" for n in range(200)]))
    names = {each.speaker for each in kept}
    assert {f"p{n:03}" for n in range(150, 200)} <= names
    assert len(names) <= MOST_SPEAKERS + 2
    assert {each.language for each in kept} == {"en", "fa"}
