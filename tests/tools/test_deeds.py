"""What to do is said in both languages."""

import ast
from collections.abc import Iterator
from pathlib import Path

from myxtts import tools
from myxtts.tools import catalogue
from myxtts.tools.findings import Change


def told() -> Iterator[str]:
    """Every text that a tool writes in place of keys or a command."""
    for path in Path(tools.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Change":
                for keyword in node.keywords:
                    if keyword.arg == "command" and isinstance(keyword.value, ast.Constant):
                        yield keyword.value.value


def test_every_sentence_has_a_translation() -> None:
    written = set(told())
    assert len(written) > 5
    assert written <= set(catalogue.deeds())


def test_keys_and_commands_stay_as_they_are_typed() -> None:
    for change in (Change({"data.pipeline_depth": 8}), Change(command="myxtts report runs/one")):
        assert catalogue.deed(change, "fa") == catalogue.deed(change, "en") == str(change)
