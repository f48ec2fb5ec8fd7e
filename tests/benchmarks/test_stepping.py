"""Ratios of training steps: of turns, between the fastest ways, with what is missing missing."""

import pytest
import speech_batch
import step_report
from stepping import Turns, fastest, ratio


def turns(*medians: float) -> Turns:
    """Turns of three steps with these medians."""
    return Turns(tuple((0.5 * m, m, 9.0) for m in medians), first_step=7.0, parameters=1000)


MISSING = Turns((), missing="not installed (torch)")
OUTCOME = {
    "xla": turns(0.2, 0.4, 0.2),
    "graph": turns(0.3, 0.3, 0.3),
    "eager": turns(0.3, 0.8, 0.3),
    "compiled": turns(0.9, 0.9, 0.9),
    "plain": MISSING,
}
SHAPE = speech_batch.shape(16, 400)


def test_each_side_counts_with_its_fastest_way():
    assert fastest(OUTCOME, "ours") == "xla"
    assert fastest(OUTCOME, "torch") == "eager"


def test_a_ratio_is_the_median_over_turns_with_an_interval():
    found = ratio(OUTCOME)
    assert found is not None
    assert found.value == pytest.approx(1.5)
    assert (found.low, found.high) == pytest.approx((1.5, 2.0))


def test_a_missing_side_gives_no_figure():
    outcome = {"xla": turns(0.2), "eager": MISSING}
    result = step_report.document([step_report.Contest("tiny", SHAPE, outcome)], [], {})
    assert result["step_vs_torch_tiny"] is None
    assert result["steps"]["tiny"]["ways"]["eager"] == {
        "what": "PyTorch, alignment by numba",
        "missing": "not installed (torch)",
    }
    assert "a side is missing" in step_report.table(result)


def test_the_result_has_every_key_that_is_promised():
    contests = [step_report.Contest(size, SHAPE, OUTCOME) for size in ("tiny", "small")]
    points = step_report.costs("length", "tiny", SHAPE, OUTCOME)
    result = step_report.document(contests, points, {"machine": {}})
    assert result["step_vs_torch_tiny"] == result["step_vs_torch_small"] == 1.5
    assert result["step_vs_torch_small_low"] == 1.5
    assert [(p["side"], p["seconds"]) for p in result["costs"]] == [("ours", 0.2), ("torch", 0.4)]
    assert "step_vs_torch_tiny 1.50 (1.50 to 2.00" in step_report.table(result)


def test_a_batch_is_padded_with_zeros_and_fills_its_shape():
    batch = speech_batch.make(SHAPE)
    assert speech_batch.Shape(16, 112, 400) == SHAPE
    assert batch["mels"].shape == (16, 400, speech_batch.MELS)
    for values, lengths in (("tokens", "token_lengths"), ("mels", "mel_lengths")):
        for row, length in zip(batch[values], batch[lengths], strict=True):
            assert row[:length].all()
            assert not row[length:].any()
    assert batch["mel_lengths"].mean() > 0.85 * 400
    assert (batch["mel_lengths"] >= batch["token_lengths"]).all()
