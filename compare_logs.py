"""Thin front of `myxtts compare`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from myxtts.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["compare", *sys.argv[1:]], Path(__file__).name))
