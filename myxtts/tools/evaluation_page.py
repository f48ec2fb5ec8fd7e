"""An evaluation as one HTML page: figures, how they spread over the clips, some clips to hear."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import partial
from html import escape
from pathlib import Path

from myxtts.audio.decode import decode
from myxtts.audio.mel import MelSettings, log_mel
from myxtts.evaluation.summary import METRICS, Evaluation, JudgedClip
from myxtts.text.languages import LANGUAGES
from myxtts.tools import evaluation_text, report_page
from myxtts.tools.catalogue import Language
from myxtts.tools.drawing import to_svg
from myxtts.tools.evaluation_plots import histograms
from myxtts.tools.image import spectrogram_png
from myxtts.tools.words import word

SHOWN = 3
"""Clips of each language that the page plays: their sound is inside it."""


def render(
    evaluation: Evaluation,
    sounds: Mapping[str, tuple[Path, Path]],
    skipped: Mapping[str, str],
    subject: str,
    language: Language,
) -> str:
    """The whole page.

    `sounds` are the WAV files of a clip, the model's and the source's; `skipped` are clips that
    could not be judged, each with its reason.
    """
    body = [report_page.paragraph(subject), report_page.paragraph(word("about_source", language))]
    columns = evaluation_text.columns(language)
    for title, figures in evaluation_text.groups(evaluation, language):
        body.append(report_page.heading(title))
        body.append(report_page.table(columns, evaluation_text.rows(figures, language)))
    for gap in evaluation.not_measured:
        line = evaluation_text.missing(gap, language)
        body.append(report_page.card("note", "", line, code=gap.remedy))
    if skipped:
        listed = "; ".join(f"{clip}: {reason}" for clip, reason in skipped.items())
        body.append(report_page.card("advice", word("skipped_clips", language), listed))
    body.append(report_page.heading(word("distributions", language)))
    body += _plots(evaluation, language)
    body.append(report_page.heading(word("listen", language)))
    for code in evaluation.languages:
        clips = [clip for clip in evaluation.clips if clip.language == code][:SHOWN]
        body += [_player(clip, *sounds[clip.name], language) for clip in clips]
    return report_page.page(word("evaluation", language), body, language)


def _plots(evaluation: Evaluation, language: Language) -> list[str]:
    images = []
    for metric in METRICS:
        sides = [clip.values[metric] for clip in evaluation.clips if metric in clip.values]
        if not sides or metric == "nearest_speaker":  # of each clip it is yes or no
            continue
        drawing = histograms(
            word(metric, language),
            [
                (word("model", language), [side.model for side in sides]),
                (word("source", language), [side.source for side in sides]),
            ],
            partial(evaluation_text.amount, metric),
        )
        images.append(_image(to_svg(drawing), "image/svg+xml", drawing.described))
    return images


def _player(clip: JudgedClip, model: Path, source: Path, language: Language) -> str:
    direction = "rtl" if LANGUAGES[clip.language].right_to_left else "ltr"
    parts = [
        f'<figure class="card"><figcaption lang="{clip.language}" dir="{direction}">'
        f"{escape(clip.text)}</figcaption>"
    ]
    for name, wav in (("model", model), ("source", source)):
        sound = base64.b64encode(wav.read_bytes()).decode()
        # An image has the width of its sound, so that the two can be compared.
        settings = MelSettings()
        picture = spectrogram_png(log_mel(decode(wav, settings.sample_rate), settings), scale=1)
        label = word(name, language)
        parts.append(
            f"<p>{escape(label)}<br>"
            f'<audio controls src="data:audio/wav;base64,{sound}"></audio></p>'
            + _image(picture, "image/png", label)
        )
    for recognizer, heard in clip.heard.items():
        parts.append(
            f'<p class="soft" dir="ltr">{escape(recognizer)}: {escape(heard.model)} · '
            f"{escape(word('source', language))}: {escape(heard.source)}</p>"
        )
    return "".join([*parts, "</figure>"])


def _image(content: bytes, kind: str, described: str) -> str:
    encoded = base64.b64encode(content).decode()
    return (
        f'<img alt="{escape(described)}" style="max-width:100%" src="data:{kind};base64,{encoded}">'
    )
