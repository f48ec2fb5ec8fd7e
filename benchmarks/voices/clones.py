"""Eight voices and two languages in one model: whose voice is it, and is Persian as good?

References are clips that the model never trained on. A clone is right when the voice encoder finds
it nearest to its own speaker among all speakers' recordings. The four unseen voices are judged
among all twelve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from myxtts.audio.decode import decode
from myxtts.audio.mel import MelSettings, log_mel
from myxtts.evaluation.cepstrum import mcd
from myxtts.evaluation.similarity import centroid, nearest_speaker_share
from myxtts.evaluation.voice_encoder import VoiceEncoder
from voices import sources, training
from voices.sources import Line, Source

FLITE = (Source("rms", flite=True), Source("kal16", flite=True))
ESPEAK = tuple(Source(name) for name in ("rob", "f2", "m7", "croak", "whisper", "Annie"))
UNSEEN = (Source("slt", flite=True), Source("awb", flite=True), Source("f5"), Source("m3"))
TRAINED_ENGLISH, TRAINED_PERSIAN = 60, 60
"""Sentences of each voice; flite speaks no Persian."""
JUDGED, REFERENCES = 12, 6
RATE = 22050
SETTINGS: dict[str, Any] = {
    "data.language": "auto",
    "data.languages": ["en", "fa"],
    "data.batch_size": 16,
    "data.max_buckets": 4,
    "training.max_steps": 2500,
    "training.epochs": 10_000,
    "training.learning_rate": 2e-3,
    "training.checkpoint_interval": 100_000,
    "data.enable_xla": True,
}


def measure(folder: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Train on eight voices, then clone them and four others from held-out references."""
    corpus = sources.corpus(_learned(), folder / "corpus", say)
    seconds = training.train(corpus, folder / "run", SETTINGS)
    say(f"eight voices: trained in {seconds:.0f} s")
    heard = [*FLITE, *ESPEAK, *UNSEEN]
    english = _judged("en", heard, sources.english(JUDGED + REFERENCES, skip=TRAINED_ENGLISH))
    persian = _judged("fa", ESPEAK, sources.persian(JUDGED + REFERENCES, skip=TRAINED_PERSIAN))
    lines = english + persian
    source = sources.speak(lines, folder / "wavs" / "source", say)
    wanted = [number for number, line in enumerate(lines) if _number(line) >= REFERENCES]
    model = [folder / "wavs" / "model" / source[number].name for number in wanted]
    training.speak(
        folder / "run",
        [lines[number].text for number in wanted],
        [source[_reference(lines, number)] for number in wanted],
        [lines[number].language for number in wanted],
        model,
    )
    say("eight voices: spoken; looking at voices and spectra")
    result = {"train_seconds": round(seconds, 1), "judged": len(model)}
    clones = [(lines[number], path) for number, path in zip(wanted, model, strict=True)]
    result |= _nearest(list(zip(lines, source, strict=True)), clones)
    result |= _distortions(clones, [source[number] for number in wanted])
    say(f"eight voices: {result}")
    return result


def _learned() -> list[Line]:
    lines = []
    for number, voice in enumerate([*FLITE, *ESPEAK]):
        # Every voice says other sentences: a voice must not be known by its text.
        english = sources.english(TRAINED_ENGLISH, skip=1000 + number * TRAINED_ENGLISH)
        lines += [Line(f"en-{voice.name}-{i:03d}", text, voice) for i, text in enumerate(english)]
        if voice in ESPEAK:
            persian = sources.persian(TRAINED_PERSIAN, skip=1000 + number * TRAINED_PERSIAN)
            lines += [
                Line(f"fa-{voice.name}-{i:03d}", text, voice, "fa")
                for i, text in enumerate(persian)
            ]
    return lines


def _judged(language: str, voices: Sequence[Source], texts: Sequence[str]) -> list[Line]:
    return [
        Line(f"{language}-{voice.name}-{number:03d}", text, voice, language)
        for voice in voices
        for number, text in enumerate(texts)
    ]


def _number(line: Line) -> int:
    return int(line.id.rsplit("-", 1)[1])


def _reference(lines: Sequence[Line], number: int) -> int:
    """Where the reference of a judged line stands: the first lines of its voice, in turn."""
    position = _number(lines[number])
    return number - position + position % REFERENCES


def _nearest(
    recorded: Sequence[tuple[Line, Path]], clones: Sequence[tuple[Line, Path]]
) -> dict[str, Any]:
    """Centroids come from the references' half of the recordings, judgements from the rest."""
    english = [pair for pair in recorded if pair[0].language == "en"]
    cloned = [pair for pair in clones if pair[0].language == "en"]
    vectors = dict(zip([p for _, p in english + cloned], _embedded(english + cloned), strict=True))
    known = [line for line, _ in english if _number(line) < REFERENCES]
    centroids = {
        voice: centroid([vectors[p] for line, p in english if line in known and voice == _of(line)])
        for voice in {_of(line) for line in known}
    }
    unseen = {voice.name for voice in UNSEEN}
    seen_centroids = {voice: c for voice, c in centroids.items() if voice not in unseen}

    def share(pairs: Sequence[tuple[Line, Path]], among: dict[str, np.ndarray]) -> float:
        return nearest_speaker_share([(_of(line), vectors[path]) for line, path in pairs], among)

    held = [pair for pair in english if _number(pair[0]) >= REFERENCES]
    return {
        "clone_nearest_share": share(
            [c for c in cloned if _of(c[0]) not in unseen], seen_centroids
        ),
        "clone_nearest_share_source": share(
            [c for c in held if _of(c[0]) not in unseen], seen_centroids
        ),
        "clone_nearest_share_unseen": share([c for c in cloned if _of(c[0]) in unseen], centroids),
        "clone_nearest_share_unseen_source": share(
            [c for c in held if _of(c[0]) in unseen], centroids
        ),
        "clone_nearest_by_voice": {
            voice: share([c for c in cloned if _of(c[0]) == voice], centroids)
            for voice in sorted(centroids)
        },
    }


def _of(line: Line) -> str:
    return line.source.name


def _embedded(pairs: Sequence[tuple[Line, Path]]) -> list[np.ndarray]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_embed, [path for _, path in pairs], chunksize=16))


_encoder: list[VoiceEncoder] = []


def _embed(path: Path) -> np.ndarray:
    if not _encoder:
        _encoder.append(VoiceEncoder())
    return _encoder[0].embed(decode(path, RATE), RATE)


def _distortions(clones: Sequence[tuple[Line, Path]], source: Sequence[Path]) -> dict[str, Any]:
    """MCD with DTW to what the source says, for the voices that speak both languages."""
    both = {voice.name for voice in ESPEAK}
    by_language: dict[str, list[float]] = {"en": [], "fa": []}
    for (line, path), recording in zip(clones, source, strict=True):
        if _of(line) in both:
            by_language[line.language].append(mcd(_mel(path), _mel(recording)))
    english, persian = (float(np.mean(by_language[code])) for code in ("en", "fa"))
    return {
        "mcd_en": round(english, 3),
        "mcd_fa": round(persian, 3),
        "mcd_fa_vs_en": round(persian / english, 4),
    }


def _mel(path: Path) -> np.ndarray:
    settings = MelSettings()
    return log_mel(decode(path, settings.sample_rate), settings)
