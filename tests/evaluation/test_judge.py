"""All judges together, on speech whose quality is known."""

import json

import numpy as np
import pytest

from myxtts.audio.griffin_lim import griffin_lim
from myxtts.audio.mel import MelSettings, log_mel
from myxtts.evaluation.judge import Judges, Pair, evaluate
from myxtts.evaluation.summary import Figure

MEL = MelSettings()
TEXT = "The river was wide and slow."
OTHER = "Nobody came to the house that day."


class Echo:
    """A recogniser that hears loud speech right and quiet speech not at all."""

    def transcribe(self, samples: np.ndarray, sample_rate: int) -> str:
        return TEXT if np.abs(samples).max() > 0.2 else "the liver was wide"


class LoudnessAsVoice:
    """Stands in for the encoder where its weights are not the point: half the peak, as an angle."""

    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        angle = float(np.abs(samples).max())
        return np.array([np.cos(angle), np.sin(angle)])


FAKES = Judges({"moonshine": Echo()}, LoudnessAsVoice())


def figures(found) -> dict[str, Figure]:
    return {figure.metric: figure for figure in found.figures()}


def with_peak(samples: np.ndarray, peak: float) -> np.ndarray:
    return samples * np.float32(peak / np.abs(samples).max())


def test_a_copy_of_the_source_is_as_good_as_the_source(say):
    source, other = with_peak(say(TEXT), 0.5), with_peak(say(OTHER), 0.5)
    found = figures(
        evaluate([Pair("a", TEXT, "en", "x", source, source, other, other)], MEL, FAKES)
    )
    assert found["wer_moonshine"].model == 0.0 and found["wer_moonshine"].ratio == (1.0, 1.0, 1.0)
    assert found["similarity"].model == pytest.approx(1.0)
    for metric in ("mcd_db", "f0_cents", "voicing_error", "duration_error"):
        assert found[metric].model == 0.0, metric
    assert "nearest_speaker" not in found  # one speaker only
    # The vocoder's floor is beside them.
    assert 0 < found["mcd_db"].source < 2 and found["f0_cents"].source > 0


def test_resynthesised_speech_is_at_the_floor_and_worse_speech_above_it(say):
    source = say(TEXT, "f2")
    resynthesised = griffin_lim(log_mel(source, MEL), MEL)
    slow = say("The liver was white and slower, as they said.", "rob")
    good = figures(evaluate([Pair("a", TEXT, "en", "x", resynthesised, source)], MEL, FAKES))
    bad = figures(evaluate([Pair("a", TEXT, "en", "x", slow, source)], MEL, FAKES))
    for metric in ("mcd_db", "f0_cents", "voicing_error", "duration_error"):
        assert good[metric].model == pytest.approx(good[metric].source)
        assert bad[metric].model > good[metric].model, metric


def test_words_are_summed_over_clips_and_languages_kept_apart(say):
    loud, quiet = with_peak(say(TEXT), 0.5), with_peak(say(TEXT), 0.1)
    pairs = [
        Pair("a", TEXT, "en", "x", quiet, loud),
        Pair("b", TEXT, "en", "x", loud, quiet),
        Pair("c", TEXT, "en", "x", quiet, loud),
        Pair("d", "سلام دنیا", "fa", "x", loud, loud),
    ]
    found = evaluate(pairs, MEL, FAKES)
    rate = figures(found)["wer_moonshine"]
    assert (rate.model, rate.source, rate.clips) == (6 / 18, 3 / 18, 3)
    assert rate.ratio is not None and rate.ratio[0] == 2.0
    assert "wer_moonshine" not in [figure.metric for figure in found.figures("fa")]
    assert [gap.reason for gap in found.not_measured if gap.metric == "wer"] == [
        "there is no offline recogniser for fa (1 clips)"
    ]
    assert not found.incomplete  # nothing that could be installed is missing


def test_the_nearest_speaker_is_found_among_the_references(say):
    speech = say(TEXT)
    low, high = with_peak(speech, 0.3), with_peak(speech, 0.9)
    pairs = [
        Pair("a", TEXT, "en", "quiet", low, low, low, low),
        Pair("b", TEXT, "en", "loud", low, high, high, high),
    ]
    found = evaluate(pairs, MEL, FAKES)
    share = figures(found)["nearest_speaker"]
    assert (share.model, share.source) == (0.5, 1.0)


def test_a_foreign_reference_is_compared_with_itself(say):
    speech = say(TEXT)
    low, high = with_peak(speech, 0.3), with_peak(speech, 0.9)
    pairs = [
        Pair("a", TEXT, "en", "quiet", high, low, high, low),
        Pair("b", TEXT, "en", "loud", high, high, high.copy(), high),
    ]
    found = figures(evaluate(pairs, MEL, FAKES))
    assert found["similarity"].model == pytest.approx(1.0)
    assert found["similarity"].source == pytest.approx(1.0)
    assert "nearest_speaker" not in found  # nobody asked for the speaker's own voice


def test_tokens_are_judged_where_alignments_are_known(say):
    speech = say(TEXT)
    frames = np.array([4, 6]), np.array([5, 5])
    known = Pair("a", TEXT, "en", "x", speech, speech, token_frames=frames)
    found = figures(evaluate([known], MEL, FAKES))
    assert found["token_duration_error"].model == pytest.approx(0.2)


def test_what_is_missing_is_said_with_what_to_type(monkeypatch, say):
    from myxtts.evaluation import recognizers, voice_encoder

    monkeypatch.setattr(recognizers, "find_spec", lambda module: None)
    monkeypatch.setattr(voice_encoder, "find_spec", lambda module: None)
    speech = say(TEXT)
    found = evaluate([Pair("a", TEXT, "en", "x", speech, speech, speech, speech)], MEL)
    assert {gap.metric for gap in found.not_measured} == {
        "wer_moonshine", "wer_pocketsphinx", "similarity"
    }  # fmt: skip
    assert all("pip install" in gap.remedy for gap in found.not_measured)
    assert found.incomplete
    assert {"mcd_db", "f0_cents"} <= set(figures(found))


def test_the_document_is_plain_json(say):
    loud, quiet = with_peak(say(TEXT), 0.5), with_peak(say(TEXT), 0.1)
    found = evaluate([Pair("a", TEXT, "en", "x", quiet, loud)], MEL, FAKES)
    told = json.loads(json.dumps(found.document(), allow_nan=False))
    rate = next(figure for figure in told["figures"] if figure["metric"] == "wer_moonshine")
    assert rate["ratio"] == [None, None, None]  # the source has no error: infinitely worse
    assert told["judged"][0]["heard"]["moonshine"]["model"] == "the liver was wide"
