"""A corpus looked at as a whole: how much there is, of whom, how long, and what is wrong with it.

Reads every transcript and decodes every file, writes nothing. The rules are in `corpus_rules`; how
the result is shown is not decided here.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from myxtts.config import DataConfig
from myxtts.data.buckets import beyond
from myxtts.data.corpora import list_corpus
from myxtts.data.corpora.clip import Clip
from myxtts.data.corpus_rules import Examined, Problem, problems
from myxtts.data.prepare import workers
from myxtts.data.recipe import Recipe
from myxtts.data.recording import Recording, measure
from myxtts.text.languages import LANGUAGES, detect
from myxtts.text.tokenizer import Tokenizer

_AHEAD = 8  # files in flight for each worker: enough to keep it busy, few enough to hold no memory
_MOST_BARS = 20
_STEPS = (1, 2, 5)


@dataclass(frozen=True)
class Share:
    """The part of the corpus that one speaker or one language has."""

    name: str
    clips: int
    hours: float


@dataclass(frozen=True)
class Histogram:
    """How many clips lie between neighbouring edges; the last bar holds everything above."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class CorpusCheck:
    """What a corpus holds. Hours and histograms are of the clips whose audio can be used."""

    folder: Path
    form: str
    clips: int
    """Listed, with the lines that give no clip."""
    lost: int
    """Clips that training will not see."""
    hours: float
    speakers: tuple[Share, ...]
    """Most hours first."""
    languages: tuple[Share, ...]
    beyond_largest_shape: int
    """Clips longer than `max_text_length` or `max_mel_frames`."""
    tokens: Histogram
    seconds: Histogram
    unknown_characters: dict[str, int]
    problems: tuple[Problem, ...]

    @property
    def good(self) -> bool:
        """Nothing loses or harms a clip."""
        return all(problem.effect == "advice" for problem in self.problems)


def check(
    folder: Path, data: DataConfig, progress: Callable[[str, int, int], None] | None = None
) -> CorpusCheck:
    """Look at every clip. `progress(phase, done, total)` is called in this thread."""
    listing = list_corpus(folder)
    examined = []
    for item in _examine(listing.clips, data):
        examined.append(item)
        if progress is not None:
            progress("checking clips", len(examined), len(listing.clips))
    found = problems(examined, listing.refused, data)
    lost = {(problem.file, problem.line) for problem in found if problem.effect == "lost"}
    heard = [item for item in examined if not item.recording.reason]
    lengths = np.array([item.tokens for item in heard]), np.array([item.frames for item in heard])
    unknown: Counter[str] = Counter()
    for item in examined:
        unknown.update(item.unknown)
    return CorpusCheck(
        folder=Path(folder),
        form=listing.form,
        clips=len(listing.clips) + len(listing.refused),
        lost=len(lost),
        hours=sum(item.seconds for item in heard) / 3600,
        speakers=_shares(heard, lambda item: item.clip.speaker),
        languages=_shares(heard, lambda item: item.language or str(item.clip.language)),
        beyond_largest_shape=len(beyond(*lengths, data)),
        tokens=histogram([item.tokens for item in heard], narrowest=1),
        seconds=histogram([item.seconds for item in heard]),
        unknown_characters=dict(unknown.most_common()),
        problems=tuple(found),
    )


def histogram(values: Sequence[float], narrowest: float = 0.1) -> Histogram:
    """At most 20 bars of a round width; a few extreme values do not make the others invisible."""
    if not values:
        return Histogram((), ())
    low, high = np.percentile(values, [0, 99.5])
    width = _round_width(max(float(high - low) / _MOST_BARS, narrowest))
    start = float(np.floor(low / width) * width)
    bars = min(_MOST_BARS, int((high - start) // width) + 1)
    edges = [round(start + bar * width, 6) for bar in range(bars + 1)]
    edges[-1] = max(edges[-1], float(max(values)))
    counts, _ = np.histogram(values, edges)
    return Histogram(tuple(edges), tuple(int(count) for count in counts))


def _round_width(least: float) -> float:
    """1, 2 or 5 times a power of ten, at least `least`."""
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(step * power for step in (*_STEPS, 10) if step * power >= least))


def _shares(examined: Sequence[Examined], name: Callable[[Examined], str]) -> tuple[Share, ...]:
    lengths: dict[str, list[float]] = defaultdict(list)
    for item in examined:
        lengths[name(item)].append(item.seconds)
    shares = [Share(who, len(all_), sum(all_) / 3600) for who, all_ in lengths.items()]
    return tuple(sorted(shares, key=lambda share: (-share.hours, share.name)))


def _examine(clips: Sequence[Clip], data: DataConfig) -> Iterator[Examined]:
    """Audio in threads, text in this one: espeak-ng has one global state."""
    tokenizer = Tokenizer(data.text_units)
    hop = Recipe.of(data).mel.hop
    for clip, recording in zip(clips, _recordings(clips, data), strict=True):
        language = clip.language or _language(clip.text, data)
        known = language in LANGUAGES
        encoded = tokenizer.encode(clip.text, language) if known else None
        yield Examined(
            clip=clip,
            language=language if known else "",
            tokens=0 if encoded is None else len(encoded.ids),
            unknown=Counter() if encoded is None else encoded.unknown,
            recording=recording,
            seconds=recording.samples / data.sample_rate,
            frames=recording.samples // hop,
        )


def _language(text: str, data: DataConfig) -> str:
    return detect(text, data.languages) if data.language == "auto" else data.language


def _recordings(clips: Sequence[Clip], data: DataConfig) -> Iterator[Recording]:
    pool = ThreadPoolExecutor(workers(data), thread_name_prefix="check")
    ahead: deque[Future[Recording]] = deque()
    try:
        for clip in clips:
            ahead.append(pool.submit(measure, clip.audio, data.sample_rate))
            if len(ahead) > _AHEAD * workers(data):
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
