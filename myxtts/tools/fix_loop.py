"""Change, measure, keep what helped: the loop of `fix`, without files and without TensorFlow.

A candidate is measured beside what it would replace, in turn (A B B A), because a machine's speed
drifts. It is kept only when the gain is beyond noise: the interval of the ratio leaves out 1, and
it helped in every pair of runs. What is worth trying is `candidates`' business, how a run is
measured is the caller's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from myxtts.errors import UserError
from myxtts.tools.plan import Range

Settings = Mapping[str, Any]
"""Dotted keys of the configuration and their values."""
Measure = Callable[[Settings], list[float]]
"""One run with these settings: useful frames a second of equal pieces of it."""
Pair = tuple[list[float], list[float]]
"""Runs of A and of B that were neighbours."""
Verdict = Literal["kept", "no clear gain", "slower", "did not run"]

LEAST_GAIN = 0.02
"""Less than this is nobody's gain."""
SURE = (0.5, 99.5)
"""Percentiles of the interval: many changes are tried, and each is a chance to be misled."""
HOPELESS = 0.85
"""A first pair this slow needs no second one."""
PAIRS = 2
MORE_PAIRS = 4
"""Of runs when the first ones disagree."""
T_OF_FOUR = 2.35
"""Student's t for 95 of 100 on one side, with three degrees of freedom."""
MOST_TRIALS = 12
RESAMPLES = 1000


@dataclass(frozen=True)
class Candidate:
    """A change worth trying."""

    settings: Settings
    why: str
    """The rule or the prediction that asks for it."""
    expected: float | None = None
    """How many times as fast it should be; None: only a run can tell."""


@dataclass(frozen=True)
class Trial:
    """A candidate and what came of it."""

    candidate: Candidate
    verdict: Verdict
    ratio: Range | None = None
    """Frames a second with it / without it; None: it did not run."""
    before: float = 0.0
    """Useful frames a second without it."""
    after: float = 0.0
    runs: int = 0
    problem: str = ""


@dataclass(frozen=True)
class Outcome:
    """Everything that was tried, and what is kept of it."""

    settings: Settings
    """All changes that helped, together; empty: nothing did."""
    trials: tuple[Trial, ...] = field(default_factory=tuple)

    @property
    def kept(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.verdict == "kept"]

    @property
    def gain(self) -> float:
        """How many times as fast as before, the kept gains multiplied."""
        return math.prod(trial.ratio.point for trial in self.kept if trial.ratio is not None)


Candidates = Callable[[Settings], Iterable[Candidate]]
"""What is worth trying on top of these settings; asked again after every change that is kept."""


def improve(
    settings: Settings,
    candidates: Candidates,
    measure: Measure,
    *,
    most_trials: int = MOST_TRIALS,
    tell: Callable[[Trial], None] | None = None,
) -> Outcome:
    """Try candidates until none is left that helps, or enough were tried."""
    start, current = dict(settings), dict(settings)
    trials: list[Trial] = []
    refused: list[Settings] = []  # what was tried, whole
    given_up: list[Settings] = []  # changes that are not tried on top of anything else either
    last: list[float] | None = None  # the run of `current` that was measured a moment ago
    while len(trials) < most_trials:
        worth = [
            one
            for one in candidates(current)
            if {**current, **one.settings} not in refused and one.settings not in given_up
        ]
        if not worth:
            break
        candidate = worth[0]
        trial, last = _tried(current, candidate, measure, last)
        trials.append(trial)
        if tell is not None:
            tell(trial)
        wanted = {**current, **candidate.settings}
        if trial.verdict == "kept":
            current, last = wanted, None
        else:
            refused.append(wanted)
            if trial.verdict != "no clear gain":
                given_up.append(candidate.settings)
    changed = {key: value for key, value in current.items() if start.get(key, ...) != value}
    return Outcome(changed, tuple(trials))


def _tried(
    current: Settings, candidate: Candidate, measure: Measure, last: list[float] | None
) -> tuple[Trial, list[float] | None]:
    """A B B A, and once more when the pairs disagree; also the last run of A."""
    wanted = {**current, **candidate.settings}
    pairs: list[Pair] = []
    a = last or measure(current)
    while True:
        try:
            b = measure(wanted)
        except UserError as error:  # of A it is raised: then nothing can be measured
            return Trial(candidate, "did not run", problem=error.rule), a
        if len(pairs) % 2:  # A B, B A, A B, …
            a = measure(current)
        pairs.append((a, b))
        ratio = gained(pairs)
        if _settled(pairs, ratio):
            break
    before, after = (_rate([rate for pair in pairs for rate in pair[side]]) for side in (0, 1))
    verdict: Verdict = "no clear gain"
    if ratio.low > 1 and ratio.point >= 1 + LEAST_GAIN:
        verdict = "kept"
    elif ratio.high < 1:
        verdict = "slower"
    return Trial(candidate, verdict, ratio, before, after, 2 * len(pairs)), a


def _settled(pairs: list[Pair], ratio: Range) -> bool:
    """Whether more runs could change the verdict."""
    if len(pairs) < PAIRS:
        return ratio.point < HOPELESS and ratio.high < 1
    clear = ratio.low > 1 or ratio.high < 1
    return clear or ratio.point < 1 + LEAST_GAIN or len(pairs) >= MORE_PAIRS


def gained(pairs: Sequence[Pair]) -> Range:
    """How many times as fast B is, with an interval.

    It covers the noise inside the runs (their pieces resampled) and what the machine does from
    one run to the next: of two pairs both must agree, of more their mean has a t-interval.
    """
    logs = np.array([math.log(_rate(b) / _rate(a)) for a, b in pairs])
    rng = np.random.default_rng(0)
    drawn = np.mean([_resampled(b, rng) - _resampled(a, rng) for a, b in pairs], axis=0)
    low, high = np.percentile(drawn, SURE)
    count, mean = len(logs), float(logs.mean())
    aside = float(np.abs(logs - mean).max())
    if count > PAIRS:
        aside = T_OF_FOUR * float(logs.std(ddof=1)) / math.sqrt(count)
    return Range(
        math.exp(min(float(low), mean - aside)),
        math.exp(mean),
        math.exp(max(float(high), mean + aside)),
    )


def _resampled(rates: list[float], rng: np.random.Generator) -> np.ndarray:
    """Logarithms of the rate of resampled pieces, float64 [RESAMPLES]."""
    chosen = rng.integers(0, len(rates), (RESAMPLES, len(rates)))
    return np.asarray(-np.log((1 / np.array(rates))[chosen].mean(axis=1)))


def _rate(rates: list[float]) -> float:
    """Of pieces with the same work, one after the other."""
    return len(rates) / sum(1 / rate for rate in rates)
