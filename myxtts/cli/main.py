"""The `myxtts` command: gathers the families of commands and ends every run with a plain word.

A `UserError` is printed without a traceback (`--debug` shows it) and sets the exit code; Ctrl-C
ends with 130. The families import what they need inside their commands, so that help is instant.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from myxtts import __version__
from myxtts.cli import (
    configuration,
    corpus,
    demo,
    devices,
    evaluation,
    fixing,
    monitor,
    planning,
    profiling,
    sessions,
    speech,
    support,
    training,
)
from myxtts.cli import tuning as tuning_commands
from myxtts.errors import WRONG_USAGE, UserError

INTERRUPTED = 130

# Typer brings its parser along in some versions and imports it in others; its exceptions are
# reached through the one class that Typer exports in all of them.
ParserError: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)

app = typer.Typer(
    name="myxtts",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: long flags are never cut, and it starts faster
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Train a multilingual, voice-cloning speech model; find what keeps a GPU waiting.\n\n"
    "Start with: myxtts demo",
)
for family in (
    demo, corpus, training, speech, evaluation, devices, profiling, sessions, monitor,
    tuning_commands, planning, fixing, configuration, support,
):  # fmt: skip
    family.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"myxtts {__version__}")
        raise typer.Exit


@app.callback()
def common(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of errors.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Options before the command's name."""


def main(arguments: Sequence[str] | None = None, program: str | None = None) -> int:
    """Run one command; returns the exit code.

    `program` is the name of the thin file in front, if any: it is then the command's own name.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if "--debug" in arguments:  # allowed anywhere, as users type it at the end
        arguments = [word for word in arguments if word != "--debug"]
        os.environ["MYXTTS_DEBUG"] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        if program is None:
            outcome = app(arguments, standalone_mode=False)
        else:
            name, *words = arguments
            commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
            outcome = commands[name](words, prog_name=program, standalone_mode=False)
        return outcome if isinstance(outcome, int) else 0
    except typer.Exit as ending:
        if ending.exit_code == INTERRUPTED:  # how newer versions of Typer end on Ctrl-C
            print("Interrupted.", file=sys.stderr)
        return int(ending.exit_code)
    except ParserError as wrong:
        wrong.show()  # type: ignore[attr-defined]
        return WRONG_USAGE
    except (KeyboardInterrupt, typer.Abort):
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    except UserError as mistake:
        if os.environ.get("MYXTTS_DEBUG"):
            raise
        _print_mistake(mistake)
        return mistake.exit_code
    except BrokenPipeError:  # the reader of our output went away, e.g. `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _print_mistake(mistake: UserError) -> None:
    first, *rest = str(mistake).splitlines()
    colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    print(f"\033[1;31merror:\033[0m {first}" if colour else f"error: {first}", file=sys.stderr)
    for line in rest:
        print(line, file=sys.stderr)


def run() -> None:
    """The console script."""
    sys.exit(main())
