"""Both recognisers on many clips."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from myxtts.audio.decode import decode
from myxtts.evaluation import recognizers
from myxtts.evaluation.wer import ratio_interval, word_edits

RATE = 22050
PROCESSES = 2


@dataclass(frozen=True)
class Understood:
    """What one recogniser made of the model and of its source, sentence by sentence."""

    recognizer: str
    model_edits: list[int]
    source_edits: list[int]
    words: list[int]

    @property
    def model_wer(self) -> float:
        return sum(self.model_edits) / sum(self.words)

    @property
    def source_wer(self) -> float:
        return sum(self.source_edits) / sum(self.words)

    def document(self) -> dict[str, Any]:
        """Rates, ratio and its interval."""
        ratio, low, high = ratio_interval(self.model_edits, self.source_edits, self.words)
        return {
            "model_wer": round(self.model_wer, 4),
            "source_wer": round(self.source_wer, 4),
            "ratio": round(ratio, 4),
            "low": round(low, 4),
            "high": round(high, 4),
            "sentences": len(self.words),
            "words": sum(self.words),
        }


def listen(
    texts: Sequence[str], model: Sequence[Path], source: Sequence[Path]
) -> dict[str, Understood]:
    """Every recogniser on every clip of both sides, a share of the clips in each process."""
    jobs = list(zip([*texts, *texts], [*model, *source], strict=True))
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        shares = {
            name: [pool.submit(edits, name, jobs[n::PROCESSES]) for n in range(PROCESSES)]
            for name in recognizers.NAMES
        }
        return {
            name: _understood(name, _merged([share.result() for share in found]))
            for name, found in shares.items()
        }


def edits(name: recognizers.Name, jobs: Sequence[tuple[str, Path]]) -> list[tuple[int, int]]:
    """(edits, words) of each text and clip."""
    recognizer = recognizers.open_recognizer(name)
    return [
        word_edits(text, recognizer.transcribe(decode(clip, RATE), RATE)) for text, clip in jobs
    ]


def _merged(shares: Sequence[list[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Shares of every `PROCESSES`th job, in the jobs' order again."""
    return [count for some in zip_longest(*shares) for count in some if count is not None]


def _understood(name: str, counts: list[tuple[int, int]]) -> Understood:
    half = len(counts) // 2
    return Understood(
        name,
        [wrong for wrong, _ in counts[:half]],
        [wrong for wrong, _ in counts[half:]],
        [words for _, words in counts[:half]],
    )
