import numpy as np
import pytest

from myxtts.config import DataConfig
from myxtts.data.buckets import Bucket, assign, beyond, choose, useful_share
from myxtts.errors import UserError


def corpus(clips: int = 4000, longest: int = 870) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(0)
    frames = np.clip(draws.normal(560, 190, clips), 96, longest).astype(np.int32)
    return (frames // 5).astype(np.int32), frames


def test_eight_shapes_keep_nine_tenths_useful() -> None:
    tokens, frames = corpus()
    shapes = choose(tokens, frames, DataConfig())
    share = useful_share(frames, assign(tokens, frames, shapes), shapes)
    assert len(shapes) <= 8
    assert share >= 0.90
    for shape in shapes:
        assert shape.text_length % 8 == 0 and shape.mel_frames % 8 == 0


def test_the_search_finds_the_best_bounds() -> None:
    """Against all pairs of bounds tried one by one."""
    tokens, frames = corpus(clips=600, longest=400)
    data = DataConfig(max_buckets=2, batch_size=1)
    shapes = choose(tokens, frames, data)
    edges = np.unique(-(-frames // 8) * 8)

    def share(bounds: list[int]) -> float:
        tried = [Bucket(4096, bound, 1) for bound in bounds]
        return useful_share(frames, assign(tokens, frames, tried), tried)

    best = max(share([int(edge), int(edges[-1])]) for edge in edges[:-1])
    found = share([shape.mel_frames for shape in shapes])
    # Batch sizes of 2 and more for short clips add a filler row at the end, hence the margin.
    assert found >= best - 0.005


def test_batches_of_all_shapes_carry_about_the_same_frames() -> None:
    tokens, frames = corpus()
    shapes = choose(tokens, frames, DataConfig(batch_size=16))
    carried = np.array([shape.batch_size * shape.mel_frames for shape in shapes])
    assert carried.max() / carried.min() < 1.15
    median = shapes[assign(np.zeros(1), np.median(frames, keepdims=True), shapes)[0]]
    assert median.batch_size == 16


def test_every_clip_fits_its_shape() -> None:
    tokens, frames = corpus(clips=777)
    shapes = choose(tokens, frames, DataConfig())
    assignment = assign(tokens, frames, shapes)
    assert (frames <= np.array([s.mel_frames for s in shapes])[assignment]).all()
    assert (tokens <= np.array([s.text_length for s in shapes])[assignment]).all()


def test_a_small_corpus_gets_fewer_shapes() -> None:
    tokens, frames = corpus(clips=24)
    assert len(choose(tokens, frames, DataConfig(batch_size=4))) == 1
    tokens, frames = corpus(clips=300)
    assert 1 < len(choose(tokens, frames, DataConfig(batch_size=16))) <= 2


def test_fewer_clips_than_a_batch_make_a_smaller_batch() -> None:
    tokens, frames = corpus(clips=3)
    (shape,) = choose(tokens, frames, DataConfig(batch_size=16))
    assert shape.batch_size == 3


def test_single_shape_is_the_configured_one_and_grows_for_long_clips() -> None:
    data = DataConfig(static_shapes="single", batch_size=2)
    short = np.array([10, 20, 30], np.int32), np.array([100, 200, 300], np.int32)
    assert choose(*short, data) == (Bucket(200, 800, 2),)
    long = np.array([10, 20, 30], np.int32), np.array([100, 200, 901], np.int32)
    assert choose(*long, data) == (Bucket(200, 904, 2),)


def test_long_clips_extend_or_are_refused_by_name(caplog: pytest.LogCaptureFixture) -> None:
    tokens = np.array([10, 20, 30], np.int32)
    frames = np.array([100, 200, 901], np.int32)
    ids = ["a", "b", "long-one"]
    with caplog.at_level("INFO"):
        (shape,) = choose(tokens, frames, DataConfig(), ids)
    assert shape.mel_frames == 904
    assert "long-one (30 x 901)" in caplog.text
    assert beyond(tokens, frames, DataConfig()).tolist() == [2]
    with pytest.raises(UserError, match="refuse") as refusal:
        choose(tokens, frames, DataConfig(long_clips="refuse"), ids)
    assert "long-one" in str(refusal.value)


def test_one_enormous_clip_does_not_inflate_the_others() -> None:
    tokens, frames = corpus(clips=2000)
    frames[7] = 30_000
    shapes = choose(tokens, frames, DataConfig())
    assert shapes[-1].mel_frames >= 30_000
    assert shapes[-1].batch_size == 1
    assert shapes[-2].mel_frames < 1000


def test_a_clip_that_fits_no_shape_is_an_error() -> None:
    with pytest.raises(UserError, match="1 clips are longer"):
        assign(np.array([5, 5]), np.array([50, 500]), (Bucket(8, 56, 2),))
