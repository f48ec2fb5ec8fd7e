"""From a corpus folder to everything that training reads: the order of work.

`prepare` reads the metadata, brings text cache and feature store up to date and puts the clips
that can be used into one `PreparedCorpus`; every other clip is in its `skipped`, with the reason.
The work itself is done by `text_cache` and `feature_writer`.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from myxtts.config import DataConfig
from myxtts.data import cache_admin, long_clips, text_cache
from myxtts.data.corpora import list_corpus
from myxtts.data.corpora.clip import Clip
from myxtts.data.feature_store import FeatureStore
from myxtts.data.feature_writer import Built, Source, build
from myxtts.data.long_clips import LongClip, Rows
from myxtts.data.recipe import Recipe
from myxtts.data.shards import Shard
from myxtts.data.text_cache import TokenizedTexts
from myxtts.errors import UserError
from myxtts.text.languages import language_id
from myxtts.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""progress(phase, done, total); the phases are "text" and "audio"."""


@dataclass(frozen=True)
class Skipped:
    """A clip that is listed but cannot be used."""

    clip: str
    path: Path
    reason: str


@dataclass(frozen=True)
class Computed:
    """What a preparation had to compute; everything else was there already."""

    texts: int
    """Different transcripts, and pieces of them."""
    clips: int
    """Audio files."""


@dataclass(frozen=True, eq=False)
class PreparedCorpus:
    """The usable clips of a corpus, row by row. A long clip that was cut is several rows."""

    clip_ids: list[str]
    texts: list[str]
    audio: list[Path]
    speakers: list[str]
    """Names, sorted; `speaker` counts in this list."""
    speaker: np.ndarray
    """int32 [n]."""
    language: np.ndarray
    """int32 [n], language ids."""
    tokens: np.ndarray
    """int16, flat."""
    token_offsets: np.ndarray
    """int64 [n + 1]."""
    store: FeatureStore
    """Row i is clip i."""
    frames: np.ndarray
    """int32 [n]."""
    mel_mean: np.ndarray
    """float32 [n_mels], over all frames of the store."""
    mel_std: np.ndarray
    """float32 [n_mels]."""
    skipped: list[Skipped]
    long_clips: list[LongClip]
    """With `long_clips: split`, what became of each clip beyond the largest shape."""
    unknown_characters: dict[str, int]
    """Characters of the transcripts that the vocabulary lacks, most frequent first."""
    fingerprint: str
    """Changes when any token or any feature of the corpus changes, and with nothing else."""
    computed: Computed

    @property
    def token_lengths(self) -> np.ndarray:
        """int32 [n]."""
        return np.diff(self.token_offsets).astype(np.int32)

    def __len__(self) -> int:
        return len(self.clip_ids)


def cache_folder(folder: Path, data: DataConfig) -> Path:
    """Where this corpus's caches are: inside it, or below `data.cache_dir`."""
    folder = Path(folder)
    if data.cache_dir is None:
        return folder / cache_admin.FOLDER
    real = folder.resolve()
    return Path(data.cache_dir) / f"{real.name}-{hashlib.sha256(bytes(real)).hexdigest()[:8]}"


def prepare(folder: Path, data: DataConfig, progress: Progress | None = None) -> PreparedCorpus:
    """Bring the caches of a corpus up to date and open them."""
    folder = Path(folder)

    def report(phase: str, done: int, total: int) -> None:
        if progress is not None:
            progress(phase, done, total)

    listing = list_corpus(folder)
    if not listing.clips:
        raise listing.refused[0].error(folder)
    clips, skipped = _without_duplicates(listing.clips)
    skipped += [
        Skipped(f"line {line.line}", line.source, f"{line.rule} ({line.received})")
        for line in listing.refused
    ]
    _check_languages(clips)
    cache = cache_folder(folder, data)
    cache_admin.mark(cache, folder)
    with cache_admin.locked(cache):
        splits = data.long_clips == "split"
        texts = _tokenize(clips, data, cache, report, forget=not splits)
        built = _store_features(clips, data, cache, report)
        store = FeatureStore(built.shards, Recipe.of(data), in_memory=data.cache_dataset)
        reasons = _reasons(clips, texts, store, built.shards)
        skipped += _skipped(clips, reasons)
        rows, told = _usable(clips, texts, store, reasons), list[LongClip]()
        if splits:
            rows, told = long_clips.cut(
                rows, store, data, lambda own: _tokenize([*clips, *own], data, cache, report)
            )
    computed = Computed(texts.computed + (rows.texts.computed if splits else 0), built.computed)
    prepared = _assemble(rows, store, skipped, told, texts, computed)
    if not prepared.clip_ids:
        first = prepared.skipped[0]
        raise UserError(
            f"None of the {len(clips)} clips of {folder} can be used",
            received=f"{first.clip}: {first.reason} ({first.path})",
            remedy=f"see what is wrong: myxtts corpus check {folder}",
        )
    if prepared.skipped:
        named = "; ".join(f"{item.clip}: {item.reason}" for item in prepared.skipped[:5])
        log.warning("%d clips of %s are skipped: %s", len(prepared.skipped), folder, named)
    for long_clip in prepared.long_clips:
        log.info("%s", long_clip)
    return prepared


