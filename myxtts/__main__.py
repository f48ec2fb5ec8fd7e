"""`python -m myxtts`."""

from myxtts.cli.main import run

run()
