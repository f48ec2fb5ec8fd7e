"""`myxtts corpus check`, `myxtts demo-corpus` and `myxtts cache list | clear | verify`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from myxtts.cli.configuration import ConfigFile, Json
from myxtts.cli.console import print_json, stderr
from myxtts.errors import MUST_FIX

LISTED = 20
"""Problems of a kind on a terminal, unless all are asked for."""

CacheFolder = Annotated[
    Path, typer.Argument(help="A corpus folder, or the folder given as --cache-dir.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("demo-corpus")(demo_corpus)
    family = typer.Typer(no_args_is_help=True, help="Look at a corpus before training on it.")
    family.callback()(lambda: None)  # one command would otherwise stand for the whole family
    family.command("check")(check)
    app.add_typer(family, name="corpus")
    family = typer.Typer(no_args_is_help=True, help="Prepared text and features on the disk.")
    family.command("list")(list_caches)
    family.command("clear")(clear)
    family.command("verify")(verify)
    app.add_typer(family, name="cache")


def demo_corpus(
    folder: Annotated[Path, typer.Argument(help="A new folder for the corpus.")],
    clips: Annotated[int, typer.Option(help="How many clips.", min=2)] = 400,
    seed: Annotated[int, typer.Option(help="The same seed makes the same corpus.")] = 0,
) -> None:
    """Make a small corpus, English and Persian, spoken by espeak-ng in several voices.

    Example: myxtts demo-corpus corpus --clips 100
    """
    from myxtts.cli.live import display
    from myxtts.data import demo_corpus

    with display() as screen:
        demo_corpus.make(folder, clips=clips, seed=seed, progress=screen.preparing)
    stderr().print(f"{clips} clips in {folder}. Next: myxtts prepare {folder}", markup=False)


def check(
    folder: Annotated[Path, typer.Argument(help="Folder of the corpus.")],
    config: ConfigFile = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the lengths into this .svg or .png file.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="List every problem of every kind.")] = False,
    json: Json = False,
) -> None:
    """Count clips, hours, speakers and languages, and name every problem by file and line.

    Ends with 1 when a clip is lost or harmed. Writes nothing into the corpus.

    Example: myxtts corpus check LJSpeech-1.1 --plot lengths.svg
    """
    from myxtts.cli.live import display
    from myxtts.cli.training import load_settings
    from myxtts.data.corpus_check import check as check_corpus
    from myxtts.tools import corpus_report

    data = load_settings(config).data
    if plot is not None:
        corpus_report.check_plot_name(plot)
    if json:
        found = check_corpus(folder, data)
        print_json(corpus_report.document(found))
    else:
        with display() as screen:
            found = check_corpus(folder, data, screen.preparing)
        for line in corpus_report.lines(found, None if all_ else LISTED):
            typer.echo(line)
    if plot is not None:
        corpus_report.write_plot(found, plot)
        stderr().print(f"plot: {plot}", markup=False)
    if not found.good:
        raise typer.Exit(MUST_FIX)


def list_caches(folder: CacheFolder, json: Json = False) -> None:
    """List what was prepared from a corpus.

    Example: myxtts cache list LJSpeech-1.1
    """
    from myxtts.data import cache_admin

    entries = cache_admin.caches(folder)
    if json:
        print_json([asdict(entry) for entry in entries])
        return
    for entry in entries:
        state = "good" if entry.ok else "DAMAGED"
        typer.echo(f"{entry.name}  {entry.clips} clips  {entry.bytes / 1e6:.1f} MB  {state}")
    if not entries:
        typer.echo(f"nothing prepared in {folder}")


def clear(folder: CacheFolder, json: Json = False) -> None:
    """Remove what was prepared from a corpus; the corpus itself is not touched.

    Example: myxtts cache clear LJSpeech-1.1
    """
    from myxtts.data import cache_admin

    freed = cache_admin.clear(folder)
    if json:
        print_json({"freed_bytes": freed})
    else:
        typer.echo(f"freed {freed / 1e6:.1f} MB")


def verify(folder: CacheFolder, json: Json = False) -> None:
    """Check every byte of what was prepared against its checksum.

    Example: myxtts cache verify LJSpeech-1.1
    """
    from myxtts.data import cache_admin

    problems = cache_admin.verify(folder)
    if json:
        print_json({"good": not problems, "problems": problems})
    else:
        for problem in problems:
            typer.echo(f"✗ {problem}")
        if problems:
            typer.echo("damaged parts are rebuilt by the next: myxtts prepare FOLDER")
        else:
            typer.echo("✓ every checksum agrees")
    if problems:
        raise typer.Exit(MUST_FIX)
