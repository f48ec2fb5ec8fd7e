"""Ratios come from medians of what was measured; what is missing stays missing."""

from growth import FirstRun, Size
from report import RATIOS, document, ratios, table
from rounds import Outcome, Pass
from text_speed import (
    FROM_CACHE,
    OURS_4X,
    OURS_4X_SHARED,
    OURS_SHARED,
    PHONEMIZER_SHARED,
    Speeds,
)


def outcome(*rates: float) -> Outcome:
    return Outcome(tuple(Pass(1000 / rate, 0.1, 1000) for rate in rates), 0.001, None)


def size(factor: int) -> Size:
    return Size(factor, 100 * factor, 10**6, FirstRun(1.0, 1.2, 80.0), [0.5, 0.3, 0.9], 2.0)


MISSING = Outcome((), None, "not installed")
OUTCOMES = {
    "cold": outcome(500, 600, 550),
    "warm": outcome(9000, 10_000, 20_000),
    "dali": outcome(400, 500, 900),
    "torch": outcome(300, 300, 300),
    "tfdata": MISSING,
    "npy": outcome(4000),
    "memcpy": outcome(50_000),
}
TEXT = Speeds(
    100,
    {
        "ours": [2.0],
        OURS_SHARED: [1.25],
        FROM_CACHE: [0.1],
        "phonemizer": [3.0],
        PHONEMIZER_SHARED: [2.5],
        OURS_4X: [8.0],
        OURS_4X_SHARED: [5.0],
    },
)
USEFUL = {"buckets": {"useful": 0.93}, "single": {"useful": 0.66}}


def test_ratios_are_of_medians_and_against_the_fastest_peer():
    assert ratios(OUTCOMES, TEXT, [size(1), size(16)], USEFUL) == {
        "warm_vs_best_peer": 20.0,
        "warm_vs_npy_peer": 2.5,
        "cold_vs_best_peer": 1.1,
        "warm_vs_memcpy": 0.2,
        "text_cold_vs_phonemizer": 2.0,
        "text_parallel_speedup": 1.6,
        "text_cached_s": 0.1,
        "first_batch_cached_s": 0.5,
        "useful_frame_share": 0.93,
        "useful_frame_share_single_shape": 0.66,
    }


def test_a_missing_peer_gives_no_figure():
    outcomes = {**OUTCOMES, "npy": MISSING, "dali": MISSING, "torch": MISSING}
    figures = ratios(outcomes, Speeds(0, missing={"phonemizer": "not installed"}), [size(16)], None)
    assert figures["warm_vs_npy_peer"] is None
    assert figures["warm_vs_best_peer"] is None
    assert figures["text_cold_vs_phonemizer"] is None
    result = document(figures, outcomes, TEXT, [size(16)], None, {"machine": {}})
    assert result["loading"]["npy"]["missing"] == "not installed"
    assert "mels cached as .npy" in table(result) and "missing" in table(result)


def test_the_result_has_every_key_that_is_promised():
    figures = ratios(OUTCOMES, TEXT, [size(1), size(4), size(16)], USEFUL)
    result = document(figures, OUTCOMES, TEXT, [size(1), size(4), size(16)], USEFUL, {})
    assert set(RATIOS) < set(result)
    assert result["prepare_memory_growth_mb"] == {"1x": 80.0, "4x": 80.0, "16x": 80.0}
