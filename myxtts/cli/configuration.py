"""`myxtts config show | check | init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from myxtts.cli.console import print_json, stderr, stdout

ConfigFile = Annotated[Path | None, typer.Option("--config", help="Configuration file (YAML).")]
Lang = Annotated[
    Literal["en", "fa"], typer.Option("--lang", help="Language of findings and summaries.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def register(app: typer.Typer) -> None:
    """Add the `config` family."""
    family = typer.Typer(no_args_is_help=True, help="Look at, check and write configurations.")
    family.command()(show)
    family.command()(check)
    family.command()(init)
    app.add_typer(family, name="config")


def show(
    key: Annotated[str | None, typer.Argument(help="One key, e.g. data.batch_size.")] = None,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Print all settings, or explain one.

    Example: myxtts config show data.pipeline_depth
    """
    from myxtts import config_file
    from myxtts.config import Config, documentation, sections

    settings = Config() if config is None else config_file.load(config)
    if key is not None and key not in dict(sections()):
        sentence = documentation(key)
        section, _, field = key.partition(".")
        value = getattr(getattr(settings, section), field)
        if json:
            print_json({"key": key, "value": value, "meaning": sentence})
        else:
            stdout().print(f"{key}: {value}\n  {sentence}", markup=False)
        return
    tree = settings.model_dump()
    if json:
        print_json(tree if key is None else tree[key])
    else:
        text = config_file.template(settings)
        if key is not None:
            text = text[text.index(f"\n{key}:") + 1 :].split("\n\n")[0] + "\n"
        typer.echo(text, nl=False)


def check(
    file: Annotated[Path, typer.Argument(help="The configuration file to check.")],
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """Check a configuration: known keys, right types, possible combinations.

    Example: myxtts config check configs/config.yaml
    """
    from myxtts import config_file
    from myxtts.errors import UsageError
    from myxtts.tools.validation_words import said

    try:
        config_file.load(file)
    except UsageError as wrong:
        if not json:
            raise
        print_json({"file": str(file), "good": False, "problem": str(wrong)})
        raise typer.Exit(wrong.exit_code) from None
    if json:
        print_json({"file": str(file), "good": True})
    else:
        stdout().print(f"{file}: {said('good', lang)}", markup=False)


def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("config.yaml"),
    stdout: Annotated[bool, typer.Option("--stdout", help="Print it instead.")] = False,
) -> None:
    """Write a configuration with every key, its default and what it does.

    Example: myxtts config init my.yaml
    """
    from myxtts import config_file
    from myxtts.config import Config
    from myxtts.errors import UsageError

    if stdout:
        typer.echo(config_file.template(Config()), nl=False)
        return
    if file.exists():
        raise UsageError(
            f"{file} exists already",
            follows="it is not overwritten",
            remedy="name another file, or use --stdout",
        )
    config_file.save(Config(), file)
    stderr().print(f"written: {file}. Next: python train_main.py --config {file}", markup=False)
