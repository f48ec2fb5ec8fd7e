"""What a recorded run shows, rule by rule: pure functions from a Session to Findings.

A Finding carries the numbers it rests on, the most that a change can gain and the exact change.
Its sentences, in English and Persian, are in `catalogue`; checks of a configuration that has not
run yet are in `audit`.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from myxtts.errors import GOOD, MUST_FIX
from myxtts.telemetry.session import Session, Step
from myxtts.tools.account import StageRow, share_of, stage_table

Severity = Literal["fix", "advice", "note"]
SEVERITIES: tuple[Severity, ...] = ("fix", "advice", "note")

DATA_LOAD_LIMIT = 0.20
TRANSFER_LIMIT = 0.15
TRAINING_FLOOR = 0.50
VARIATION_LIMIT = 0.30
USEFUL_FRAMES_FLOOR = 0.90
DEEPEST_RING = 8
MOST_PREFETCH = 32
MOST_SHAPES = 32


@dataclass(frozen=True)
class Change:
    """What to change: keys of the configuration, or a command when no key does it."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""

    def __str__(self) -> str:
        keys = [f"{key}: {_yaml_scalar(value)}" for key, value in self.settings.items()]
        return ", ".join(keys) or self.command


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or worth knowing, and what to do about it."""

    rule: str
    severity: Severity
    evidence: Mapping[str, Any]
    expected_gain: float | None
    """The most of the run's time that the change can win, 0–1; None: not known before a run."""
    change: Change

    def as_json(self) -> dict[str, Any]:
        """Plain data, for `--json`."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "evidence": dict(self.evidence),
            "expected_gain": self.expected_gain,
            "change": {"settings": dict(self.change.settings), "command": self.change.command},
        }


def findings(session: Session) -> list[Finding]:
    """Everything that the rules find, the most important first."""
    return ordered([found for rule in RULES for found in rule(session)])


def ordered(found: Sequence[Finding]) -> list[Finding]:
    """By severity, then by expected gain."""
    return sorted(
        found, key=lambda one: (SEVERITIES.index(one.severity), -(one.expected_gain or 0.0))
    )


def exit_code(found: Sequence[Finding]) -> int:
    """0 when nothing must be fixed, else 1."""
    return MUST_FIX if any(one.severity == "fix" for one in found) else GOOD


def combined_settings(found: Sequence[Finding]) -> dict[str, Any]:
    """The keys that all findings together ask for; the more important finding wins a key."""
    settings: dict[str, Any] = {}
    for one in ordered(found):
        for key, value in one.change.settings.items():
            settings.setdefault(key, value)
    return settings


def _data_load(session: Session) -> list[Finding]:
    share = share_of(stage_table(session), "load", "upload")
    if share <= DATA_LOAD_LIMIT:
        return []
    evidence = {"share": share, "limit": DATA_LOAD_LIMIT}
    return [Finding("data_load_high", "fix", evidence, share, remedy(session, "load"))]


def _transfer(session: Session) -> list[Finding]:
    share = share_of(stage_table(session), "transfer")
    if share <= TRANSFER_LIMIT:
        return []
    evidence = {"share": share, "limit": TRANSFER_LIMIT}
    return [Finding("transfer_high", "fix", evidence, share, remedy(session, "transfer"))]


def _training(session: Session) -> list[Finding]:
    rows = stage_table(session)
    share = share_of(rows, "training")
    if not rows or share >= TRAINING_FLOOR:
        return []
    others = [row for row in rows if row.name != "training"]
    largest: StageRow = max(others, key=lambda row: row.share)
    evidence = {
        "share": share,
        "limit": TRAINING_FLOOR,
        "largest": largest.name,
        "largest_share": largest.share,
    }
    change = remedy(session, largest.name)
    return [Finding("training_low", "fix", evidence, 1 - share, change)]


def _variation(session: Session) -> list[Finding]:
    variation = session.variation
    if variation is None or variation <= VARIATION_LIMIT:
        return []
    times = session.step_times
    mean, median = statistics.fmean(times), statistics.median(times)
    cause = _what_varies(session.steady_steps)
    evidence = {
        "variation": variation,
        "limit": VARIATION_LIMIT,
        "mean": mean,
        "median": median,
        "cause": cause,
    }
    if cause == "training":  # no buffer evens out a step that itself takes now long, now short
        change = Change(command="stop other programs on this machine and measure again")
        return [Finding("step_variation_high", "advice", evidence, None, change)]
    gain = max(0.0, 1 - median / mean)  # were every step like the middle one
    return [Finding("step_variation_high", "fix", evidence, gain, remedy(session, cause))]


def _what_varies(steps: Sequence[Step]) -> str:
    """The part of a step whose time swings together with the step's the most."""
    parts: dict[str, list[float]] = {"training": [step.train for step in steps]}
    for stage in {stage for step in steps for stage in step.blame}:
        parts[stage] = [step.blame.get(stage, 0.0) for step in steps]
    total = [step.seconds for step in steps]
    return max(parts, key=lambda part: statistics.covariance(parts[part], total))


def _padding(session: Session) -> list[Finding]:
    useful = sum(step.useful_frames for step in session.steps)
    padded = sum(step.padded_frames for step in session.steps)
    if not padded or useful / padded >= USEFUL_FRAMES_FLOOR:
        return []
    change = fewer_padding(data_settings(session), len(session.header.get("buckets", [])))
    evidence = {"useful": useful / padded, "floor": USEFUL_FRAMES_FLOOR}
    trained = share_of(stage_table(session), "training")
    gain = trained * (1 - useful / padded)
    return [Finding("padding_high", "advice", evidence, gain, change)]


