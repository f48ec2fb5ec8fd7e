"""What a trained model says, judged beside the voices it learned from.

    python benchmarks/voice.py --quick              # one voice, both recognisers: 15 minutes
    python benchmarks/voice.py                      # also eight voices, Persian, real clips: 1 h
    python benchmarks/voice.py --parts real-clips   # one part again; the others' results are kept

Needs `pip install -e ".[cpu,phonemes,eval]"` and flite (`make system-deps`). Real transcripts and
clips come from the folder that MYXTTS_TEST_DATA names; without it the sentences are our own. The
WAVs are kept in the work folder. A result is written after every part.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import clips
from notes import RESULTS, Notes, Say, write
from voices import boundaries, clones, english, real_clips, sources

LARGEST_SOURCE_WER = 0.25
"""A source that is not understood itself proves nothing."""


PARTS: dict[str, Callable[[Path, Say], dict[str, Any] | None]] = {
    "one-voice": lambda work, say: english.measure(work / "one-voice", say),
    "eight-voices": lambda work, say: clones.measure(work / "eight-voices", say),
    "alignment": lambda work, say: boundaries.measure(work / "eight-voices" / "run", say),
    "real-clips": lambda work, say: real_clips.measure(
        work / "real-clips", work / "one-voice" / "run", say
    ),
}
"""In this order: alignment judges the model of eight voices, real clips go on from one voice's."""


def main() -> None:
    """Measure, print the figures, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one voice only, nothing is written")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS),
                        help="measure these and keep the result's others")  # fmt: skip
    parser.add_argument("--work", type=Path, default=Path("voice-benchmark"),
                        help="folder of corpora, runs and WAVs, kept")  # fmt: skip
    parser.add_argument("--output", type=Path, help="folder of voice.json")
    options = parser.parse_args()
    problem = sources.missing()
    if problem is not None:
        sys.exit(f"could not measure: {problem}")
    # A quick run is no complete result: it is written only where it is asked for.
    output = options.output or (None if options.quick else RESULTS)
    chosen = ["one-voice"] if options.quick else [n for n in PARTS if n in options.parts]
    parts = {} if output is None or options.quick else _kept(output / "voice.json")
    for name in chosen:
        parts[name] = measure(name, options.work)
        result = {**_figures(parts), "parts": parts}
        if output is not None:
            write(output, "voice", result)
    print(json.dumps(result, indent=2, ensure_ascii=False))


def measure(name: str, work: Path) -> dict[str, Any]:
    """One part, with what it was measured on."""
    notes = Notes(text="LJSpeech" if clips.test_data() else "our own: MYXTTS_TEST_DATA is unset")
    found = PARTS[name](work, notes.say) or {}
    return {**found, **notes.about()}


def _kept(path: Path) -> dict[str, Any]:
    """The parts of an earlier result."""
    return dict(json.loads(path.read_text(encoding="utf-8"))["parts"]) if path.is_file() else {}


def _figures(parts: dict[str, Any]) -> dict[str, Any]:
    """The figures by which the model is judged; those of parts that were measured."""
    figures: dict[str, Any] = {}
    one = parts.get("one-voice", {})
    if one:
        figures["train_seconds"] = one["train_seconds"]
        for name in ("moonshine", "pocketsphinx"):
            figures[f"wer_ratio_{name}"] = one[name]["ratio"]
            figures[f"wer_ratio_{name}_low"] = one[name]["low"]
            figures[f"wer_ratio_{name}_high"] = one[name]["high"]
        figures["source_understood"] = one["moonshine"]["source_wer"] <= LARGEST_SOURCE_WER
    names = ("clone_nearest_share", "clone_nearest_share_source", "clone_nearest_share_unseen")
    many = parts.get("eight-voices", {})
    figures |= {name: many[name] for name in (*names, "mcd_fa_vs_en") if name in many}
    aligned, real = parts.get("alignment", {}), parts.get("real-clips", {})
    if aligned:
        figures["boundary_error_ms"] = aligned["boundary_error_ms"]
    if "moonshine" in real:
        figures["real_clips_wer"] = real["moonshine"]["model_wer"]
    return figures


if __name__ == "__main__":
    main()
