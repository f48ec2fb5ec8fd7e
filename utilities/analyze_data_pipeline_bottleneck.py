"""Thin front of `myxtts analyze`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from myxtts.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["analyze", *sys.argv[1:]], Path(__file__).name))
