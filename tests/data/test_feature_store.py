from pathlib import Path

import numpy as np
import pytest

from myxtts.audio.mel import MelSettings
from myxtts.data.checked_file import Damaged
from myxtts.data.feature_store import FeatureStore
from myxtts.data.recipe import Recipe
from myxtts.data.shards import Content, Moments, StoredClip, checksum, read_shard, write_shard
from myxtts.errors import UserError

RECIPE = Recipe(mel=MelSettings(n_mels=16))
PCM = Recipe("pcm", MelSettings(n_mels=16))


def mels(count: int, seed: int = 0) -> list[np.ndarray]:
    draws = np.random.default_rng(seed)
    lengths = draws.integers(3, 40, count)
    return [draws.normal(-5, 2, (n, 16)).astype(np.float16) for n in lengths]


def pcm(count: int, seed: int = 0) -> list[np.ndarray]:
    draws = np.random.default_rng(seed)
    lengths = draws.integers(3, 40, count)
    return [draws.integers(-9000, 9000, (n + 3, 256)).astype(np.int16) for n in lengths]


def store(
    folder: Path, contents: list[list[np.ndarray]], recipe: Recipe = RECIPE, **options: bool
) -> FeatureStore:
    shards = []
    for index, content in enumerate(contents):
        stored = [
            Content(
                StoredClip(
                    f"{index}-{i}", 1, 2, "d", len(rows) - recipe.overlap, checksum(rows), ""
                ),
                rows,
                Moments.of(recipe.mels(rows)),
            )
            for i, rows in enumerate(content)
        ]
        write_shard(folder, index, stored, recipe)
        shards.append(read_shard(folder / f"shard-{index:05d}.json"))
    return FeatureStore(shards, recipe, **options)


@pytest.mark.parametrize("in_memory", [False, True])
def test_clips_come_back_bit_for_bit(tmp_path: Path, in_memory: bool) -> None:
    contents = [mels(5, 1), mels(7, 2)]
    opened = store(tmp_path, contents, in_memory=in_memory)
    for row, mel in enumerate(contents[0] + contents[1]):
        np.testing.assert_array_equal(opened.mel(row), mel)
    assert opened.frames.tolist() == [len(mel) for mel in contents[0] + contents[1]]


def test_pcm_lies_in_the_same_shards_and_its_mels_are_computed(tmp_path: Path) -> None:
    contents = [pcm(5, 1), pcm(7, 2)]
    opened = store(tmp_path, contents, PCM)
    assert opened.frames.tolist() == [len(rows) - 3 for rows in contents[0] + contents[1]]
    for row, rows in enumerate(contents[0] + contents[1]):
        np.testing.assert_array_equal(opened.rows(row), rows)
        np.testing.assert_array_equal(opened.mel(row), PCM.mels(rows))
    every = np.concatenate([PCM.mels(rows) for rows in contents[0] + contents[1]])
    np.testing.assert_allclose(opened.moments()[0], every.astype(np.float64).mean(0), rtol=1e-6)
    assert {path.suffix for path in tmp_path.iterdir()} == {".i16", ".json"}


@pytest.mark.parametrize("recipe", [RECIPE, PCM], ids=["mels", "pcm"])
def test_a_piece_is_the_frames_of_its_clip(tmp_path: Path, recipe: Recipe) -> None:
    content = mels(6) if recipe.kind == "mels" else pcm(6)
    whole = store(tmp_path, [content], recipe)
    first, frames = np.array([1, 0, 2], np.int32), np.array([2, 1, 1], np.int32)
    pieces = whole.select(np.array([4, 4, 0]), first, frames)
    assert pieces.frames.tolist() == [2, 1, 1]
    for row, position in enumerate((4, 4, 0)):
        expected = whole.mel(position)[first[row] : first[row] + frames[row]]
        np.testing.assert_array_equal(pieces.mel(row), expected)
    batch = pieces.gather(np.array([0, 2]), 8)
    assert batch.shape == (2, 8 + recipe.overlap, recipe.width)
    np.testing.assert_array_equal(batch[0, : 2 + recipe.overlap], pieces.rows(0))
    assert not batch[0, 2 + recipe.overlap :].any()


def test_a_crop_of_pcm_has_the_mels_of_the_whole(tmp_path: Path) -> None:
    opened = store(tmp_path, [pcm(4)], PCM)
    rows = np.array([3, 1])
    crop = opened.gather(rows, 2, np.array([1, 0]))
    np.testing.assert_array_equal(PCM.mels(crop[0]), opened.mel(3)[1:3])
    np.testing.assert_array_equal(PCM.mels(crop[1]), opened.mel(1)[:2])


