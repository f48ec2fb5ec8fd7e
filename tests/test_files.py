"""Files are whole or not there."""

import errno
import os

import pytest

from myxtts.errors import UserError
from myxtts.files import explained, write_atomically


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "sub" / "a.bin"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path, monkeypatch):
    path = tmp_path / "a.bin"
    write_atomically(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="disk is full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_read_only_folder_is_explained(tmp_path):
    with pytest.raises(UserError, match="No right to write"), explained(tmp_path):
        raise PermissionError(errno.EACCES, "Permission denied")


def test_other_errors_are_left_alone(tmp_path):
    with pytest.raises(IsADirectoryError), explained(tmp_path):
        raise IsADirectoryError(errno.EISDIR, "Is a directory")
