"""A recommended change: shown, applied with a backup, comments kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from myxtts import config_file
from myxtts.errors import UsageError
from myxtts.tools.change_file import apply, diff

TEXT = "# mine\ndata:\n  batch_size: 4  # small\n  num_workers: 1\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(TEXT)
    return path


def test_the_diff_shows_the_change_and_changes_nothing(file: Path) -> None:
    shown = diff(file, {"data.batch_size": 16})
    assert "-  batch_size: 4  # small" in shown
    assert "+  batch_size: 16 # small" in shown or "+  batch_size: 16  # small" in shown
    assert file.read_text() == TEXT
    assert diff(file, {}) == ""
    assert diff(file, {"data.batch_size": 4}) == ""


def test_applying_keeps_comments_and_every_backup(file: Path) -> None:
    first = apply(file, {"data.batch_size": 16})
    second = apply(file, {"data.num_workers": 2})
    assert first.read_text() == TEXT
    assert "batch_size: 16" in second.read_text()
    assert file.read_text().startswith("# mine\n") and "# small" in file.read_text()
    settings = config_file.load(file)
    assert (settings.data.batch_size, settings.data.num_workers) == (16, 2)


def test_an_impossible_change_leaves_everything_as_it_was(file: Path) -> None:
    with pytest.raises(UsageError):
        apply(file, {"data.data_gpu": 0})
    assert file.read_text() == TEXT
    assert list(file.parent.iterdir()) == [file]
