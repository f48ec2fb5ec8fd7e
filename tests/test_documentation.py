"""The documentation says what the program does: pages, links, commands, flags and keys agree.

Every command line in a code block is parsed by the real command, so a renamed flag, a value out of
range or a missing argument fails here. Nothing is run and TensorFlow is not imported.
"""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from myxtts.cli.main import ParserError, app
from myxtts.config import known_keys
from myxtts.devices import DEFAULT_LIMITS_MB

ROOT = Path(__file__).resolve().parents[1]
ENGLISH = sorted((ROOT / "docs/en").glob("*.md"))
PERSIAN = sorted((ROOT / "docs/fa").glob("*.md"))
READMES = [ROOT / "README.md", ROOT / "README.fa.md"]
PAGES = [*READMES, *ENGLISH, *PERSIAN]
PAIRS = [(READMES[0], READMES[1]), *((page, ROOT / "docs/fa" / page.name) for page in ENGLISH)]

INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")
KEY = re.compile(r"((?:data|model|training)\.[a-z_0-9]+)(?:: .*)?")
FOREIGN = ("pip ", "nvidia-smi ", "git ", "python -m ", "tensorboard ")
"""How lines begin whose flags are not ours."""


def name(page: object) -> str:
    return str(page.relative_to(ROOT)) if isinstance(page, Path) else str(page)


def code_lines(page: Path) -> list[str]:
    """Lines of fenced and indented code blocks; a line ended by a backslash goes on in the next."""
    lines, fenced = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            lines.append(line.strip())
    return "\n".join(lines).replace("\\\n", " ").splitlines()


def inline_code(page: Path) -> list[str]:
    """What stands between single backticks, outside of fenced blocks."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    return INLINE.findall(prose)


@cache
def thin_files() -> dict[str, str]:
    """The files in front of commands: {"train_main.py": "train", …}."""
    files = [*ROOT.glob("*.py"), *ROOT.glob("*.sh"), *(ROOT / "utilities").glob("*.py")]
    found = {
        name(file): re.search(r'main\(\["([\w-]+)"', file.read_text(encoding="utf-8"))
        for file in files
    }
    return {file: match[1] for file, match in found.items() if match}


def our_words(line: str) -> list[str] | None:
    """The words after `myxtts` of a command of ours; None when the line is something else."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # an apostrophe in a line of output
        return None
    if words[:1] == ["myxtts"]:
        return words[1:]
    script = words[1:] if words[:1] == ["python"] else words if line.startswith("./") else []
    command = thin_files().get(script[0].removeprefix("./")) if script else None
    return [command, *script[1:]] if command else None


def commands(page: Path) -> Iterator[list[str]]:
    """The words of every command of ours in the code blocks."""
    for line in code_lines(page):
        for part in line.split(" && "):
            words = our_words(part)
            if words is not None:
                yield words


@cache
def program() -> Any:
    """The whole command line, as a tree of commands."""
    return typer.main.get_command(app)


def reached(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words lead to, and the words that are left for it."""
    command = program()
    while words and hasattr(command, "commands"):
        assert words[0] in command.commands, f"there is no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    return command, words


def flags_of(command: Any) -> set[str]:
    """All flags of a command, or of every command below it."""
    own = {flag for p in command.params for flag in (*p.opts, *p.secondary_opts)} | {"--help"}
    return own.union(*(flags_of(child) for child in getattr(command, "commands", {}).values()))


def flags_of_benchmarks() -> set[str]:
    """What the programs in benchmarks/ accept."""
    programs = [file.read_text(encoding="utf-8") for file in (ROOT / "benchmarks").glob("*.py")]
    return {flag for text in programs for flag in re.findall(r'add_argument\("(--[\w-]+)"', text)}


@pytest.mark.parametrize("page", ENGLISH, ids=name)
def test_every_english_page_has_a_persian_one(page: Path) -> None:
    assert (ROOT / "docs/fa" / page.name).is_file()


def test_no_persian_page_stands_alone() -> None:
    assert {page.name for page in PERSIAN} == {page.name for page in ENGLISH}


@pytest.mark.parametrize(("english", "persian"), PAIRS, ids=name)
def test_both_languages_show_the_same_commands_under_the_same_headings(
    english: Path, persian: Path
) -> None:
    assert list(commands(persian)) == list(commands(english))
    levels = [
        re.findall(r"^(#+) ", page.read_text(encoding="utf-8"), re.M) for page in (english, persian)
    ]
    assert levels[1] == levels[0]


@pytest.mark.parametrize("page", [READMES[1], *PERSIAN], ids=name)
def test_persian_pages_read_from_the_right(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith('<div dir="rtl">\n\n')
    assert text.endswith("\n\n</div>\n")
    assert text.count("<div") == text.count("</div>")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_lead_to_files(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    relative = [link for link in links if not re.match(r"\w+:|#", link)]
    missing = [link for link in relative if not (page.parent / link.partition("#")[0]).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_in_code_blocks_are_understood_by_the_program(page: Path) -> None:
    for words in commands(page):
        if words[:1] == ["--help"]:
            continue
        command, arguments = reached(words)
        arguments = [word for word in arguments if word != "--help"]
        try:
            command.make_context(" ".join(words), list(arguments))
        except ParserError as wrong:
            pytest.fail(f"{' '.join(words)}: {wrong}")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_and_flags_named_in_the_text_exist(page: Path) -> None:
    every_flag = flags_of(program()) | flags_of_benchmarks()
    for code in [*inline_code(page), *code_lines(page)]:
        words = our_words(code)
        if words is None:
            known = every_flag
        else:
            # `myxtts cache …` speaks of a family: placeholders are no commands.
            command, _ = reached([word for word in words if word not in ("…", "...", "--help")])
            known = flags_of(command) | {"--debug", "--version"}
        if not code.startswith(FOREIGN):
            assert set(FLAG.findall(code)) <= known, code


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_keys_named_in_the_text_exist(page: Path) -> None:
    named = {match[1] for code in inline_code(page) if (match := KEY.fullmatch(code))}
    assert named <= set(known_keys())


@pytest.mark.parametrize("language", ["en", "fa"])
def test_the_guide_shows_the_limits_that_the_program_chooses(language: str) -> None:
    rows = (ROOT / "docs" / language / "guide.md").read_text(encoding="utf-8").splitlines()
    for gigabytes, (data, model) in DEFAULT_LIMITS_MB.items():
        assert any(f"| {gigabytes} GB |" in row and f"| {data} | {model} |" in row for row in rows)


@pytest.mark.parametrize("page", READMES, ids=name)
def test_the_two_commands_stand_at_the_top(page: Path) -> None:
    top = [line.strip() for line in page.read_text(encoding="utf-8").splitlines()[:25]]
    assert "make demo" in top
    assert "make test" in top
