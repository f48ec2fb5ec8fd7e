"""`myxtts doctor | bundle`: is the installation whole, and what a maintainer needs to help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from myxtts.cli.configuration import ConfigFile, Json, Lang
from myxtts.cli.console import print_json, stderr, stdout
from myxtts.cli.training import DEFAULT_FILES

if TYPE_CHECKING:
    from myxtts.tools.doctor import Checked

MARKS = {True: "[green]✓[/]", False: "[red]✗[/]", None: "[yellow]–[/]"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(doctor)
    app.command()(bundle)


def doctor(
    config: ConfigFile = None,
    train_data: Annotated[str | None, typer.Option(help="Corpus to look at.")] = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """Look over the installation: each part a mark, what it means and what to type.

    Example: myxtts doctor
    """
    from rich.markup import escape

    from myxtts.tools.doctor import examine, exit_code
    from myxtts.tools.doctor_words import VERDICT, label, meaning
    from myxtts.tools.environment import environment

    checks: list[Checked] = []
    console = stdout()
    for check in examine(environment(), _config(config), train_data):
        checks.append(check)
        if json:
            continue
        console.print(
            f"{MARKS[check.good]} [bold]{label(check.name, lang)}[/]: {escape(check.found)}"
        )
        if check.good is not True:
            console.print(f"    {meaning(check.name, lang)}")
            if check.do:
                console.print(f"    → {check.do}", markup=False)
    code = exit_code(checks)
    if json:
        print_json({"good": code == 0, "checks": [check.as_json(lang) for check in checks]})
    else:
        console.print(VERDICT[code == 0][lang])
    raise typer.Exit(code)


def bundle(
    run: Annotated[
        Path | None, typer.Argument(help="A run's folder; without it the newest below runs/.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The archive.")] = Path("help.zip"),
    config: ConfigFile = None,
    with_transcripts: Annotated[
        bool,
        typer.Option("--with-transcripts", help="Add the first sentences of the corpus, too."),
    ] = False,
    json: Json = False,
) -> None:
    """Pack what a maintainer needs into one archive, without secrets, names and home paths.

    Example: myxtts bundle runs/latest -o help.zip
    """
    from myxtts.errors import UsageError
    from myxtts.tools import bundle as packing
    from myxtts.tools.doctor import examine
    from myxtts.tools.environment import environment

    if run is not None and not run.exists():
        raise UsageError(f"There is no run {run}", remedy="name a run's folder or its run.jsonl")
    file, found = _config(config), environment()
    checks = [check.as_json() for check in examine(found, file, None)]
    files = packing.collect(
        found,
        checks,
        config=file,
        run=run or packing.last_run(Path("runs")),
        transcripts=_metadata(file) if with_transcripts else None,
    )
    manifest = packing.write(output, files)
    if json:
        print_json(manifest | {"archive": str(output)})
        return
    for entry in manifest["files"]:
        stdout().print(f"{entry['bytes']:>9,}  {entry['name']}", markup=False)
    removed = ", ".join(f"{count} × {kind}" for kind, count in manifest["removed"].items())
    stdout().print(f"removed: {removed or 'nothing'}", markup=False)
    stderr().print(f"written: {output}. Look through it before you send it.", markup=False)


def _config(named: Path | None) -> Path | None:
    return named or next((default for default in DEFAULT_FILES if default.is_file()), None)


def _metadata(config: Path | None) -> Path:
    """The file with the sentences of the configured corpus."""
    from myxtts.cli.training import load_settings
    from myxtts.errors import UsageError

    corpus = load_settings(config).data.train_data
    if corpus is None:
        raise UsageError(
            "No corpus is configured, so there are no transcripts to add",
            remedy="leave out --with-transcripts, or name a configuration with --config",
        )
    names = ("metadata.csv", "validated.tsv")
    return next((Path(corpus) / n for n in names if (Path(corpus) / n).is_file()), Path(corpus))
