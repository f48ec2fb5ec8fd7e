"""Comparing voices by their vectors. Vectors come from `voice_encoder`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """1 for the same direction, 0 for nothing in common."""
    return float(a @ b / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-12))


def centroid(embeddings: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """The voice that several clips share: their mean direction, of length 1."""
    mean = np.mean(embeddings, axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-12)


def nearest_speaker(embedding: np.ndarray, centroids: Mapping[str, np.ndarray]) -> str:
    """The speaker whose centroid is most similar."""
    return max(centroids, key=lambda speaker: cosine(embedding, centroids[speaker]))


def nearest_speaker_share(
    embeddings: Sequence[tuple[str, np.ndarray]], centroids: Mapping[str, np.ndarray]
) -> float:
    """The share of clips, given as (speaker meant, vector), nearest to the speaker they mean."""
    if not embeddings:
        raise ValueError("nearest_speaker_share expects at least one clip")
    right = [nearest_speaker(vector, centroids) == speaker for speaker, vector in embeddings]
    return sum(right) / len(right)
