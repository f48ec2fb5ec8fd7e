"""`myxtts monitor`: a run in progress, watched from another terminal."""

from __future__ import annotations

import json as jsons
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from myxtts.cli.configuration import Lang
from myxtts.cli.console import stderr, stdout

if TYPE_CHECKING:
    from myxtts.telemetry.tail import Tail
    from myxtts.tools.catalogue import Language
    from myxtts.tools.watch import Frame

SILENT_SECONDS = 60.0
"""Longer than any step: from here on the reader is told that nothing came."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(monitor)


def monitor(
    run: Annotated[Path, typer.Argument(help="A run's folder, or its run.jsonl.")] = Path(
        "runs/latest"
    ),
    once: Annotated[bool, typer.Option("--once", help="Show it as it is now, and end.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for a run that has not begun yet.")
    ] = False,
    interval: Annotated[float, typer.Option(help="Seconds between two looks.", min=0.05)] = 1.0,
    lang: Lang = "en",
    json: Annotated[
        bool, typer.Option("--json", help="One JSON document in a line for each look.")
    ] = False,
) -> None:
    """Watch a run while it trains; ends by itself when the run has ended.

    Example: myxtts monitor runs/latest
    """
    from myxtts.telemetry.tail import Tail

    tail = Tail(run if run.suffix == ".jsonl" else run / "run.jsonl")
    if not tail.exists():
        _await(tail, interval, wait)
    frames = _frames(tail, once, interval)
    if json:
        for frame, _ in frames:
            sys.stdout.write(jsons.dumps(frame.as_json(lang), ensure_ascii=False) + "\n")
            sys.stdout.flush()
    elif once or not sys.stdout.isatty():
        _lines(frames, lang, whole=once)
    else:
        _live(frames, lang)


def _frames(tail: Tail, once: bool, interval: float) -> Iterator[tuple[Frame, float | None]]:
    """(the run now, seconds without news when they are many), until it has ended."""
    from myxtts.errors import MeasurementError
    from myxtts.tools.watch import Watch

    watch, heard = Watch(tail.path), time.monotonic()
    while True:
        events = tail.read()
        watch.saw(events)
        if tail.damaged and watch.frame().state == "starting":
            raise MeasurementError(
                f"{tail.path} is not a recorded run: it has no header line",
                remedy="name the folder that train_main.py or myxtts profile writes",
            )
        if events:
            heard = time.monotonic()
        silent = time.monotonic() - heard
        yield watch.frame(), silent if silent > SILENT_SECONDS else None
        if once or watch.ended:
            return
        time.sleep(interval)


def _lines(frames: Iterator[tuple[Frame, float | None]], lang: Language, *, whole: bool) -> None:
    """A line for each look that shows something new; the whole screen when it is the only one."""
    from myxtts.tools import watch_text

    before = ""
    for frame, silent in frames:
        if whole:
            stdout().print(watch_text.screen(frame, lang, silent))
            continue
        text = watch_text.line(frame, lang)
        if text != before:
            print(text, flush=True)
        before = text


def _live(frames: Iterator[tuple[Frame, float | None]], lang: Language) -> None:
    from rich.live import Live

    from myxtts.tools import watch_text

    with Live(console=stdout(), auto_refresh=False) as live:
        for frame, silent in frames:
            live.update(watch_text.screen(frame, lang, silent), refresh=True)


def _await(tail: Tail, interval: float, wait: bool) -> None:
    from myxtts.errors import UsageError

    if not wait:
        raise UsageError(
            f"There is no run in {tail.path.parent} yet",
            received=str(tail.path),
            remedy=f"myxtts monitor {tail.path.parent} --wait, or name another folder",
        )
    stderr().print(f"waiting for {tail.path}", markup=False)
    while not tail.exists():
        time.sleep(interval)
