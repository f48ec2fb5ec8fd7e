"""A file of texts to a folder of sounds, one for each line.

A line is a text, or `name|text`, `name|text|language`, `name|text|language|speaker`. A line that
cannot be said is reported by its number and costs the others nothing. What is there already is not
said again, so that a run that was stopped goes on where it was. Names are file names and nothing
else: no line writes outside the folder.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from myxtts.audio.encode import SUFFIXES, write_sound
from myxtts.data.corpora.text_lines import Line, read_lines
from myxtts.errors import UserError
from myxtts.synthesis.request import Request, Speech
from myxtts.synthesis.script import Script
from myxtts.synthesis.speaker import Progress, Speaker

LINES_AT_ONCE = 32
"""Said together and then written: what an interruption can cost."""
LONGEST_NAME = 200
"""Bytes; a file system's limit is 255, and a file in the making has a longer name."""


@dataclass(frozen=True)
class Job:
    """One line, and the file that it becomes."""

    number: int
    path: Path
    request: Request


@dataclass(frozen=True)
class BadLine:
    """A line that was left out."""

    number: int
    reason: str


@dataclass
class Outcome:
    """What became of the lines."""

    spoken: list[Path] = field(default_factory=list)
    skipped: list[Path] = field(default_factory=list)
    """There already."""
    bad: list[BadLine] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    speech_seconds: float = 0.0
    work_seconds: float = 0.0


def read_jobs(file: Path, folder: Path, like: Request) -> tuple[list[Job], list[BadLine]]:
    """The jobs of a file, each with the settings of `like`; and the lines that are none."""
    jobs: list[Job] = []
    bad: list[BadLine] = []
    first: dict[str, int] = {}  # names as a file system that ignores case sees them
    for line in read_lines(file, "the file"):
        if not line.text.strip() and not line.problem:
            continue
        try:
            job = _job(line, folder, like)
            seen = first.setdefault(_same_name(job.path.name), line.number)
            if seen != line.number:
                raise _Refused(f"line {seen} has the name {job.path.name} already")
            jobs.append(job)
        except (_Refused, UserError) as error:
            bad.append(BadLine(line.number, _one_line(error)))
    return jobs, bad


def speak_jobs(
    speaker: Speaker,
    jobs: Sequence[Job],
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Say every job and write its file; `progress` counts lines."""
    outcome = Outcome()
    waiting = []
    for job in jobs:
        if not force and job.path.is_file():
            outcome.skipped.append(job.path)
        else:
            waiting.append(job)
    report = progress or (lambda *_: None)
    report(len(outcome.skipped), len(jobs))
    for first in range(0, len(waiting), LINES_AT_ONCE):
        some = waiting[first : first + LINES_AT_ONCE]
        started = time.perf_counter()
        ready = list(_prepared(speaker, some, outcome))
        speeches = speaker.perform([script for _, script in ready])
        outcome.work_seconds += time.perf_counter() - started
        for (job, _), speech in zip(ready, speeches, strict=True):
            _keep(job, speech, outcome)
        report(len(outcome.skipped) + first + len(some), len(jobs))
    outcome.bad.sort(key=lambda line: line.number)
    return outcome


def _prepared(
    speaker: Speaker, jobs: Sequence[Job], outcome: Outcome
) -> Iterator[tuple[Job, Script]]:
    for job in jobs:
        try:
            yield job, speaker.prepare(job.request)
        except UserError as error:
            outcome.bad.append(BadLine(job.number, _one_line(error)))


def _keep(job: Job, speech: Speech, outcome: Outcome) -> None:
    try:
        write_sound(job.path, speech.samples, speech.sample_rate)
    except (IsADirectoryError, NotADirectoryError) as error:
        reason = f"{job.path} cannot be written: {error.strerror}"
        outcome.bad.append(BadLine(job.number, reason))
        return
    outcome.spoken.append(job.path)
    outcome.speech_seconds += speech.seconds
    outcome.notices += [f"line {job.number}: {notice}" for notice in speech.notices]


class _Refused(Exception):
    """The reason why a line cannot be used."""


def _job(line: Line, folder: Path, like: Request) -> Job:
    if line.problem:
        raise _Refused(line.problem)
    fields = [part.strip() for part in line.text.split("|")]
    if len(fields) == 1:
        return Job(line.number, folder / f"{line.number:05d}.wav", replace(like, text=fields[0]))
    if len(fields) > 4:
        raise _Refused(f"{len(fields)} columns; name|text|language|speaker has at most four")
    name, text, language, speaker = (*fields, "", "")[:4]
    if not text:
        raise _Refused("no text")
    request = replace(like, text=text, language=language or like.language)
    if speaker:
        request = replace(request, speaker=speaker, reference=None)
    return Job(line.number, folder / _file_name(name), request)


def _file_name(name: str) -> str:
    """A name with an ending that can be written, inside the folder whatever it says."""
    if not name:
        raise _Refused("no name before the first |")
    if any(sign in name for sign in "/\\\0") or name.startswith("."):
        raise _Refused(f"{name!r} is no plain file name: no slashes, no dot at the beginning")
    if not name.isprintable():
        raise _Refused(f"{name!r} holds characters that no file name should have")
    if not name.lower().endswith(SUFFIXES):
        name += SUFFIXES[0]
    if len(name.encode()) > LONGEST_NAME:
        raise _Refused(f"the name is longer than {LONGEST_NAME} bytes: {name[:40]}…")
    return name


def _same_name(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _one_line(error: Exception) -> str:
    first, *rest = str(error).splitlines()
    hint = next((line.split(":", 1)[1].strip() for line in rest if "try:" in line), "")
    return f"{first} ({hint})" if hint else first
