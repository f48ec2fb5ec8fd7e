"""What a trained model says, judged beside the voices it learned from. One run, one result.

    python benchmarks/voice.py --quick    # one voice, both recognisers: at most 15 minutes
    python benchmarks/voice.py            # also eight voices, Persian, alignment, real clips

Needs `pip install -e ".[cpu,phonemes,eval]"` and flite (`make system-deps`). Real transcripts and
clips come from the folder that MYXTTS_TEST_DATA names; without it the sentences are our own. The
WAVs are kept in the output folder.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import clips
import machine
from voices import boundaries, clones, english, real_clips, sources

from myxtts.files import write_atomically

RESULTS = Path(__file__).parent / "results"
LARGEST_SOURCE_WER = 0.25
"""A source that is not understood itself proves nothing."""


def main() -> None:
    """Measure, print the figures, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one voice only")
    parser.add_argument("--work", type=Path, default=Path("voice-benchmark"),
                        help="folder of corpora, runs and WAVs, kept")  # fmt: skip
    parser.add_argument("--output", type=Path, help="folder of voice.json")
    options = parser.parse_args()
    problem = sources.missing()
    if problem is not None:
        sys.exit(f"could not measure: {problem}")
    result = measure(options.work, quick=options.quick)
    print(json.dumps(result, indent=2))
    # A quick run is no complete result: it is written only where it is asked for.
    output = options.output or (None if options.quick else RESULTS)
    if output is not None:
        content = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
        write_atomically(output / "voice.json", content.encode())


def measure(work: Path, *, quick: bool) -> dict[str, Any]:
    """All parts, or the first alone."""
    begin = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - begin:6.0f} s  {line}", file=sys.stderr, flush=True)

    about: dict[str, Any] = {
        "machine": machine.describe(),
        "versions": machine.versions(),
        "text": "LJSpeech" if clips.test_data() else "our own: MYXTTS_TEST_DATA is unset",
        "quick": quick,
    }
    parts: dict[str, Any] = {"one_voice": english.measure(work / "one-voice", say)}
    if not quick:
        parts["eight_voices"] = clones.measure(work / "eight-voices", say)
        parts["alignment"] = boundaries.measure(work / "eight-voices" / "run", say)
        parts["real_clips"] = real_clips.measure(work / "real-clips", say)
    about["seconds"] = round(time.monotonic() - begin)
    return {**_figures(parts), "parts": parts, **about}


def _figures(parts: dict[str, Any]) -> dict[str, Any]:
    """The figures by which the model is judged."""
    one = parts["one_voice"]
    figures: dict[str, Any] = {"train_seconds": one["train_seconds"]}
    for name in ("moonshine", "pocketsphinx"):
        figures[f"wer_ratio_{name}"] = one[name]["ratio"]
        figures[f"wer_ratio_{name}_low"] = one[name]["low"]
        figures[f"wer_ratio_{name}_high"] = one[name]["high"]
    figures["source_understood"] = one["moonshine"]["source_wer"] <= LARGEST_SOURCE_WER
    many = parts.get("eight_voices")
    if many:
        names = ("clone_nearest_share", "clone_nearest_share_source", "clone_nearest_share_unseen")
        figures |= {name: many[name] for name in (*names, "mcd_fa_vs_en")}
        figures["boundary_error_ms"] = parts["alignment"]["boundary_error_ms"]
    real = parts.get("real_clips")
    if real:
        figures["real_clips_wer"] = real["moonshine"]["model_wer"]
    return figures


if __name__ == "__main__":
    main()
