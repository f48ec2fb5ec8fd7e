"""Bars, lines and short labels as an SVG or a PNG file, without a plotting library.

An SVG follows the reader's light or dark colours and is read out by its title; a PNG is the same
picture in light colours, with letters of 3 x 5 dots. What is drawn is not decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

import numpy as np

from myxtts.tools.image import png

Kind = Literal["bar", "axis"]
Anchor = Literal["start", "middle", "end"]

_STYLE = (
    "svg{--text:#5b6470;--line:#d5d9df;--bar:#0369a1;background:#fff}"
    "@media(prefers-color-scheme:dark){svg{--text:#a3abb5;--line:#3a4149;--bar:#7cc4f5;"
    "background:#14171a}}"
    'text{fill:var(--text);font:13px system-ui,"Segoe UI",sans-serif}'
    ".bar{fill:var(--bar)}.axis{fill:var(--line)}"
)
_COLOURS = {"bar": (3, 105, 161), "axis": (213, 217, 223), "text": (91, 100, 112)}

# Five rows of three dots, each row a number from 0 to 7; capitals stand for both cases.
_GLYPHS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717",
    "6": "74757", "7": "71111", "8": "75757", "9": "75717", "A": "25755", "B": "65656",
    "C": "34443", "D": "65556", "E": "74647", "F": "74644", "G": "34553", "H": "55755",
    "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25563", "R": "65655", "S": "34216", "T": "72222",
    "U": "55557", "V": "55552", "W": "55775", "X": "55255", "Y": "55222", "Z": "71247",
    ".": "00002", ",": "00024", "-": "00700", "–": "00700", "/": "11244", " ": "00000",
}  # fmt: skip
_DOT = 2  # pixels of a PNG for each dot
_ADVANCE = 4 * _DOT


@dataclass(frozen=True)
class Box:
    """A filled rectangle, in pixels from the upper left corner."""

    x: float
    y: float
    width: float
    height: float
    kind: Kind
    title: str = ""
    """Shown when the mouse rests on it (SVG only)."""


@dataclass(frozen=True)
class Label:
    """A short text; `y` is its base line."""

    x: float
    y: float
    text: str
    anchor: Anchor = "start"


@dataclass(frozen=True)
class Drawing:
    """A picture and the sentence that stands for it where it cannot be seen."""

    width: int
    height: int
    described: str
    boxes: Sequence[Box]
    labels: Sequence[Label]


def to_svg(drawing: Drawing) -> bytes:
    """The picture as a file of its own."""
    boxes = "".join(
        f'<rect class="{box.kind}" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}">{_title(box.title)}</rect>'
        for box in drawing.boxes
    )
    labels = "".join(
        f'<text x="{label.x:.1f}" y="{label.y:.1f}" text-anchor="{label.anchor}">'
        f"{escape(label.text)}</text>"
        for label in drawing.labels
    )
    size = f"0 0 {drawing.width} {drawing.height}"
    content = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" role="img">'
        f"{_title(drawing.described)}<style>{_STYLE}</style>{boxes}{labels}</svg>\n"
    )
    return content.encode()


def to_png(drawing: Drawing) -> bytes:
    """The picture as pixels."""
    image = np.full((drawing.height, drawing.width, 3), 255, np.uint8)
    for box in drawing.boxes:
        rows = slice(round(box.y), max(round(box.y + box.height), round(box.y) + 1))
        image[rows, round(box.x) : max(round(box.x + box.width), round(box.x) + 1)] = _COLOURS[
            box.kind
        ]
    for label in drawing.labels:
        _write(image, label)
    return png(image)


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _write(image: np.ndarray, label: Label) -> None:
    length = len(label.text) * _ADVANCE
    left = round(label.x - {"start": 0, "middle": length / 2, "end": length}[label.anchor])
    top = round(label.y) - 5 * _DOT
    for number, letter in enumerate(label.text.upper()):
        rows = np.array([int(row) for row in _GLYPHS.get(letter, "00000")])
        dots = (rows[:, None] & np.array([4, 2, 1])) > 0
        y, x = np.nonzero(dots.repeat(_DOT, 0).repeat(_DOT, 1))
        y, x = y + top, x + left + number * _ADVANCE
        seen = (y >= 0) & (y < len(image)) & (x >= 0) & (x < image.shape[1])
        image[y[seen], x[seen]] = _COLOURS["text"]
