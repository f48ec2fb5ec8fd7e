"""`myxtts evaluate`."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from myxtts.cli.configuration import Json
from myxtts.cli.console import print_json, stderr, stdout
from myxtts.cli.profiling import Lang
from myxtts.errors import COULD_NOT_MEASURE

if TYPE_CHECKING:
    from myxtts.config import DataConfig
    from myxtts.tools.catalogue import Language
    from myxtts.tools.evaluate import Outcome


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(evaluate)


def evaluate(
    checkpoint: Annotated[
        Path, typer.Option("--checkpoint", help="A run's folder, or one of its checkpoints.")
    ] = Path("runs/latest"),
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Recordings to compare with: a corpus folder, or a file of text|wav lines; "
            "the run's validation corpus when not given.",
        ),
    ] = None,
    clips: Annotated[int, typer.Option("--clips", help="How many clips at most.", min=1)] = 50,
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            help="The voice to speak in; another clip of each clip's speaker when not given.",
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="Only clips in this language.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for page, figures and sound.")
    ] = Path("evaluation"),
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """Let a model say what recordings say, and judge both: words, voice, timbre, pitch, time.

    Ends with 3 when a judge is not installed; everything else is measured all the same.

    Example: myxtts evaluate --checkpoint demo/run --data demo/corpus --clips 24
    """
    from myxtts.cli.live import display
    from myxtts.synthesis import Speaker
    from myxtts.tools import evaluate as evaluation
    from myxtts.tools import evaluation_clips

    speaker = Speaker(checkpoint)
    source = data or _validation(speaker.config.data)
    if speaker.config.data.train_data == str(source):
        stderr().print(f"note: the model was trained on {source}: these clips are not new to it")
    found = evaluation_clips.read(source)
    settings = speaker.config.data
    trials = evaluation_clips.choose(found, settings, speaker.languages, clips, language)
    evaluation.fresh_folder(output)
    with nullcontext() if json else display() as screen:
        outcome = evaluation.evaluate(
            speaker,
            trials,
            output,
            checkpoint=checkpoint,
            data=source,
            reference=reference,
            progress=None if screen is None else screen.preparing,
        )
    page = evaluation.write(outcome, output, lang)
    if json:
        print_json(outcome.document() | {"page": str(page)})
    else:
        _show(outcome, lang)
        stdout().print(f"look and listen: {page}", markup=False)
    if outcome.evaluation.incomplete:
        raise typer.Exit(COULD_NOT_MEASURE)


def _validation(data: DataConfig) -> Path:
    from myxtts.errors import UsageError

    if data.val_data is None:
        raise UsageError(
            "There are no recordings to compare with",
            received="--data was not given, and the run had no validation corpus",
            remedy="--data FOLDER, a corpus that the model was not trained on",
        )
    return Path(data.val_data)


def _show(outcome: Outcome, lang: Language) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from myxtts.tools import evaluation_text

    console = stdout()
    first, *others = evaluation_text.columns(lang)
    for title, figures in evaluation_text.groups(outcome.evaluation, lang):
        table = Table(box=SIMPLE_HEAD, title=title, title_justify="left")
        table.add_column(first)
        for heading in others:
            table.add_column(heading, justify="right")
        for row in evaluation_text.rows(figures, lang):
            table.add_row(*row)
        console.print(table)
    for gap in outcome.evaluation.not_measured:
        remedy = f"  ({gap.remedy})" if gap.remedy else ""
        console.print(evaluation_text.missing(gap, lang) + remedy, markup=False)
    for clip, reason in outcome.skipped.items():
        stderr().print(f"warning: clip {clip} was not judged: {reason}", markup=False)
