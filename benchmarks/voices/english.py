"""One human voice: is the model understood as well as the voice it learned from?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from voices import listening, sources, training
from voices.sources import Line, Source

RMS = Source("rms", flite=True)
TRAINED, JUDGED = 1000, 200
SETTINGS: dict[str, Any] = {
    "data.language": "en",
    "data.languages": ["en"],
    "data.batch_size": 16,
    "data.max_buckets": 4,
    "training.max_steps": 2000,
    "training.epochs": 10_000,
    "training.learning_rate": 2e-3,
    "training.checkpoint_interval": 100_000,
    "data.enable_xla": True,
}


def measure(folder: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Train on `TRAINED` sentences of flite's rms, judge `JUDGED` others, keep the WAVs."""
    texts = sources.english(TRAINED + JUDGED)
    learned = [Line(f"rms-{i:04d}", text, RMS) for i, text in enumerate(texts[:TRAINED])]
    judged = [Line(f"rms-{i:04d}", text, RMS) for i, text in enumerate(texts[TRAINED:], TRAINED)]
    corpus = sources.corpus(learned, folder / "corpus", say)
    seconds = training.train(corpus, folder / "run", SETTINGS)
    say(f"one voice: trained in {seconds:.0f} s")

    source = sources.speak(judged, folder / "wavs" / "source", say)
    model = [folder / "wavs" / "model" / path.name for path in source]
    reference = corpus / "wavs" / f"{learned[0].id}.wav"
    said = [line.text for line in judged]
    many = len(said)
    training.speak(folder / "run", said, [reference] * many, ["en"] * many, model)
    say("one voice: spoken; two recognisers listen")
    heard = listening.listen(said, model, source)
    result: dict[str, Any] = {
        "train_seconds": round(seconds, 1),
        "trained_on": f"{TRAINED} sentences of flite rms",
    }
    for name, understood in heard.items():
        result[name] = understood.document()
        say(f"one voice, {name}: {result[name]}")
    return result
