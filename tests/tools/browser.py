"""A page in headless Chromium: how it looks, and whether its texts overlap or are cut.

The page is put into a frame of the wanted width, since a window of the browser cannot be as narrow
as a phone's.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HEIGHT = 9000

# Texts whose boxes meet, leave the page or are wider than the box that clips them.
_PROBE = """
addEventListener('load', () => setTimeout(() => {
  const page = document.querySelector('iframe').contentDocument, faults = [];
  const root = page.documentElement, boxes = [];
  if (root.scrollWidth > root.clientWidth) faults.push('page is ' + root.scrollWidth + ' wide');
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    if (!node.textContent.trim() || node.parentElement.closest('title')) continue;
    const range = page.createRange(); range.selectNodeContents(node);
    for (const box of range.getClientRects())
      if (box.width > 1) boxes.push({box, text: node.textContent.trim().slice(0, 40), node});
  }
  const scrolls = node => node.parentElement.closest('.wide');
  for (const {box, text, node} of boxes)
    if (!scrolls(node) && (box.left < -1 || box.right > root.clientWidth + 1))
      faults.push('outside: ' + text);
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    if (boxes[i].node === boxes[j].node) continue;
    const a = boxes[i].box, b = boxes[j].box;
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const tall = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 2 && tall > 6) faults.push('overlap: ' + boxes[i].text + ' / ' + boxes[j].text);
  }
  for (const box of page.querySelectorAll('.wide'))
    if (box.scrollWidth > box.clientWidth + 1) faults.push('scrolls: ' + box.innerText);
  document.body.dataset.faults = JSON.stringify(faults);
  document.body.dataset.height = Math.ceil(page.body.getBoundingClientRect().bottom);
  document.body.dataset.texts = boxes.length;
}, 50));
"""


def faults(page: str, folder: Path, width: int) -> list[str]:
    """What is wrong with the layout of a page at this width; it must have texts at all."""
    dom = _chromium(_framed(page, folder, width), "--dump-dom")
    assert int(_data(dom, "texts")) > 20
    return list(json.loads(_data(dom, "faults")))


def picture(page: str, folder: Path, width: int, target: Path, *, dark: bool = False) -> None:
    """A PNG of the whole page."""
    file = _framed(page, folder, width)
    height = int(_data(_chromium(file, "--dump-dom"), "height"))
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    size = f"--window-size={max(width, 500)},{height + 16}"
    _chromium(file, f"--screenshot={target}", size, scheme, "--hide-scrollbars")


def _framed(page: str, folder: Path, width: int) -> Path:
    file = folder / f"framed-{width}.html"
    file.write_text(
        '<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        "<style>body{margin:0}iframe{border:0;display:block}</style>"
        f'<body><iframe width="{width}" height="{HEIGHT}" srcdoc="{escape(page)}"></iframe>'
        f"<script>{_PROBE}</script></body>",
        encoding="utf-8",
    )
    return file


def _chromium(file: Path, *flags: str) -> str:
    assert CHROMIUM is not None
    profile = file.with_suffix(".profile")
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
         f"--user-data-dir={profile}", *flags, file.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    shutil.rmtree(profile, ignore_errors=True)
    return done.stdout


def _data(dom: str, name: str) -> str:
    found = re.search(rf'data-{name}="([^"]*)"', dom)
    assert found is not None, "the page did not load"
    return unescape(found[1])
