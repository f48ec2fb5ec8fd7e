import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from myxtts.config import DataConfig
from myxtts.data import cache_admin
from myxtts.data.prepare import cache_folder, prepare
from myxtts.errors import UserError

MakeCorpus = Callable[..., Path]


def test_list_names_each_cache_with_size_and_clips(
    make_corpus: MakeCorpus, data: DataConfig
) -> None:
    folder = make_corpus(clips=5)
    prepare(folder, data)
    prepare(folder, data.model_copy(update={"n_mels": 20}))
    entries = cache_admin.caches(folder)
    assert [entry.name.split()[0] for entry in entries] == ["text", "mels", "mels"]
    assert all(entry.clips == 5 and entry.ok and entry.bytes > 100 for entry in entries)
    assert cache_admin.caches(folder / ".myxtts") == entries


def test_all_corpora_of_a_shared_cache_folder_are_listed(
    make_corpus: MakeCorpus, data: DataConfig, tmp_path: Path
) -> None:
    shared = data.model_copy(update={"cache_dir": str(tmp_path / "cache")})
    for name in ("a", "b"):
        prepare(make_corpus(clips=3, name=name), shared)
    assert len(cache_admin.caches(tmp_path / "cache")) == 4


def test_verify_finds_every_kind_of_damage(make_corpus: MakeCorpus, data: DataConfig) -> None:
    folder = make_corpus(clips=5)
    prepare(folder, data)
    assert cache_admin.verify(folder) == []
    for pattern in ("*.f16", "*.bin"):
        (path,) = cache_folder(folder, data).rglob(pattern)
        content = bytearray(path.read_bytes())
        content[7] ^= 1
        path.write_bytes(content)
    problems = cache_admin.verify(folder)
    assert len(problems) == 2
    assert any(".f16" in problem for problem in problems)
    assert any(".bin" in problem for problem in problems)
    assert [entry.ok for entry in cache_admin.caches(folder)] == [False, True]


def test_clear_frees_what_was_listed_and_it_can_be_prepared_again(
    make_corpus: MakeCorpus, data: DataConfig
) -> None:
    folder = make_corpus(clips=5)
    fingerprint = prepare(folder, data).fingerprint
    listed = sum(entry.bytes for entry in cache_admin.caches(folder))
    assert cache_admin.clear(folder) == listed
    assert cache_admin.caches(folder) == []
    assert len(list((folder / "wavs").iterdir())) == 5
    assert prepare(folder, data).fingerprint == fingerprint


def test_clear_touches_only_our_files_and_follows_no_link(
    make_corpus: MakeCorpus, data: DataConfig, tmp_path: Path
) -> None:
    folder = make_corpus(clips=3)
    prepare(folder, data)
    cache = cache_folder(folder, data)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "shard-00000.json").write_text("precious")
    (cache / "mels" / "0123456789abcdef").symlink_to(outside)
    (cache / "shard-00009.json").symlink_to(outside / "shard-00000.json")
    (cache / "notes.txt").write_text("mine")
    (cache / "photos").mkdir()
    (cache / "photos" / "shard-00001.json").write_text("mine too")
    cache_admin.clear(folder)
    assert (outside / "shard-00000.json").read_text() == "precious"
    assert (cache / "notes.txt").exists()
    assert (cache / "photos" / "shard-00001.json").exists()
    assert not list(cache.rglob("*.f16"))


def test_a_folder_without_our_marker_is_not_cleared(tmp_path: Path) -> None:
    (tmp_path / ".myxtts").mkdir()
    (tmp_path / ".myxtts" / "text-00.json").write_text("{}")
    with pytest.raises(UserError, match="no cache of ours"):
        cache_admin.clear(tmp_path)
    assert (tmp_path / ".myxtts" / "text-00.json").exists()
    assert cache_admin.caches(tmp_path) == []


def test_the_second_preparation_waits_for_the_first(tmp_path: Path) -> None:
    order: list[str] = []
    entered, leave = threading.Event(), threading.Event()

    def first() -> None:
        with cache_admin.locked(tmp_path):
            entered.set()
            leave.wait(10)
            order.append("first")

    def second() -> None:
        with cache_admin.locked(tmp_path):
            order.append("second")

    one, other = threading.Thread(target=first), threading.Thread(target=second)
    one.start()
    assert entered.wait(10)
    other.start()
    other.join(0.1)
    assert other.is_alive()
    leave.set()
    one.join()
    other.join()
    assert order == ["first", "second"]
