"""A recorded run as a trace to look at in ui.perfetto.dev, or in Chrome's about:tracing.

A pure function over a Session: nothing is recorded for it that run.jsonl does not hold anyway.
Tracks: one for each stage of the pipeline, one for the loop (waiting, training, compiling,
validating, saving), counters for the buffers and the GPUs, marks for what went wrong. Of a long
run the last steps are shown, so that the file stays small enough to open.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from myxtts.files import write_atomically
from myxtts.telemetry.session import STAGES, Session, Step

MOST_STEPS = 20_000
"""About a dozen events each: some 3 MB compressed."""
PIPELINE, LOOP, COUNTERS = 1, 2, 3
"""Perfetto's processes, under which it groups the tracks."""
_SPANS = {"compile": "compiling", "validation": "validating", "samples": "speaking samples",
          "checkpoint": "checkpointing"}  # fmt: skip
_MARKS = ("out_of_memory", "bad_step", "went_back", "not_saved", "gpu_lost", "overflow", "notice")

Event = dict[str, Any]


def write(session: Session, path: Path) -> None:
    """The trace of a run, compressed."""
    document = {"displayTimeUnit": "ms", "traceEvents": list(events(session))}
    write_atomically(path, gzip.compress(json.dumps(document).encode(), compresslevel=5))


def events(session: Session) -> Iterator[Event]:
    """Everything to draw, in Chrome's trace event format; times in microseconds."""
    steps = session.steps[-MOST_STEPS:]
    begin = steps[0].t - steps[0].seconds if len(steps) < len(session.steps) else float("-inf")
    yield from _names(session)
    for step in steps:
        yield from _of_step(step)
    for event in session.events:
        if event["t"] >= begin:
            yield from _of_event(event)


def _names(session: Session) -> Iterator[Event]:
    plan = session.header.get("plan", {})
    devices = {
        "upload": plan.get("data_device"),
        "preprocess": plan.get("data_device"),
        "transfer": plan.get("model_device"),
    }
    for number, name in ((PIPELINE, "pipeline"), (LOOP, "training"), (COUNTERS, "gauges")):
        yield _named("process_name", number, 0, name)
    for track, stage in enumerate(STAGES):
        device = devices.get(stage)
        yield _named("thread_name", PIPELINE, track, f"{stage} → {device}" if device else stage)
    yield _named("thread_name", LOOP, 0, f"loop on {plan.get('model_device', 'one device')}")


def _of_step(step: Step) -> Iterator[Event]:
    number = {"step": step.step}
    for track, stage in enumerate(STAGES):
        if stage in step.finished and stage in step.stages:
            end = step.finished[stage]
            yield _span(stage, PIPELINE, track, end - step.stages[stage], end, number)
    begun = step.t - step.train
    if step.wait > 0:
        blame = {f"for {stage}": seconds for stage, seconds in step.blame.items()}
        yield _span("waiting for data", LOOP, 0, begun - step.wait, begun, number | blame)
    facts = number | {"loss": step.loss, "bucket": step.bucket, "useful": step.useful_frames}
    yield _span("compiling" if step.compiled else "training", LOOP, 0, begun, step.t, facts)
    if step.rings:
        yield _counter("batches ready", begun - step.wait, dict(step.rings))


def _of_event(event: Event) -> Iterator[Event]:
    kind, moment = event["kind"], event["t"]
    if kind in _SPANS:
        facts: Event = {key: event[key] for key in ("step", "bucket", "loss") if key in event}
        yield _span(_SPANS[kind], LOOP, 0, moment - event["seconds"], moment, facts)
    elif kind == "gpu":
        for metric in ("utilization", "memory_used_mb", "power_w"):
            if event.get(metric) is not None:
                yield _counter(f"GPU {event['index']} {metric}", moment, {metric: event[metric]})
    elif kind in _MARKS:
        facts = {key: value for key, value in event.items() if key not in ("kind", "t")}
        yield {"name": kind, "ph": "i", "s": "p", "pid": LOOP, "tid": 0,
               "ts": _microseconds(moment), "args": facts}  # fmt: skip


def _span(name: str, process: int, track: int, start: float, end: float, args: Event) -> Event:
    begun = _microseconds(start)
    duration = round(_microseconds(end) - begun, 1)
    return {"name": name, "ph": "X", "pid": process, "tid": track, "ts": begun, "dur": duration,
            "args": args}  # fmt: skip


def _counter(name: str, moment: float, values: Event) -> Event:
    return {"name": name, "ph": "C", "pid": COUNTERS, "ts": _microseconds(moment), "args": values}


def _named(what: str, process: int, track: int, name: str) -> Event:
    return {"name": what, "ph": "M", "pid": process, "tid": track, "args": {"name": name}}


def _microseconds(seconds: float) -> float:
    return round(seconds * 1e6, 1)
