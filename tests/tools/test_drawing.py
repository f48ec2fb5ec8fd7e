import struct
import xml.etree.ElementTree as ElementTree
import zlib

import numpy as np

from myxtts.tools.drawing import Box, Drawing, Label, to_png, to_svg

PICTURE = Drawing(
    60, 40, "a <bar> & more", [Box(10, 10, 20, 15, "bar", "5 < 6")], [Label(40, 30, "1 & 2", "end")]
)


def pixels(content: bytes) -> np.ndarray:
    """The pixels of a PNG that `tools.image` wrote: one IDAT, no filter."""
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    at = content.index(b"IDAT")
    (length,) = struct.unpack(">I", content[at - 4 : at])
    rows = np.frombuffer(zlib.decompress(content[at + 4 : at + 4 + length]), np.uint8)
    return rows.reshape(height, 1 + 3 * width)[:, 1:].reshape(height, width, 3)


def test_svg_is_well_formed_and_escaped() -> None:
    root = ElementTree.fromstring(to_svg(PICTURE))
    assert root[0].text == "a <bar> & more"
    texts = [node.text for node in root.iter() if node.tag.endswith("text")]
    titles = [node.text for node in root.iter() if node.tag.endswith("title")]
    assert texts == ["1 & 2"]
    assert titles == ["a <bar> & more", "5 < 6"]


def test_png_has_the_bar_where_it_belongs() -> None:
    image = pixels(to_png(PICTURE))
    assert image.shape == (40, 60, 3)
    blue = (image == (3, 105, 161)).all(axis=2)
    rows, columns = np.nonzero(blue)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (10, 24, 10, 29)


def test_png_letters_differ() -> None:
    def written(text: str) -> bytes:
        return to_png(Drawing(40, 20, "", [], [Label(2, 15, text)]))

    letters = "0123456789abcdefghijklmnopqrstuvwxyz.,-/"
    assert len({written(letter) for letter in letters}) == len(letters)
    assert written("a") == written("A") != written(" ")


def test_labels_may_hang_over_the_edge() -> None:
    to_png(Drawing(20, 10, "", [], [Label(18, 4, "long label"), Label(1, 40, "below")]))
