"""What the judges said about each clip, and the figures that stand for all of them.

Every figure has two sides: the model's, and the source recordings' own beside it, without which the
first says little. What a judge could not measure is listed with the reason, never left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

from myxtts.evaluation.recognizers import Name
from myxtts.evaluation.wer import ratio_interval

WER: dict[Name, str] = {name: f"wer_{name}" for name in get_args(Name)}
METRICS = (
    *WER.values(), "similarity", "nearest_speaker", "mcd_db", "f0_cents", "voicing_error",
    "duration_error", "token_duration_error",
)  # fmt: skip
"""In the order of tables. All are better when lower, but `similarity` and `nearest_speaker`."""


@dataclass(frozen=True)
class Sides:
    """One metric of one clip."""

    model: float
    source: float


@dataclass(frozen=True)
class Hearing:
    """What one recogniser wrote down, and how many words of it are wrong."""

    model: str
    source: str
    model_edits: int
    source_edits: int


@dataclass(frozen=True)
class JudgedClip:
    """One text, said by the model and by the source."""

    name: str
    text: str
    language: str
    speaker: str
    words: int
    """That count for word error rates; 0 in a language without a recogniser."""
    heard: dict[Name, Hearing]
    """By recogniser."""
    values: dict[str, Sides]
    """By metric, those that could be measured on this clip. Word error rates are of this clip."""


@dataclass(frozen=True)
class NotMeasured:
    """What is missing from the figures, why, and what to type, if anything helps."""

    metric: str
    reason: str
    remedy: str = ""


@dataclass(frozen=True)
class Figure:
    """One metric over several clips: the mean of the clips' values.

    Word error rates instead count all edits over all words, and say how the model's compares with
    the source's: the ratio, and its interval by paired bootstrap.
    """

    metric: str
    model: float
    source: float
    clips: int
    ratio: tuple[float, float, float] | None = None
    """(ratio, low, high)."""


@dataclass(frozen=True)
class Evaluation:
    """Everything that was found out."""

    clips: list[JudgedClip]
    not_measured: list[NotMeasured] = field(default_factory=list)

    @property
    def languages(self) -> list[str]:
        """Of the clips, sorted."""
        return sorted({clip.language for clip in self.clips})

    @property
    def incomplete(self) -> bool:
        """Whether something was not measured that could be, after what the remedy says."""
        return any(missing.remedy for missing in self.not_measured)

    def figures(self, language: str | None = None) -> list[Figure]:
        """Over all clips, or those of one language; only metrics measured on at least one."""
        clips = [clip for clip in self.clips if language in (None, clip.language)]
        return [figure for metric in METRICS if (figure := _figure(metric, clips)) is not None]

    def document(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "clips": len(self.clips),
            "figures": [_plain(figure) for figure in self.figures()],
            "by_language": {
                language: [_plain(figure) for figure in self.figures(language)]
                for language in self.languages
            },
            "not_measured": [asdict(missing) for missing in self.not_measured],
            "judged": [asdict(clip) for clip in self.clips],
        }


def _figure(metric: str, clips: Sequence[JudgedClip]) -> Figure | None:
    measured = [clip for clip in clips if metric in clip.values]
    if not measured:
        return None
    for recognizer, name in WER.items():
        if name == metric:
            return _error_rate(metric, [(clip.heard[recognizer], clip.words) for clip in measured])
    sides = [clip.values[metric] for clip in measured]
    model, source = (sum(column) / len(sides) for column in zip(*map(_pair, sides), strict=True))
    return Figure(metric, model, source, len(sides))


def _pair(sides: Sides) -> tuple[float, float]:
    return sides.model, sides.source


def _error_rate(metric: str, heard: Sequence[tuple[Hearing, int]]) -> Figure:
    model, source, words = (
        [hearing.model_edits for hearing, _ in heard],
        [hearing.source_edits for hearing, _ in heard],
        [count for _, count in heard],
    )
    total = sum(words)
    ratio = ratio_interval(model, source, words)
    return Figure(metric, sum(model) / total, sum(source) / total, len(words), ratio)


def _plain(figure: Figure) -> dict[str, Any]:
    """JSON has no infinity: a ratio to a source without errors is null."""
    told = asdict(figure)
    if figure.ratio is not None:
        told["ratio"] = [None if value == float("inf") else value for value in figure.ratio]
    return told
