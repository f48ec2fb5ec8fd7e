"""The figures of an evaluation as the cells of a table, in English or Persian."""

from __future__ import annotations

from collections.abc import Sequence

from myxtts.evaluation.summary import Evaluation, Figure, NotMeasured
from myxtts.tools.catalogue import Language
from myxtts.tools.words import word

_SHARES = ("nearest_speaker", "voicing_error", "duration_error", "token_duration_error")


def groups(evaluation: Evaluation, language: Language) -> list[tuple[str, list[Figure]]]:
    """Titled figures: of all clips, and of each language when there are several."""
    found = [(word("all_clips", language), evaluation.figures())]
    if len(evaluation.languages) > 1:
        found += [(code, evaluation.figures(code)) for code in evaluation.languages]
    return found


def columns(language: Language) -> list[str]:
    return [word(name, language) for name in ("metric", "model", "source", "ratio", "clips")]


def rows(figures: Sequence[Figure], language: Language) -> list[list[str]]:
    """One row for each figure, under `columns`."""
    return [
        [
            word(figure.metric, language),
            amount(figure.metric, figure.model),
            amount(figure.metric, figure.source),
            _ratio(figure.ratio),
            str(figure.clips),
        ]
        for figure in figures
    ]


def amount(metric: str, value: float) -> str:
    """A value in its metric's unit."""
    if metric in _SHARES:
        return f"{value:.1%}"
    if metric == "mcd_db":
        return f"{value:.2f} dB"
    if metric == "f0_cents":
        return f"{value:.0f} cents"
    return f"{value:.3f}"


def missing(gap: NotMeasured, language: Language) -> str:
    """What was not measured, and why."""
    return f"{word(gap.metric, language)}: {word('not_measured', language)}: {gap.reason}"


def _ratio(ratio: tuple[float, float, float] | None) -> str:
    if ratio is None:
        return ""
    middle, low, high = ratio
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"
