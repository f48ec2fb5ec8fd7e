"""Random pipelines with planted mishaps, each drawn from its seed and known to end well.

A seed that fails is printed; `python benchmarks/pipeline_trials.py --seed N` runs it again.
"""

import pipeline_trials
import pytest
from pipeline_trials import IN_CONSUMER, IN_STAGES, draw

DEFAULT = 60


def test_sixty_random_pipelines_end_well():
    assert pipeline_trials.run_many(range(DEFAULT)) == {}


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_thousand_random_pipelines_end_well():
    assert pipeline_trials.run_many(range(1000)) == {}


def test_the_seeds_meet_every_mishap_and_every_kind_of_pipeline():
    trials = [draw(seed) for seed in range(DEFAULT)]
    met = [trial.expected() for trial in trials]
    assert {mishap.kind for mishap in met if mishap} == {*IN_STAGES, *IN_CONSUMER} - {"signal"}
    assert any(m.kind == "signal" for trial in trials for m in trial.mishaps)
    assert None in met
    assert {trial.synchronous for trial in trials} == {True, False}
    assert {len(trial.lanes) for trial in trials} == {1, 2, 3, 4}
    assert any(d is not None and d > depth for t in trials
               for d, depth in zip(t.deepest, t.depths, strict=True))  # fmt: skip
    assert draw(7) == draw(7) != draw(8)


@pytest.mark.parametrize("fault", ["lose", "double", "swap"])
def test_a_pipeline_that_loses_order_is_found_out(fault, monkeypatch):
    """The trials can fail: a feeder that drops, repeats or exchanges a batch does not pass."""
    whole = pipeline_trials.Feeder

    class Faulty(whole):
        def __iter__(self):
            parcels = list(super().__iter__())
            if len(parcels) > 3:
                parcels = {
                    "lose": [parcels[0], *parcels[2:]],
                    "double": [parcels[0], parcels[0], *parcels[1:]],
                    "swap": [parcels[1], parcels[0], *parcels[2:]],
                }[fault]
            return iter(parcels)

    calm = next(s for s in range(100) if draw(s).steps > 3 and not draw(s).mishaps)
    assert pipeline_trials.run(calm) == []
    monkeypatch.setattr(pipeline_trials, "Feeder", Faulty)
    assert pipeline_trials.run(calm)
