"""tools.json as a picture: the table of confusions, and the three judges side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

JUDGES = {
    "planted_accuracy": "MyXTTS: the cause",
    "planted_two_way": "MyXTTS: input or not",
    "tensorboard_rule_accuracy": "TensorBoard's rule: input or not",
    "fixed_thresholds_accuracy": "fixed thresholds",
}


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw what there is; `ImportError` without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    confusion: dict[str, dict[str, int]] = result.get("planted_confusion", {})
    if not confusion:
        return
    causes = sorted({*confusion, *(name for said in confusion.values() for name in said)})
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5), layout="constrained")
    counts = [[confusion.get(cause, {}).get(said, 0) for said in causes] for cause in causes]
    left.imshow(counts, cmap="Blues")
    for row, numbers in enumerate(counts):
        for column, count in enumerate(numbers):
            if count:
                dark = count > max(map(max, counts)) / 2
                left.text(column, row, count, ha="center", va="center", fontsize=8,
                          color="white" if dark else "black")  # fmt: skip
    left.set_xticks(range(len(causes)), causes, rotation=60, ha="right", fontsize=8)
    left.set_yticks(range(len(causes)), causes, fontsize=8)
    left.set_title(f"Planted (rows) and named (columns), {result['planted_cases']} runs")
    known = {title: result[name] for name, title in JUDGES.items() if result.get(name) is not None}
    right.barh(list(known), list(known.values()), color="#4477aa")
    for place, share in enumerate(known.values()):
        right.text(share, place, f" {share:.1%}", va="center", fontsize=9)
    right.invert_yaxis()
    right.set_xlim(0, 1.15)
    right.set_title("Right, share of all cases")
    about = result["planted_measured"]["machine"]
    figure.suptitle(f"Planted bottlenecks — {about['cpu']}, {about['cores']} cores", fontsize=11)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
