"""A frame of a run in progress: as a screen for a terminal, or as one line. Computes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myxtts.tools.catalogue import Language
from myxtts.tools.page_words import label
from myxtts.tools.report_text import said
from myxtts.tools.watch import Frame, GpuNow

if TYPE_CHECKING:
    from rich.console import RenderableType

BAR = 30
_STATES: dict[str, dict[Language, str]] = {
    "starting": {"en": "no header yet", "fa": "هنوز آغاز نشده"},
    "preparing": {"en": "preparing and compiling", "fa": "آماده‌سازی و کامپایل"},
    "training": {"en": "training", "fa": "در حال آموزش"},
    "ended": {"en": "ended", "fa": "پایان یافته"},
}
_WORDS: dict[str, dict[Language, str]] = {
    "left": {"en": "left", "fa": "مانده"},
    "ready": {"en": "ready", "fa": "آماده"},
    "loss": {"en": "loss", "fa": "loss"},
    "silent": {
        "en": "no news for {seconds:.0f} s: the run is busy, or was stopped",
        "fa": "{seconds:.0f} ثانیه خبری نیست: اجرا مشغول است یا متوقف شده",
    },
}


def line(frame: Frame, language: Language = "en") -> str:
    """Everything in one line, for logs and pipes."""
    parts = [
        state(frame, language),
        f"{label('step', language)} {_of(frame)}",
        f"{_WORDS['loss'][language]} {said(frame.loss, digits=4)}",
        f"{said(frame.steps_per_second, digits=2)} {label('steps_per_second', language)}",
        f"{said(frame.useful_frames_per_second)} {label('useful_frames', language)}",
        f"{_WORDS['ready'][language]} {_ready(frame)}",
        f"GPU {_gpus(frame.gpus)}",
        f"{_WORDS['left'][language]} {clock(frame.seconds_left)}",
    ]
    return "  ".join([*parts, *(f"! {one.said(language)}" for one in frame.incidents[:1])])


def screen(frame: Frame, language: Language = "en", silent: float | None = None) -> RenderableType:
    """A few lines and a table; `silent` seconds without news are told."""
    from rich.console import Group
    from rich.text import Text

    lines = [
        Text(f"{frame.run}: {state(frame, language)}", style="bold"),
        Text(
            f"{label('step', language)} {_of(frame)}   {_WORDS['loss'][language]} "
            f"{said(frame.loss, digits=4)}   {_WORDS['left'][language]} "
            f"{clock(frame.seconds_left)}"
        ),
        Text(
            f"{said(frame.steps_per_second, digits=2)} {label('steps_per_second', language)}   "
            f"{said(frame.useful_frames_per_second)} {label('useful_frames', language)}"
        ),
    ]
    if frame.virtual:
        lines.append(Text(label("rehearsal", language), style="yellow"))
    for row in frame.account:
        bar = "█" * round(row.percent / 100 * BAR)
        lines.append(Text(f"{label(row.name, language):>18} {row.percent:5.1f} % {bar}"))
    lines.append(Text(f"{_WORDS['ready'][language]}: {_ready(frame)}"))
    lines += [Text(_gpu(card, language)) for card in frame.gpus] or [
        Text(f"GPU: {label('not_measured', language)}")
    ]
    lines += [Text(f"! {one.said(language)}", style="yellow") for one in frame.incidents]
    if silent is not None:
        lines.append(Text(_WORDS["silent"][language].format(seconds=silent), style="yellow"))
    return Group(*lines)


def state(frame: Frame, language: Language = "en") -> str:
    """What the run is at, and why it ended."""
    said_state = _STATES[frame.state][language]
    return f"{said_state} ({frame.reason})" if frame.reason else said_state


def clock(seconds: float | None) -> str:
    """Hours, minutes and seconds."""
    if seconds is None:
        return "N/A"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def words() -> dict[str, dict[Language, str]]:
    """The whole table, for the test that both languages are complete."""
    return _STATES | _WORDS


def _of(frame: Frame) -> str:
    return f"{said(frame.step)}/{said(frame.total_steps)}"


def _ready(frame: Frame) -> str:
    return ", ".join(f"{ring.name} {ring.ready}" for ring in frame.rings) or "N/A"


def _gpus(cards: tuple[GpuNow, ...]) -> str:
    return " / ".join(said(card.utilization, " %") for card in cards) or "N/A"


def _gpu(card: GpuNow, language: Language) -> str:
    return (
        f"GPU {card.index}: {said(card.utilization, ' %')}   "
        f"{label('memory', language)} {said(card.memory_used_mb)} / "
        f"{said(card.memory_total_mb)} MB   {label('power', language)} {said(card.power_w, ' W')}"
    )
