"""A diagnosis on a terminal: machine, settings, timings, recommendations. Computes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from myxtts.tools.analyze import BatchWaits, Timing
from myxtts.tools.catalogue import Language
from myxtts.tools.diagnosis import Diagnosis
from myxtts.tools.environment import Environment
from myxtts.tools.report_text import MARKS, show, show_findings, show_verdict
from myxtts.tools.validation_words import said

if TYPE_CHECKING:
    from rich.console import Console

_PEERS = {True: "yes", False: "no", None: "N/A"}
GOOD_MARK = "[green]✓[/]"


def show_diagnosis(found: Diagnosis, console: Console, language: Language) -> None:
    """The verdict, section by section what it rests on, then what to do in order of gain."""
    if found.summary is not None:
        show_verdict(found.summary.verdict, console, language)
        console.print()
    console.print(f"[bold]{said('1. Machine and GPUs', language)}[/]")
    show_environment(found.environment, console)
    console.print(f"\n[bold]{said('2. TensorFlow settings', language)}[/]")
    for setting in found.settings or []:
        mark = GOOD_MARK if setting.taken else MARKS["fix"]
        console.print(f"{mark} {setting.name}: {setting.found}")
    console.print(f"\n[bold]{said('3. Configuration', language)}[/]")
    for name, finding in found.checks.items():
        mark = GOOD_MARK if finding is None else MARKS[finding.severity]
        console.print(f"{mark} {name.replace('_', ' ')}")
    console.print(f"\n[bold]{said('4. Data pipeline', language)}[/]")
    if found.text is not None and found.audio is not None:
        show_timings(found.text, found.audio, found.waits, console)
    console.print(f"\n[bold]{said('5. A short run, GPUs watched', language)}[/]")
    if found.summary is not None:
        show(found.summary, console, language)
    for what, why in found.not_measured.items():
        console.print(f"{said('not measured', language)}: {what}: {why}", markup=False)
    console.print(f"\n[bold]{said('6. Recommendations, the largest gain first', language)}[/]")
    show_findings(found.findings, console, language)


def show_environment(found: Environment, console: Console) -> None:
    """What the machine has."""
    for line in environment_lines(found):
        console.print(line, markup=False)


def environment_lines(found: Environment) -> list[str]:
    """CPU, TensorFlow, driver, GPUs and their links, a line each."""
    return [
        f"{found.cpu}, {found.cores} cores, {found.memory_gb} GB, Python {found.python}",
        f"TensorFlow {found.tensorflow or 'is not installed'}",
        f"driver {found.driver}" if found.gpus else f"no GPU: {found.no_gpu_reason}",
        *(
            f"GPU {gpu.index}: {gpu.name or 'N/A'}, {gpu.memory_total_mb or 'N/A'} MB"
            for gpu in found.gpus
        ),
        *(
            f"GPU {link.a} to GPU {link.b}: {link.topology or 'N/A'}, peer-to-peer "
            f"{_PEERS[link.peer_to_peer]}"
            for link in found.links
        ),
    ]


def show_timings(text: Timing, audio: Timing, waits: BatchWaits | None, console: Console) -> None:
    """Text, audio and waits, a line each."""
    console.print(
        f"text: {1e3 * text.mean:.2f} ms a sample ± {1e3 * text.spread:.2f} "
        f"({text.sampled} of {text.clips} timed), {text.total:.1f} s for all, once"
    )
    console.print(
        f"audio: {1e3 * audio.mean:.2f} ms a clip ± {1e3 * audio.spread:.2f}, coefficient of "
        f"variation {audio.variation:.0%} ({audio.sampled} timed, {audio.failed} unreadable), "
        f"{audio.total:.1f} s for all, once"
    )
    if waits is None:
        console.print("waits between batches, idle share: not measured")
        return
    console.print(
        f"waits between batches: {1e3 * waits.mean:.2f} ms on average, {1e3 * waits.longest:.2f} "
        f"at most; the training device idles {waits.idle_share:.1%} of the time"
    )
