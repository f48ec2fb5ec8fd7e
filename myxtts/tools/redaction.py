"""Takes out of texts what is nobody else's business: secrets, names and home folders.

A `Redactor` knows this machine (user, host, home, secret variables) and what secrets look like
anywhere. It counts what it removed, by kind, and never keeps it. Which texts are sent is `bundle`'s
decision.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

GONE = "<removed>"
SHORTEST_NAME = 3
SHORTEST_SECRET = 6
COMMON_NAMES = {"root", "user", "ubuntu", "admin", "localhost", "data", "model"}
"""Names that are also words of our own files."""

_SECRET_NAME = (
    r"[\w.-]*(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|credentials?|auth(?:orization)?)"
)
_NAMED = re.compile(
    rf"""(?ix) (["']?) \b ({_SECRET_NAME}) \1 (\s*[:=]\s*)
    (?: "(?:[^"\\]|\\.)*" | '[^']*' | (?:Bearer|Basic)\s+\S+ | [^\s,;}}\]&]+ )"""
)
_SHAPES = {
    "key": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S
    ),
    "token": re.compile(
        r"\b(?:hf_\w{8,}|gh[pousr]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|sk-[\w-]{8,}"
        r"|xox[abprs]-[\w-]{8,}|AKIA[0-9A-Z]{12,}|AIza[\w-]{20,}"
        r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+)"
    ),
    "password in an address": re.compile(r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)"),
    "e-mail address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
}
_HOMES = re.compile(r"(?:/home/|/Users/|[A-Z]:\\+Users\\+)[^/\\\s\"':,]+")


class Redactor:
    """Removes, and counts what it removed."""

    def __init__(
        self,
        variables: Mapping[str, str] | None = None,
        user: str | None = None,
        host: str | None = None,
        home: Path | None = None,
    ) -> None:
        """Those of this process, unless others are named."""
        told = dict(os.environ if variables is None else variables)
        self.removed: Counter[str] = Counter()
        self._home = str(home or Path.home())
        self._values = sorted(
            (value for name, value in told.items() if is_secret(name) and _long(value)),
            key=len,
            reverse=True,
        )
        names = {"user name": user or _user(), "host name": host or socket.gethostname()}
        self._names = {
            kind: re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.I)
            for kind, name in names.items()
            if len(name) >= SHORTEST_NAME and name.lower() not in COMMON_NAMES
        }

    def __call__(self, text: str) -> str:
        """The text without what is nobody else's business."""
        for value in self._values:
            text = self._replace(re.compile(re.escape(value)), GONE, text, "secret variable")
        for kind, shape in _SHAPES.items():
            text = self._replace(shape, GONE, text, kind)
        text, found = _NAMED.subn(rf'\1\2\1\3"{GONE}"', text)
        self.removed["secret setting"] += found
        if len(self._home) > 1:
            home = re.compile(rf"{re.escape(self._home)}(?=[/\\\s\"':,]|$)")
            text = self._replace(home, "~", text, "home path")
        text = self._replace(_HOMES, "~", text, "home path")
        for kind, name in self._names.items():
            text = self._replace(name, GONE, text, kind)
        return text

    def _replace(self, what: re.Pattern[str], by: str, text: str, kind: str) -> str:
        text, found = what.subn(by, text)
        self.removed[kind] += found
        return text


def is_secret(name: str) -> bool:
    """Whether the name of a setting or variable says that its value is a secret."""
    return re.fullmatch(rf"(?i){_SECRET_NAME}|[\w.-]*_key", name) is not None


def _long(value: str) -> bool:
    return len(value) >= SHORTEST_SECRET


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a process without an entry in the user database
        return ""
