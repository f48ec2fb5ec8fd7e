"""A person's recordings, too few to learn speech from: a trained voice is fine-tuned on them.

Are their sentences understood? The model says what it was trained on, in its own timing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from clips import test_data

from myxtts.data.ljspeech import read_corpus
from voices import listening, training

SETTINGS: dict[str, Any] = {
    "data.language": "en",
    "data.languages": ["en"],
    "data.batch_size": 8,
    "data.max_buckets": 3,
    "training.max_steps": 600,
    "training.epochs": 100_000,
    "training.learning_rate": 1e-3,
    "training.checkpoint_interval": 100_000,
    "data.enable_xla": True,
}


def measure(folder: Path, first: Path, say: Callable[[str], None]) -> dict[str, Any] | None:
    """Go on from the run `first` with the real clips, and say the same; None without them."""
    data = test_data()
    if data is None:
        say("real clips: MYXTTS_TEST_DATA is unset, not measured")
        return None
    clips = read_corpus(data / "ljspeech-mini")
    own = {
        **SETTINGS,
        "data.cache_dir": str(folder / "cache"),
        "training.from_checkpoint": str(first),
    }
    seconds = training.train(data / "ljspeech-mini", folder / "run", own)
    say(f"real clips: trained in {seconds:.0f} s")
    texts = [clip.text for clip in clips]
    recordings = [clip.audio for clip in clips]
    model = [folder / "wavs" / "model" / f"{clip.id}.wav" for clip in clips]
    # The reference is another clip than the one that is said.
    references = recordings[1:] + recordings[:1]
    training.speak(folder / "run", texts, references, ["en"] * len(texts), model)
    heard = listening.listen(texts, model, recordings)
    result: dict[str, Any] = {"train_seconds": round(seconds, 1), "clips": len(clips)}
    result |= {name: understood.document() for name, understood in heard.items()}
    say(f"real clips: {result}")
    return result