def fewer_padding(data: Mapping[str, Any], shapes: int) -> Change:
    """More shapes, where the run used all it was allowed; else its clips are too few for them."""
    most = int(data.get("max_buckets", 8))
    if data.get("static_shapes") == "single":
        return Change({"data.static_shapes": "buckets"})
    if most <= shapes < MOST_SHAPES:
        return Change({"data.max_buckets": min(MOST_SHAPES, 2 * most)})
    return Change(command="a larger corpus, or a smaller --batch-size, fills the shapes better")


def _compiled_in_training(session: Session) -> list[Finding]:
    compiled = [step for step in session.steps if step.compiled]
    if not compiled:
        return []
    steady = statistics.fmean(session.step_times) if session.step_times else 0.0
    seconds = sum(max(0.0, step.seconds - steady) for step in compiled)
    evidence = {"steps": len(compiled), "of": len(session.steps), "seconds": seconds}
    wall = sum(session.accounts.values()) or sum(step.seconds for step in session.steps)
    change = (
        Change(command=look_at(session))
        if data_settings(session).get("pad_to_fixed_length", True)
        else Change({"data.pad_to_fixed_length": True})
    )
    gain = min(1.0, seconds / wall) if wall else None
    return [Finding("compiled_in_training", "fix", evidence, gain, change)]


def _skipped(session: Session) -> list[Finding]:
    events = list(session.of_kind("skipped"))
    if not events:
        return []
    evidence = {
        "clips": len({event.get("clip") for event in events}),
        "first": events[0].get("clip"),
        "reason": events[0].get("reason"),
    }
    change = Change(command="repair or remove the clips, then run myxtts prepare again")
    return [Finding("clips_skipped", "advice", evidence, None, change)]


def _gpu_metrics(session: Session) -> list[Finding]:
    metrics = ("utilization", "memory_used_mb", "power_w")
    missing = sorted(
        {
            f"GPU {event['index']} {metric}"
            for event in session.of_kind("gpu")
            for metric in metrics
            if event.get(metric) is None
        }
    )
    if not missing:
        return []
    change = Change(command="nvidia-smi -q shows what the card and its driver report")
    return [Finding("gpu_metrics_missing", "note", {"missing": missing}, None, change)]


def _incomplete(session: Session) -> list[Finding]:
    if session.complete:
        return []
    evidence = {"ended": session.end is not None, "damaged_lines": session.damaged_lines}
    change = Change(command="the figures hold for what was recorded; run it again for all of it")
    return [Finding("run_incomplete", "note", evidence, None, change)]


def _recorded(session: Session) -> list[Finding]:
    """What the run itself noticed while it went on, once for each rule."""
    noticed = {event.get("rule"): event for event in session.of_kind("finding")}
    return [
        Finding(
            str(rule),
            "note",
            {name: value for name, value in event.items() if name not in ("kind", "rule", "t")},
            None,
            Change(),
        )
        for rule, event in noticed.items()
    ]


RULES: tuple[Callable[[Session], list[Finding]], ...] = (
    _data_load,
    _transfer,
    _training,
    _variation,
    _padding,
    _compiled_in_training,
    _skipped,
    _gpu_metrics,
    _incomplete,
    _recorded,
)


def remedy(session: Session, stage: str) -> Change:
    """The first setting that would take load off a stage and that the run did not have yet."""
    data = data_settings(session)
    cores = int(session.header.get("machine", {}).get("cores") or 1)
    for key, wanted in _ladder(data, stage, cores):
        if data.get(key) is not None and data[key] != wanted:
            return Change({f"data.{key}": wanted})
    commands = {
        "load": "myxtts analyze",
        "transfer": "validate_dual_gpu_pipeline.py",
        "preprocess": "myxtts accept (is one device faster here than two?)",
    }
    return Change(command=commands.get(stage, look_at(session)))


def look_at(session: Session) -> str:
    return f"myxtts report {session.path.parent}"


def _ladder(data: Mapping[str, Any], stage: str, cores: int) -> list[tuple[str, Any]]:
    workers = int(data.get("num_workers") or cores)
    prefetch = int(data.get("prefetch_buffer_size") or 0)
    deeper = deeper_ring(data, DEEPEST_RING)
    overlap = ("optimize_cpu_gpu_overlap", True)
    if stage in ("load", "upload"):
        return [
            overlap,
            ("use_tf_native_loading", True),
            ("num_workers", cores if workers < cores else data.get("num_workers")),
            ("cache_dataset", True),
            ("prefetch_buffer_size", min(MOST_PREFETCH, 2 * prefetch) or None),
            ("prefetch_to_gpu", True),
        ]
    if stage == "transfer":
        return [overlap, ("prefetch_to_gpu", True), deeper, ("enhanced_gpu_prefetch", True)]
    if stage == "preprocess":
        return [overlap, ("features", _features(data)), deeper]
    return [overlap]


def _features(data: Mapping[str, Any]) -> Any:
    """Mels from the store cost the data device nothing; augmentation needs them live."""
    augmented = any(value for key, value in data.items() if key.startswith("augment_"))
    return data.get("features") if augmented else "cached"


def deeper_ring(data: Mapping[str, Any], enough: int) -> tuple[str, Any]:
    """The key that limits how many batches may wait for training, and its value when it is enough.

    A ring that adapts grows by itself up to `pipeline_depth_max`; only a fixed one has the depth
    that it is told.
    """
    adaptive = bool(data.get("adaptive_depth", False))
    key = "pipeline_depth_max" if adaptive else "pipeline_depth"
    depth = int(data.get(key) or 1)
    return key, max(depth, min(enough, 2 * depth + 2))


def data_settings(session: Session) -> Mapping[str, Any]:
    settings: Mapping[str, Any] = session.header.get("config", {}).get("data", {})
    return settings


def _yaml_scalar(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
