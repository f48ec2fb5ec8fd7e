"""A part of a corpus kept out of training, to validate on.

Whether a clip is held out depends on its id and the share alone: the same clips in every run, on
every machine, and none changes sides when others are added. Pieces of a long clip stay together.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from myxtts.data.prepare import PreparedCorpus
from myxtts.errors import UserError


def held_out(clip_id: str, share: float) -> bool:
    """Whether this clip belongs to the held-out share (0 to 1) of any corpus."""
    digest = hashlib.sha256(clip_id.partition("#")[0].encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def split(prepared: PreparedCorpus, share: float) -> tuple[PreparedCorpus, PreparedCorpus]:
    """The clips to train on, and the clips to validate on."""
    kept = np.array([held_out(clip, share) for clip in prepared.clip_ids])
    if kept.all() or not kept.any():
        raise UserError(
            f"A validation share of {share} does not divide {len(kept)} clips",
            received=f"{int(kept.sum())} clips to validate on, {int((~kept).sum())} to train on",
            remedy="a larger training.validation_share, or --val-data FOLDER",
        )
    return _select(prepared, np.flatnonzero(~kept)), _select(prepared, np.flatnonzero(kept))


def _select(prepared: PreparedCorpus, rows: np.ndarray) -> PreparedCorpus:
    """These rows of a corpus, in order, on the same store."""
    spans = [slice(*prepared.token_offsets[row : row + 2]) for row in rows]
    store = prepared.store.select(rows)
    return replace(
        prepared,
        clip_ids=[prepared.clip_ids[row] for row in rows],
        texts=[prepared.texts[row] for row in rows],
        audio=[prepared.audio[row] for row in rows],
        speaker=prepared.speaker[rows],
        language=prepared.language[rows],
        tokens=np.concatenate([prepared.tokens[span] for span in spans]),
        token_offsets=np.concatenate([[0], np.cumsum(prepared.token_lengths[rows])]),
        store=store,
        frames=store.frames,
    )
