"""The data's way before training, timed on the corpus itself: text, audio, waits between batches.

Text and audio are timed on clips spread evenly over the corpus, in this thread, without the cache.
Waits and the idle share come from a short real run: its queues recorded them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myxtts.config import Config
from myxtts.errors import MeasurementError
from myxtts.telemetry.accounts import Clock
from myxtts.telemetry.session import Session
from myxtts.tools.findings import Change, Finding

if TYPE_CHECKING:
    from myxtts.data.ljspeech import Clip

MOST_TEXTS = 500
MOST_CLIPS = 100
UNEVEN = 0.5
"""std/mean of decoding a clip from which loading clip by clip makes batches wait."""


@dataclass(frozen=True)
class Timing:
    """Seconds of one kind of work on a sample of the clips."""

    sampled: int
    clips: int
    mean: float
    spread: float
    failed: int
    """Clips of the sample that could not be used."""

    @property
    def variation(self) -> float:
        """Coefficient of variation: std / mean."""
        return self.spread / self.mean if self.mean else 0.0

    @property
    def total(self) -> float:
        """Seconds for all clips, at the mean of the sample."""
        return self.mean * self.clips

    def as_json(self) -> dict[str, Any]:
        """Plain data, for `--json`."""
        return asdict(self) | {"variation": self.variation, "total": self.total}


@dataclass(frozen=True)
class BatchWaits:
    """How long the training loop waited for its batches, in seconds."""

    batches: int
    mean: float
    longest: float
    idle_share: float
    """Part of the steady steps' wall time that the training device stood idle waiting."""


def time_corpus(config: Config, clock: Clock = time.perf_counter) -> tuple[Timing, Timing]:
    """(text, audio) of the configured corpus."""
    from myxtts.audio.decode import AudioError, decode
    from myxtts.data.ljspeech import read_corpus
    from myxtts.text.languages import detect
    from myxtts.text.tokenizer import Tokenizer

    data = config.data
    clips = read_corpus(Path(str(data.train_data)))
    tokenizer = Tokenizer(data.text_units)
    default = None if data.language == "auto" else data.language

    def read_text(clip: Clip) -> bool:
        language = clip.language or default or detect(clip.text, data.languages)
        return len(tokenizer.encode(clip.text, language).ids) > 0

    def read_audio(clip: Clip) -> bool:
        try:
            return len(decode(clip.audio, data.sample_rate)) > 0
        except AudioError:
            return False

    read_text(clips[0])  # loads espeak and its voice, which no later text pays for
    text = _timed(clips, MOST_TEXTS, read_text, clock)
    return text, _timed(clips, MOST_CLIPS, read_audio, clock)


def batch_waits(session: Session) -> BatchWaits:
    """What the training loop of a recorded run waited."""
    steps = session.steady_steps
    if not steps:
        raise MeasurementError(f"{session.path} holds no steady step")
    waits = [step.wait for step in steps]
    wall = sum(step.seconds for step in steps)
    return BatchWaits(len(waits), statistics.fmean(waits), max(waits), sum(waits) / wall)


def uneven_audio(config: Config, audio: Timing) -> list[Finding]:
    """Decoding that swings matters only when training decodes clip by clip."""
    if config.data.use_tf_native_loading or audio.variation <= UNEVEN:
        return []
    change = Change({"data.use_tf_native_loading": True})
    return [Finding("audio_varies", "fix", {"variation": audio.variation}, None, change)]


def _timed(clips: Sequence[Clip], most: int, work: Callable[[Clip], bool], clock: Clock) -> Timing:
    stride = max(1, len(clips) // most)
    sample = clips[::stride][:most]
    times, failed = [], 0
    for clip in sample:
        started = clock()
        usable = work(clip)
        times.append(clock() - started)
        failed += not usable
    spread = statistics.stdev(times) if len(times) > 1 else 0.0
    return Timing(len(sample), len(clips), statistics.fmean(times), spread, failed)
