"""Word error rate: how many words a recogniser got wrong, and how sure a comparison of two is.

Both texts are put into the same form first: our English normaliser (numbers, money, abbreviations
in words), lower case, no punctuation, hyphens apart. Spelling is not judged beyond that: "colour"
heard as "color" counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from myxtts.text.normalize import normalize

_NOT_A_WORD = re.compile(r"[^a-z0-9']+")


def words(text: str) -> list[str]:
    """The words that count when two texts are compared."""
    return _NOT_A_WORD.sub(" ", normalize(text, "en").lower()).split()


def edit_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Fewest insertions, deletions and replacements that turn `a` into `b`."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (left != right))
    return row[-1]


def word_edits(expected: str, heard: str) -> tuple[int, int]:
    """Wrong, missing and added words of one clip, and its expected words."""
    wanted = words(expected)
    return edit_distance(wanted, words(heard)), len(wanted)


def word_error_rate(expected: Sequence[str], heard: Sequence[str]) -> float:
    """Of a whole set: the sum of all edits over the sum of all expected words."""
    counts = [word_edits(*pair) for pair in zip(expected, heard, strict=True)]
    return sum(edits for edits, _ in counts) / max(1, sum(count for _, count in counts))


def ratio_interval(
    model_edits: Sequence[int],
    source_edits: Sequence[int],
    words: Sequence[int],
    samples: int = 2000,
    seed: int = 0,
) -> tuple[float, float, float]:
    """The model's word error rate over the source's, and its 95 % interval: (ratio, low, high).

    One entry for each clip, both read from the same text. Paired bootstrap: whole clips are drawn
    with replacement, so that a sentence that is hard for both stays with both. The interval is
    from the 2.5 to the 97.5 % quantile of `samples` draws. Infinite when the source has no error
    and the model has; 1 when neither has.
    """
    model, source, count = (np.asarray(x, np.int64) for x in (model_edits, source_edits, words))
    if not len(model) == len(source) == len(count) or len(count) == 0 or count.sum() == 0:
        raise ValueError(
            "ratio_interval expects the edits and words of the same clips, received "
            f"{len(model)}, {len(source)} and {len(count)} of them, {count.sum()} words"
        )
    drawn = np.random.default_rng(seed).integers(len(count), size=(samples, len(count)))
    ratios = _ratio(model[drawn].sum(axis=1), source[drawn].sum(axis=1))
    low, high = np.quantile(ratios, [0.025, 0.975], method="inverted_cdf")
    return float(_ratio(model.sum(), source.sum())), float(low), float(high)


def _ratio(model: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Edits over edits: both rates are per the same words, which therefore cancel out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((model == 0) & (source == 0), 1.0, np.divide(model, source))