def workers(data: DataConfig) -> int:
    """`num_workers`, or one for each core that this process may use."""
    return data.num_workers or len(os.sched_getaffinity(0))


def _without_duplicates(clips: Sequence[Clip]) -> tuple[list[Clip], list[Skipped]]:
    first: dict[str, Clip] = {}
    skipped = []
    for clip in clips:
        if clip.id in first:
            reason = f"line {clip.line} names it again; line {first[clip.id].line} is used"
            skipped.append(Skipped(clip.id, clip.audio, reason))
        else:
            first[clip.id] = clip
    return list(first.values()), skipped


def _check_languages(clips: Sequence[Clip]) -> None:
    first = {clip.language: clip for clip in reversed(clips) if clip.language}
    for code, clip in first.items():
        try:
            language_id(code)
        except UserError as error:
            raise UserError(
                f"{clip.source}, line {clip.line}: {error.rule}",
                received=code,
                remedy=error.remedy,
            ) from None


def _tokenize(
    clips: Sequence[Clip],
    data: DataConfig,
    cache: Path,
    report: Progress,
    *,
    forget: bool = True,
) -> TokenizedTexts:
    default = None if data.language == "auto" else data.language
    return text_cache.tokenize(
        [clip.text for clip in clips],
        [clip.language or default for clip in clips],
        data.languages,
        Tokenizer(data.text_units),
        cache,
        lambda done: report("text", done, len(clips)),
        workers(data),
        forget=forget,
    )


def _store_features(
    clips: Sequence[Clip], data: DataConfig, cache: Path, report: Progress
) -> Built:
    recipe = Recipe.of(data)
    return build(
        cache / recipe.kind / recipe.fingerprint,
        [Source(clip.id, clip.audio) for clip in clips],
        recipe,
        workers(data),
        lambda done: report("audio", done, len(clips)),
    )


def _usable(
    clips: Sequence[Clip], texts: TokenizedTexts, store: FeatureStore, reasons: Sequence[str]
) -> Rows:
    rows = np.array([row for row, reason in enumerate(reasons) if not reason], np.int64)
    return Rows(
        [clips[row] for row in rows],
        texts.select(rows),
        rows,
        np.zeros(len(rows), np.int32),
        store.frames[rows],
    )


def _assemble(
    rows: Rows,
    store: FeatureStore,
    skipped: list[Skipped],
    told: list[LongClip],
    texts: TokenizedTexts,
    computed: Computed,
) -> PreparedCorpus:
    speakers = sorted({clip.speaker for clip in rows.clips})
    number = {name: index for index, name in enumerate(speakers)}
    chosen = store.select(rows.positions, rows.first_frames, rows.frames)
    mean, deviation = store.moments()
    return PreparedCorpus(
        clip_ids=[clip.id for clip in rows.clips],
        texts=[clip.text for clip in rows.clips],
        audio=[clip.audio for clip in rows.clips],
        speakers=speakers,
        speaker=np.array([number[clip.speaker] for clip in rows.clips], np.int32),
        language=rows.texts.language,
        tokens=rows.texts.tokens,
        token_offsets=rows.texts.offsets,
        store=chosen,
        frames=chosen.frames,
        mel_mean=mean,
        mel_std=deviation,
        skipped=skipped,
        long_clips=told,
        unknown_characters=dict(texts.unknown.most_common()),
        fingerprint=_fingerprint(rows.texts, chosen),
        computed=computed,
    )


def _skipped(clips: Sequence[Clip], reasons: Sequence[str]) -> list[Skipped]:
    pairs = zip(clips, reasons, strict=True)
    return [Skipped(clip.id, clip.audio, reason) for clip, reason in pairs if reason]


def _reasons(
    clips: Sequence[Clip], texts: TokenizedTexts, store: FeatureStore, shards: Sequence[Shard]
) -> list[str]:
    """Why each clip cannot be used; empty for those that can."""
    reasons = [stored.reason for shard in shards for stored in shard.clips]
    lengths = texts.lengths
    for row in np.flatnonzero(lengths > store.frames):
        # An alignment gives each token at least one frame.
        reasons[row] = reasons[row] or (
            f"the transcript does not fit the audio: {lengths[row]} tokens, "
            f"{store.frames[row]} frames"
        )
    return [
        reason if clip.text else "no transcript"
        for clip, reason in zip(clips, reasons, strict=True)
    ]


def _fingerprint(texts: TokenizedTexts, store: FeatureStore) -> str:
    digest = hashlib.sha256(json.dumps(store.recipe.description, sort_keys=True).encode())
    arrays = (texts.tokens, texts.offsets, texts.language, store.frames, store.checksums)
    for array in (*arrays, store.first_frames):
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]
