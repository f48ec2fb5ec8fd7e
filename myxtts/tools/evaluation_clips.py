"""Which clips an evaluation judges, and whose voice the model is shown for each.

Clips come from a corpus folder in any form that training reads, or from a text file of one
`text|wav` a line. The same arguments choose the same clips.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from myxtts.config import DataConfig
from myxtts.data.corpora import list_corpus
from myxtts.data.corpora.clip import ONLY_SPEAKER, Clip
from myxtts.data.corpora.text_lines import read_lines
from myxtts.errors import UserError
from myxtts.text.languages import detect

_HEADER = ("text", "wav")


@dataclass(frozen=True)
class Trial:
    """A clip to judge."""

    clip: Clip
    language: str
    reference: Path | None
    """Another clip of the same speaker; None: there is none."""


def read(data: Path) -> list[Clip]:
    """The clips of a corpus folder, or of a file with lines `text|wav`."""
    clips = _pairs(data) if data.is_file() else list_corpus(data).clips
    first = {clip.id: clip for clip in reversed(clips)}  # of lines with one name the first counts
    return [clip for clip in clips if first[clip.id] is clip]


def choose(
    clips: Sequence[Clip], data: DataConfig, spoken: Sequence[str], count: int,
    language: str | None = None,
) -> list[Trial]:  # fmt: skip
    """At most `count` clips in the languages `spoken`, speakers and languages taking turns.

    References are other clips of the speaker, if possible such as are not judged themselves.
    """
    languages = {clip: _language(clip, data) for clip in clips if clip.text.strip()}
    wanted = [
        clip for clip, code in languages.items() if code in spoken and language in (None, code)
    ]
    if not wanted:
        found = ", ".join(sorted(set(languages.values()))) or "no clip with a text"
        raise UserError(
            "There is no clip to judge",
            received=f"languages of the clips: {found}; asked for: {language or 'any'}",
            follows=f"the checkpoint speaks {', '.join(spoken)}",
        )
    turns: defaultdict[tuple[str, str], int] = defaultdict(int)
    order = []
    for clip in wanted:
        group = clip.speaker, languages[clip]
        order.append((turns[group], clip))
        turns[group] += 1
    judged = [clip for _, clip in sorted(order, key=lambda entry: entry[0])[:count]]
    references = _references(judged, clips)
    return [
        Trial(clip, languages[clip], reference)
        for clip, reference in zip(judged, references, strict=True)
    ]


def _references(judged: Sequence[Clip], clips: Sequence[Clip]) -> list[Path | None]:
    of_speaker: defaultdict[str, list[Path]] = defaultdict(list)
    taken = set(judged)
    clips = [clip for clip in clips if clip.audio.is_file()]  # a missing clip is nobody's voice
    for clip in sorted(clips, key=lambda clip: clip in taken):  # stable: unjudged ones first
        of_speaker[clip.speaker].append(clip.audio)
    unjudged = {
        speaker: sum(clip.speaker == speaker for clip in clips if clip not in taken)
        for speaker in of_speaker
    }
    turns: defaultdict[str, int] = defaultdict(int)
    found: list[Path | None] = []
    for clip in judged:
        pool = of_speaker[clip.speaker]
        pool = pool[: unjudged.get(clip.speaker, 0)] or [
            audio for audio in pool if audio != clip.audio
        ]
        found.append(pool[turns[clip.speaker] % len(pool)] if pool else None)
        turns[clip.speaker] += 1
    return found


def _language(clip: Clip, data: DataConfig) -> str:
    if clip.language or data.language != "auto":
        return clip.language or data.language
    return detect(clip.text, data.languages)


def _pairs(path: Path) -> list[Clip]:
    clips = []
    for line in read_lines(path):
        text, _, audio = (part.strip() for part in line.text.rpartition("|"))
        if not line.text.strip() or (line.number == 1 and (text, audio) == _HEADER):
            continue
        if line.problem or not text or not audio:
            raise UserError(
                f"{path}, line {line.number}: {line.problem or 'a line must be text|wav'}",
                received=line.beginning,
                remedy="Good morning.|recordings/morning.wav, paths from the file's own folder",
            )
        name = f"line {line.number}"
        where = path.parent / audio
        clips.append(Clip(name, where, text, ONLY_SPEAKER, None, line.number, path))
    return clips