def test_damage_is_found_through_a_piece(tmp_path: Path) -> None:
    """The checksum is the whole clip's, so a piece finds damage anywhere in it."""
    content = mels(2)
    opened = store(tmp_path, [content])
    (data,) = tmp_path.glob("*.f16")
    flip_one_bit(data, 2)
    piece = opened.select(np.array([0]), np.array([2], np.int32), np.array([1], np.int32))
    with pytest.raises(UserError, match="damaged"):
        piece.mel(0)


def test_in_memory_needs_no_file_any_more(tmp_path: Path) -> None:
    opened = store(tmp_path, [mels(3)], in_memory=True)
    assert not any(isinstance(part, np.memmap) for part in opened._rows_of)


def test_gather_pads_with_zeros_and_crops_from_starts(tmp_path: Path) -> None:
    content = mels(6)
    opened = store(tmp_path, [content])
    rows = np.array([4, 0, 4])
    batch = opened.gather(rows, 48)
    for i, row in enumerate(rows):
        np.testing.assert_array_equal(batch[i, : len(content[row])], content[row])
        assert not batch[i, len(content[row]) :].any()
    crop = opened.gather(rows, 2, np.array([1, 0, 1]))
    np.testing.assert_array_equal(crop[0], content[4][1:3])
    np.testing.assert_array_equal(crop[1], content[0][:2])


def test_selected_rows_are_the_chosen_clips(tmp_path: Path) -> None:
    content = mels(6)
    chosen = store(tmp_path, [content]).select(np.array([5, 2]))
    assert len(chosen) == 2
    np.testing.assert_array_equal(chosen.mel(0), content[5])
    np.testing.assert_array_equal(
        chosen.gather(np.array([1]), 40)[0, : len(content[2])], content[2]
    )


def test_mean_and_deviation_are_those_of_all_frames(tmp_path: Path) -> None:
    contents = [mels(5, 1), mels(7, 2)]
    mean, deviation = store(tmp_path, contents).moments()
    frames = np.concatenate(contents[0] + contents[1]).astype(np.float64)
    np.testing.assert_allclose(mean, frames.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(deviation, frames.std(axis=0), rtol=1e-5)
    assert mean.dtype == deviation.dtype == np.float32


def test_a_bin_that_never_changes_has_a_deviation_above_zero(tmp_path: Path) -> None:
    silent = [np.full((9, 16), -11.5, np.float16)]
    _, deviation = store(tmp_path, [silent]).moments()
    assert (deviation > 0).all()


def flip_one_bit(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def test_a_flipped_bit_is_found_when_the_clip_is_read(tmp_path: Path) -> None:
    content = mels(6)
    opened = store(tmp_path, [content])
    (data,) = tmp_path.glob("*.f16")
    flip_one_bit(data, 2 * 16 * len(content[0]) + 5)  # in the second clip
    np.testing.assert_array_equal(opened.mel(0), content[0])
    with pytest.raises(UserError, match="feature store is damaged") as error:
        opened.gather(np.array([0, 1]), 40)
    assert "run the same command again" in error.value.remedy
    assert data.with_name(data.name + ".damaged").exists()
    with pytest.raises(Damaged, match="missing"):
        read_shard(tmp_path / "shard-00000.json")


def test_verify_names_every_damaged_clip(tmp_path: Path) -> None:
    content = mels(6)
    opened = store(tmp_path, [content])
    assert opened.verify() == []
    (data,) = tmp_path.glob("*.f16")
    flip_one_bit(data, 3)
    (problem,) = opened.verify()
    assert data.name in problem and "clip number 0" in problem


def test_a_shard_of_the_wrong_size_is_not_opened(tmp_path: Path) -> None:
    store(tmp_path, [mels(4)])
    (data,) = tmp_path.glob("*.f16")
    data.write_bytes(data.read_bytes()[:-2])
    with pytest.raises(Damaged, match="bytes"):
        read_shard(tmp_path / "shard-00000.json")


def test_a_changed_description_is_not_believed(tmp_path: Path) -> None:
    store(tmp_path, [mels(4)])
    path = tmp_path / "shard-00000.json"
    path.write_text(path.read_text().replace('"id":["0-0"', '"id":["9-9"'))
    with pytest.raises(Damaged, match="checksum"):
        read_shard(path)


def test_a_description_cannot_name_a_file_elsewhere(tmp_path: Path) -> None:
    """Even with a right checksum: only the file name counts, in the same folder."""
    from myxtts.data.checked_file import read_json, write_json

    inner = tmp_path / "inner"
    store(inner, [mels(2)])
    path = inner / "shard-00000.json"
    body = read_json(path)
    (inner / body["data"]).rename(tmp_path / body["data"])
    write_json(path, {**body, "data": f"../{body['data']}"})
    with pytest.raises(Damaged, match="missing"):
        read_shard(path)
