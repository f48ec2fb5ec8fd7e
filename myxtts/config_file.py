"""Configuration files: YAML in and out, comments kept.

`load` reads a file into a checked `Config`; `template` writes the whole tree with the sentence of
each key as a comment; `set_values` changes single keys of an existing file and leaves everything
else of it, comments and order, as it was. What the keys mean is `config`'s business.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from myxtts.config import Config, documentation, parse, sections
from myxtts.errors import UsageError
from myxtts.files import write_atomically


def load(path: Path) -> Config:
    """Read and check a configuration file."""
    tree = _round_trip_tree(path)
    return parse(_plain(tree), str(path), dict(_lines(tree)))


def template(config: Config) -> str:
    """The whole configuration as YAML, every key under the sentence that explains it."""
    out = ["# MyXTTS configuration. Flags on the command line override single keys."]
    for name, section in sections():
        out += ["", f"# {section.__doc__}", f"{name}:"]
        for field in section.model_fields:
            out.append(f"  # {documentation(f'{name}.{field}')}")
            out.append(f"  {field}: {_scalar(getattr(getattr(config, name), field))}")
    return "\n".join(out) + "\n"


def set_values(path: Path, values: Mapping[str, Any]) -> str:
    """The file's text with dotted keys changed; checked, but not written."""
    tree = _round_trip_tree(path)
    for key, value in values.items():
        section, field = key.split(".")
        tree.setdefault(section, CommentedMap())[field] = value
    parse(_plain(tree), str(path))
    stream = io.StringIO()
    _yaml().dump(tree, stream)
    return stream.getvalue()


def save(config: Config, path: Path) -> None:
    """Write the whole configuration, commented, in one atomic step."""
    write_atomically(path, template(config).encode())


def _yaml() -> YAML:
    yaml = YAML(typ="rt")  # the round-trip loader builds plain data only: no object is ever made
    yaml.preserve_quotes = True
    yaml.width = 4096
    return yaml


def _round_trip_tree(path: Path) -> CommentedMap:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError(
            f"There is no configuration file {path}",
            received=os.fspath(path),
            remedy=f"myxtts config init {path}",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"Cannot read {path}: {error}", remedy="check the file and its rights"
        ) from None
    try:
        tree = _yaml().load(text)
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        place = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise UsageError(
            f"{path}{place} is not valid YAML: {problem}",
            remedy="compare it with: myxtts config init --stdout",
        ) from None
    if tree is None:
        return CommentedMap()
    if not isinstance(tree, CommentedMap):
        raise UsageError(
            f"{path} must hold sections (data:, model:, training:)",
            received=f"a {type(tree).__name__}",
            remedy="compare it with: myxtts config init --stdout",
        )
    return tree


def _plain(node: Any) -> Any:
    """Round-trip nodes as the plain types that the typed tree checks."""
    if isinstance(node, Mapping):
        return {str(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    for kind in (bool, int, float, str):
        if isinstance(node, kind):
            return kind(node)
    return node


def _lines(tree: CommentedMap, prefix: str = "") -> Iterator[tuple[str, int]]:
    for key, value in tree.items():
        yield f"{prefix}{key}", tree.lc.key(key)[0] + 1
        if isinstance(value, CommentedMap):
            yield from _lines(value, f"{prefix}{key}.")


def _scalar(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(str(item) for item in value) + "]"
    if isinstance(value, str):
        return value if value.replace("_", "").isalnum() else json.dumps(value, ensure_ascii=False)
    return "null" if value is None else json.dumps(value)
