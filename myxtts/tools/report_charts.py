"""The parts of the report that are drawn: timeline, buffers, devices, step times. Computes nothing.

Every number comes from a `Summary`; `charts` draws.
"""

from __future__ import annotations

from collections.abc import Sequence

from myxtts.tools.catalogue import Language
from myxtts.tools.charts import Block, Line, Mark, histogram, lanes, line_chart
from myxtts.tools.page_words import apart, label
from myxtts.tools.report_page import heading, paragraph, subheading, table
from myxtts.tools.report_text import device_name, said
from myxtts.tools.series import METRICS, Distribution, GpuSeries
from myxtts.tools.summary import Summary

LANE_COLOURS = {
    "load": "#c2410c", "upload": "#b45309", "preprocess": "#7c3aed", "transfer": "#0369a1",
    "waiting": "#b42318", "training": "#15803d", "compiling": "#64748b",
}  # fmt: skip
UNITS = {"utilization": "%", "memory_used_mb": "MB", "power_w": "W"}


def timeline(summary: Summary, language: Language) -> list[str]:
    """A window of steps as lanes."""
    found = summary.series.timeline
    if found is None or not found.lanes:
        return []
    step = label("step", language)
    rows = [
        (
            label(lane.name, language),
            LANE_COLOURS[lane.name],
            [
                Block(
                    span.begin,
                    span.end,
                    f"{label(lane.name, language)}, {step} {span.step}: "
                    + apart(f"{1e3 * (span.end - span.begin):.1f} ms", language),
                )
                for span in lane.spans
            ],
        )
        for lane in found.lanes
    ]
    about = label("about_timeline", language).format(
        first=found.first_step, last=found.last_step, seconds=found.seconds
    )
    drawn = lanes(
        rows,
        described=label("timeline", language),
        length=found.seconds,
        x_labels=("0", f"{found.seconds:.2f} s"),
    )
    return [heading(label("timeline", language)), paragraph(about), drawn]


def step_times(summary: Summary, language: Language) -> list[str]:
    """Step by step, and how they are spread."""
    points = [(float(step), 1e3 * seconds) for step, seconds in summary.series.step_times]
    if summary.figures is None or len(points) < 2:
        return []
    step, mean = label("step", language), 1e3 * summary.figures.step_seconds
    line = line_chart(
        [Line("", points)],
        described=label("step_times", language),
        unit="ms",
        x_labels=(f"{step} {points[0][0]:.0f}", f"{points[-1][0]:.0f}"),
        level=Mark(mean, f"{label('mean', language)} {apart(f'{mean:.1f} ms', language)}"),
    )
    parts = [heading(label("step_times", language)), line]
    if summary.series.distribution is not None:
        parts += _distribution(summary.series.distribution, language)
    return parts


def _distribution(found: Distribution, language: Language) -> list[str]:
    end = found.edges[-1]
    titles = [
        f"{apart(f'{1e3 * low:.1f}–{1e3 * high:.1f} ms', language)}: "
        f"{count} {label('steps', language)}"
        for low, high, count in zip(found.edges, found.edges[1:], found.counts, strict=False)
    ]

    def time(seconds: float) -> str:
        return apart(f"{1e3 * seconds:.1f} ms", language)

    middle = f"{label('median', language)} {time(found.median)}"
    slow = f"{label('slow', language)} {time(found.slow)}"
    drawn = histogram(
        found.counts,
        titles,
        described=f"{label('distribution', language)}: {middle}, {slow}",
        x_labels=("0", f"{1e3 * end:.0f} ms"),
        marks=[(found.median / end, middle), (found.slow / end, slow)],
    )
    longest = f"{label('longest', language)}: {time(found.longest)}"
    return [subheading(label("distribution", language)), drawn, paragraph(longest)]


def rings(summary: Summary, language: Language) -> list[str]:
    """How full the buffers were, and the waits on both sides."""
    if not summary.rings and not summary.series.rings:
        return []
    parts = [heading(label("rings", language))]
    for ring in summary.series.rings:
        name = _ring_name(ring.name, language)
        points = [(float(point.step), point.mean) for point in ring.points]
        parts += [
            subheading(f"{label('filling', language)}: {name}"),
            line_chart(
                [Line("", points)],
                described=f"{label('filling', language)}: {name}",
                unit=label("ready_batches", language),
                highest=max(1.0, *(ready for _, ready in points)),
                x_labels=(
                    f"{label('step', language)} {points[0][0]:.0f}",
                    f"{points[-1][0]:.0f}",
                ),
            ),
        ]
    if summary.series.rings:
        parts.append(paragraph(label("about_filling", language)))
    if summary.rings:
        parts.append(_ring_table(summary, language))
    return parts


def _ring_table(summary: Summary, language: Language) -> str:
    names = ("ring", "depth", "occupancy", "producer_wait", "consumer_wait")
    rows = [
        (
            _ring_name(row.name, language),
            str(row.depth),
            said(row.occupancy, digits=1),
            f"{row.producer_wait:.2f} s",
            f"{row.consumer_wait:.2f} s",
        )
        for row in summary.rings
    ]
    return table([label(name, language) for name in names], rows)


def _ring_name(name: str, language: Language) -> str:
    known = label(f"ring {name}", language)
    return name if known == f"ring {name}" else known


def devices(summary: Summary, language: Language) -> list[str]:
    """Each GPU in figures and over time; what a card did not say is N/A."""
    head = heading(label("devices", language))
    if not summary.gpus and not summary.series.gpus:
        return [head, paragraph(f"GPU: {label('not_measured', language)}")]
    names = ("device", "role", "utilization", "memory", "power")
    rows = [
        (
            device_name(row, language),
            label(row.role, language),
            said(row.utilization, " %"),
            f"{said(row.memory_used_mb)} / {said(row.memory_total_mb)} MB",
            said(row.power_w, " W"),
        )
        for row in summary.gpus
    ]
    shown = table([label(name, language) for name in names], rows) if rows else ""
    charts = [
        part
        for metric in METRICS
        for part in _metric(
            [one for one in summary.series.gpus if one.metric == metric],
            summary.series.sampled,
            language,
        )
    ]
    return [head, shown, *charts]


def _metric(cards: Sequence[GpuSeries], span: tuple[float, float], language: Language) -> list[str]:
    """One metric of all cards on one chart, and which of them do not report it."""
    if not cards:
        return []
    metric = cards[0].metric
    told = [card for card in cards if card.points]
    silent = [f"GPU {card.index}: N/A" for card in cards if not card.points]
    parts = [subheading(label(metric, language))]
    if told:
        lost = [
            Mark(card.lost_at, label("lost_at", language).format(index=card.index))
            for card in told
            if card.lost_at is not None
        ]
        parts.append(
            line_chart(
                [Line(f"GPU {card.index}", card.points, card.index) for card in told],
                described=label(metric, language),
                unit=UNITS[metric],
                span=span,
                x_labels=(f"{span[0]:.0f} s", f"{span[1]:.0f} s"),
                highest=100.0 if metric == "utilization" else None,
                moments=lost,
            )
        )
    return [*parts, paragraph(", ".join(silent))] if silent else parts
