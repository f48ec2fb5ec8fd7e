"""Word error rates against cases counted by hand, and the interval against simulated truth."""

import numpy as np
import pytest

from myxtts.evaluation.wer import edit_distance, ratio_interval, word_edits, word_error_rate, words


@pytest.mark.parametrize(
    ("expected", "heard", "edits"),
    [
        ("the cat sat", "the cat sat", 0),
        ("the cat sat", "the bat sat", 1),
        ("the cat sat", "the sat", 1),
        ("the cat sat", "the big cat sat", 1),
        ("the cat sat", "", 3),
        ("the cat sat", "sat the cat", 2),
        ("a b c d", "b c d a e", 3),
    ],
)
def test_edits_counted_by_hand(expected: str, heard: str, edits: int) -> None:
    assert word_edits(expected, heard) == (edits, len(expected.split()))
    assert edit_distance(heard.split(), expected.split()) == edits


def test_both_sides_are_written_alike_before_they_are_compared() -> None:
    assert " ".join(words("Mr. Smith paid $5, twice!")) == "mister smith paid five dollars twice"
    assert word_edits("Twenty-one o’clock, isn't it?", "twenty one o'clock isn’t it")[0] == 0
    assert word_edits("It was 1999.", "it was nineteen ninety nine")[0] == 0


def test_a_long_sentence_counts_by_its_words() -> None:
    # 0 of 1 and 3 of 3: 3 of 4, not the mean of 0 and 1.
    assert word_error_rate(["yes", "no thank you"], ["yes", "what is that"]) == 0.75


def test_equal_errors_give_a_ratio_of_one_without_any_doubt() -> None:
    assert ratio_interval([2, 0, 5], [2, 0, 5], [9, 8, 7]) == (1.0, 1.0, 1.0)


def test_the_interval_contains_the_truth_about_as_often_as_it_says() -> None:
    """Clips of different difficulty, the model 1.3 times worse than the source on each."""
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(100):
        length = rng.integers(6, 15, 150)
        hard = rng.uniform(0.05, 0.35, 150)
        source, model = rng.binomial(length, hard), rng.binomial(length, 1.3 * hard)
        ratio, low, high = ratio_interval(model, source, length, samples=400)
        assert low <= ratio <= high
        inside += low <= 1.3 <= high
    assert 88 <= inside <= 100


def test_pairing_makes_the_interval_narrower() -> None:
    rng = np.random.default_rng(0)
    source = rng.binomial(12, rng.uniform(0.0, 0.6, 100))
    model = source + rng.binomial(1, 0.1, 100)
    length = np.full(100, 12)
    _, low, high = ratio_interval(model, source, length)
    _, loose_low, loose_high = ratio_interval(rng.permutation(model), source, length)
    assert high - low < 0.5 * (loose_high - loose_low)


def test_the_same_seed_gives_the_same_interval() -> None:
    edits = [1, 0, 3, 2, 0], [0, 1, 2, 2, 1], [5, 6, 7, 8, 9]
    assert ratio_interval(*edits, seed=3) == ratio_interval(*edits, seed=3)


def test_a_source_without_errors() -> None:
    assert ratio_interval([0, 0], [0, 0], [3, 3]) == (1.0, 1.0, 1.0)
    ratio, _, high = ratio_interval([1, 0], [0, 0], [3, 3])
    assert ratio == high == np.inf


def test_sides_of_different_clips_are_refused() -> None:
    with pytest.raises(ValueError, match="same clips"):
        ratio_interval([1, 2], [1], [5, 5])
    with pytest.raises(ValueError, match="same clips"):
        ratio_interval([], [], [])
