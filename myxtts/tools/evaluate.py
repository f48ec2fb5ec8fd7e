"""A checkpoint against recordings: the model says their texts, the judges compare.

`evaluate` speaks and judges, and keeps what was said as WAV files; `write` adds `evaluation.json`
and the page. How figures are measured is in `myxtts.evaluation`, how they look in
`evaluation_page`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from myxtts.audio.decode import AudioError, write_wav
from myxtts.data.recipe import Recipe
from myxtts.errors import UsageError, UserError
from myxtts.evaluation.judge import Pair
from myxtts.evaluation.judge import evaluate as judge
from myxtts.evaluation.summary import Evaluation
from myxtts.files import write_atomically
from myxtts.synthesis import Speaker
from myxtts.tools import evaluation_page
from myxtts.tools.catalogue import Language
from myxtts.tools.evaluation_clips import Trial

DOCUMENT = "evaluation.json"
PAGE = "index.html"
_WAVS = "wavs"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Outcome:
    """An evaluation, and what goes with it."""

    checkpoint: Path
    data: Path
    evaluation: Evaluation
    sounds: dict[str, tuple[str, str]]
    """Clip to its WAV files below the folder: the model's, the source's."""
    skipped: dict[str, str]
    """Clip to the reason why it could not be judged."""

    def document(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "checkpoint": str(self.checkpoint),
            "data": str(self.data),
            **self.evaluation.document(),
            "sounds": self.sounds,
            "skipped": self.skipped,
        }


def fresh_folder(folder: Path) -> None:
    """Make room for an evaluation; an earlier one is replaced, anything else is left alone."""
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        if not (folder / DOCUMENT).is_file():
            raise UsageError(
                f"{folder} exists and is not an evaluation's folder",
                follows="it is not overwritten",
                remedy="name another one with -o",
            )
        for old in (folder / _WAVS).glob("[0-9][0-9][0-9][0-9]-*.wav"):
            old.unlink()
    write_atomically(folder / DOCUMENT, b"{}\n")


def evaluate(
    speaker: Speaker,
    trials: Sequence[Trial],
    folder: Path,
    *,
    checkpoint: Path,
    data: Path,
    reference: Path | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Say every trial's text in its speaker's voice (or in `reference`'s) and judge all."""
    sounds: dict[str, tuple[str, str]] = {}
    skipped: dict[str, str] = {}

    def pairs() -> Iterator[Pair]:
        recipe = Recipe.of(speaker.config.data)
        for number, trial in enumerate(trials, 1):
            try:
                pair = _spoken(speaker, recipe, trial, reference)
            except AudioError as error:
                skipped[trial.clip.id] = error.reason
            else:
                sounds[pair.name] = _kept(folder, number, pair, recipe.mel.sample_rate)
                yield pair
            if progress is not None:
                progress("judging", number, len(trials))

    found = judge(pairs(), speaker.mel)
    if not found.clips:
        raise UserError(
            f"None of the {len(trials)} clips could be judged",
            received="; ".join(f"{clip}: {reason}" for clip, reason in list(skipped.items())[:3]),
            remedy="see what is wrong: myxtts corpus check FOLDER",
        )
    return Outcome(checkpoint, data, found, sounds, skipped)


def write(outcome: Outcome, folder: Path, language: Language) -> Path:
    """`evaluation.json` and the page; returns the page."""
    document = json.dumps(outcome.document(), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(folder / DOCUMENT, document.encode())
    sounds = {
        name: (folder / model, folder / source) for name, (model, source) in outcome.sounds.items()
    }
    subject = f"{outcome.checkpoint} · {outcome.data}"
    page = evaluation_page.render(outcome.evaluation, sounds, outcome.skipped, subject, language)
    write_atomically(folder / PAGE, page.encode())
    return folder / PAGE


def _spoken(speaker: Speaker, recipe: Recipe, trial: Trial, reference: Path | None) -> Pair:
    """Both renderings of a text; `AudioError` when a recording cannot be used."""
    clip = trial.clip
    source = _audible(recipe, clip.audio)
    other = None if trial.reference is None else _audible(recipe, trial.reference)
    shown = other if reference is None else _audible(recipe, reference)
    voice = reference or trial.reference
    model = speaker.say(clip.text, language=trial.language, reference=voice)
    return Pair(clip.id, clip.text, trial.language, clip.speaker, model, source, shown, other)


def _audible(recipe: Recipe, audio: Path) -> np.ndarray:
    samples = recipe.samples(audio)
    if len(samples) < recipe.mel.n_fft:
        raise AudioError(audio, f"too short to judge: {len(samples)} samples")
    return samples


def _kept(folder: Path, number: int, pair: Pair, rate: int) -> tuple[str, str]:
    names = f"{_WAVS}/{number:04d}-model.wav", f"{_WAVS}/{number:04d}-source.wav"
    for name, samples in zip(names, (pair.model, pair.source), strict=True):
        write_wav(folder / name, samples, rate)
    return names
