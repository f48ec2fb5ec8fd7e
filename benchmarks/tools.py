"""The tools, proved: planted bottlenecks named, predictions checked, repairs measured.

    python benchmarks/tools.py                   # everything, about half an hour
    python benchmarks/tools.py --only planted    # one part; the others stay as they were
    python benchmarks/tools.py --quick           # to see that it works; writes nothing

Each part is a module with `run(say, *, quick)`; results/tools.json holds what each found the last
time it ran whole.
"""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import tools_plot
from notes import RESULTS, Notes, write

PARTS = {"planted": "tools_planted", "plan": "tools_plan", "fix": "tools_fix"}
FIGURES = (
    "planted_cases", "planted_accuracy", "false_alarm_rate", "tensorboard_rule_accuracy",
    "fixed_thresholds_accuracy", "plan_predictions", "plan_median_error", "plan_wrong_direction",
    "fix_cases", "fix_improved", "fix_worse", "profile_overhead_pct",
)  # fmt: skip


def main() -> None:
    """Measure, merge, print, write JSON and plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PARTS, action="append", help="measure only this part")
    parser.add_argument("--quick", action="store_true", help="a few cases of each")
    parser.add_argument("--keep", type=Path, help="planted cases that were judged before")
    parser.add_argument("--output", type=Path, help="folder of the results")
    options = parser.parse_args()
    output = options.output or (None if options.quick else RESULTS)
    result = known(RESULTS if output is None else output)
    for name in options.only or list(PARTS):
        kept = {"keep": options.keep} if name == "planted" else {}
        result |= measured(name, quick=options.quick, **kept)
    print(table(result))
    if output is not None:
        write(output, "tools", result, lambda path: tools_plot.plot(result, path))


def known(folder: Path) -> dict[str, Any]:
    """What was found before; nothing when this is the first time."""
    path = folder / "tools.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


def measured(name: str, *, quick: bool, **kept: Any) -> dict[str, Any]:
    """The figures of a part, and where and when they were measured."""
    notes = Notes()
    notes.say(name)
    found: dict[str, Any] = import_module(PARTS[name]).run(notes.say, quick=quick, **kept)
    return found | {f"{name}_measured": notes.about()}


def table(result: dict[str, Any]) -> str:
    """What a person reads."""
    lines = [f"{name:30s}{_shown(result.get(name)):>12s}" for name in FIGURES]
    for cause, said in result.get("planted_confusion", {}).items():
        named = ", ".join(f"{name} {count}" for name, count in sorted(said.items()))
        lines.append(f"  planted {cause:15s} said: {named}")
    return "\n".join(lines)


def _shown(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.4g}"


if __name__ == "__main__":
    main()
