import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from myxtts.config import DataConfig
from myxtts.data import buckets
from myxtts.data.buckets import Bucket
from myxtts.data.loader import HostBatch, Loader
from myxtts.data.prepare import PreparedCorpus, prepare
from myxtts.data.sampler import Sampler
from myxtts.errors import UserError

MakeCorpus = Callable[..., Path]


@pytest.fixture
def corpus(make_corpus: MakeCorpus, data: DataConfig) -> PreparedCorpus:
    return prepare(make_corpus(clips=26), data)


def loader(corpus: PreparedCorpus, data: DataConfig, **changes: object) -> Loader:
    changed = data.model_copy(update=changes)
    middle = int(np.median(corpus.frames)) // 8 * 8
    shapes = (Bucket(40, middle, 4), Bucket(64, 184, 3))
    assignment = buckets.assign(corpus.token_lengths, corpus.frames, shapes)
    return Loader(
        corpus, shapes, Sampler(assignment, shapes, corpus.speaker, 5), changed, reference_frames=72
    )


def assert_same(one: HostBatch, other: HostBatch, mel_tolerance: float = 0.0) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype == other[name].dtype, name
        np.testing.assert_allclose(
            one[name].astype(np.float64), other[name].astype(np.float64), atol=mel_tolerance
        )


def test_a_batch_holds_the_planned_clips(corpus: PreparedCorpus, data: DataConfig) -> None:
    source = loader(corpus, data)
    for step in range(source.batches_per_epoch):
        plan, batch = source.plan(step), source.load(step)
        np.testing.assert_array_equal(batch["clips"], plan.rows)
        np.testing.assert_array_equal(batch["noise_seeds"], plan.noise_seeds)
        for i, row in enumerate(plan.rows):
            start, stop = corpus.token_offsets[row : row + 2]
            length, frames = batch["token_lengths"][i], batch["mel_lengths"][i]
            np.testing.assert_array_equal(batch["tokens"][i, :length], corpus.tokens[start:stop])
            assert not batch["tokens"][i, length:].any()
            np.testing.assert_array_equal(batch["mels"][i, :frames], corpus.store.mel(row))
            assert not batch["mels"][i, frames:].any()
            reference = corpus.store.mel(plan.references[i])
            count = batch["reference_lengths"][i]
            assert count == min(72, len(reference))
            at = int(plan.reference_positions[i] * (max(0, len(reference) - 72) + 1))
            np.testing.assert_array_equal(batch["reference"][i, :count], reference[at : at + count])


@pytest.fixture
def live(make_corpus: MakeCorpus, data: DataConfig) -> PreparedCorpus:
    folder = make_corpus(clips=26, name="live")
    return prepare(folder, data.model_copy(update={"features": "live"}))


def test_a_live_batch_holds_the_pcm_of_the_same_frames(
    corpus: PreparedCorpus, live: PreparedCorpus, data: DataConfig
) -> None:
    """A batch of PCM, its mels computed, is the batch of stored mels, crops of references too."""
    cached, source, recipe = loader(corpus, data), loader(live, data), live.store.recipe
    np.testing.assert_array_equal(live.mel_mean, corpus.mel_mean)
    for step in range(source.batches_per_epoch):
        expected, batch = cached.load(step), source.load(step)
        assert batch["step"] == step
        assert batch["samples"].dtype == batch["reference_samples"].dtype == np.int16
        for pcm, mels, lengths in (
            ("samples", "mels", "mel_lengths"),
            ("reference_samples", "reference", "reference_lengths"),
        ):
            assert batch[pcm].shape[1] == (expected[mels].shape[1] + 3) * 256
            for i, length in enumerate(expected[lengths]):
                rows = batch[pcm][i].reshape(-1, 256)[: length + 3]
                np.testing.assert_array_equal(recipe.mels(rows), expected[mels][i, :length])
                assert not batch[pcm][i, (length + 3) * 256 :].any()
        assert source.padded_frames(batch) == cached.padded_frames(expected)
        same = set(expected) - {"mels", "reference"}
        for name in same:
            np.testing.assert_array_equal(batch[name], expected[name])


@pytest.mark.parametrize("native", [True, False])
def test_live_batches_come_the_same_way(
    live: PreparedCorpus, data: DataConfig, native: bool
) -> None:
    source = loader(live, data, use_tf_native_loading=native)
    batches = list(source.batches(2, 7))
    assert len(batches) == 5
    for step, batch in enumerate(batches, start=2):
        assert_same(batch, loader(live, data).load(step))
    ragged = loader(live, data, pad_to_fixed_length=False, use_tf_native_loading=native)
    assert len({batch["samples"].shape[1] for batch in ragged.batches(0, 6)}) > 2


@pytest.mark.parametrize("features", ["cached", "live"])
def test_a_batch_has_the_shapes_and_types_of_its_bucket(
    request: pytest.FixtureRequest, data: DataConfig, features: str
) -> None:
    source = loader(request.getfixturevalue("live" if features == "live" else "corpus"), data)
    seen = set()
    for step in range(source.batches_per_epoch):
        bucket = source._buckets[source.plan(step).bucket]
        seen.add(bucket)
        batch, empty = source.load(step), source.empty(bucket)
        for name, (shape, dtype) in source.signature(bucket).items():
            assert batch[name].shape == empty[name].shape == shape
            assert batch[name].dtype == empty[name].dtype == dtype
    assert len(seen) == 2


def test_tf_data_gives_the_same_batches_in_order(corpus: PreparedCorpus, data: DataConfig) -> None:
    source = loader(corpus, data, num_workers=4)
    batches = list(source.batches(3, 25))
    assert len(batches) == 22
    for step, batch in enumerate(batches, start=3):
        assert_same(batch, source.load(step))


def test_decoding_in_python_gives_the_same_numbers(
    corpus: PreparedCorpus, data: DataConfig
) -> None:
    native, python = loader(corpus, data), loader(corpus, data, use_tf_native_loading=False)
    assert "feature store" in native.path and "decoded" in python.path
    batches = list(python.batches(0, 6))
    assert len(batches) == 6
    for step, batch in enumerate(batches):
        assert_same(batch, native.load(step), mel_tolerance=5e-3)


def test_python_loading_really_decodes(corpus: PreparedCorpus, data: DataConfig) -> None:
    source = loader(corpus, data, use_tf_native_loading=False)
    shutil.rmtree(corpus.audio[0].parent)
    with pytest.raises(UserError, match="was usable when the corpus was prepared"):
        next(source.batches(0, 1))
    next(loader(corpus, data).batches(0, 1))  # the store does not need the audio


def test_without_fixed_length_a_batch_is_as_long_as_its_longest(
    corpus: PreparedCorpus, data: DataConfig
) -> None:
    source = loader(corpus, data, pad_to_fixed_length=False)
    lengths = set()
    for step, batch in enumerate(source.batches(0, source.batches_per_epoch)):
        longest = int(corpus.frames[source.plan(step).rows].max())
        assert batch["mels"].shape[1] == -(-longest // 8) * 8
        assert batch["tokens"].shape[1] - batch["token_lengths"].max() < 8
        lengths.add(batch["mels"].shape[1])
    assert len(lengths) > 2


def test_our_errors_come_through_tf_data_unchanged(
    corpus: PreparedCorpus, data: DataConfig
) -> None:
    source = loader(corpus, data)
    rows = source.plan(0).rows
    corpus.store.checksums[rows[0]] ^= 1
    with pytest.raises(UserError, match="feature store is damaged"):
        list(source.batches(0, 3))


def test_static_dimensions_are_known_to_tensorflow(
    corpus: PreparedCorpus, data: DataConfig
) -> None:
    spec = loader(corpus, data).dataset(0, 4).element_spec
    assert spec["mels"].shape.as_list() == [None, None, 80]
    assert spec["reference"].shape.as_list() == [None, 72, 80]


EXIT = """
import sys
from pathlib import Path
import numpy as np
from myxtts.config import DataConfig
from myxtts.data.buckets import Bucket
from myxtts.data.loader import Loader
from myxtts.data.prepare import prepare
from myxtts.data.sampler import Sampler
data = DataConfig(text_units="characters", language="en", num_workers=2)
corpus = prepare(Path(sys.argv[1]), data)
shapes = (Bucket(64, 184, 4),)
sampler = Sampler(np.zeros(len(corpus), np.int32), shapes, corpus.speaker, 0)
batches = Loader(corpus, shapes, sampler, data).batches(0)
next(batches)
sys.exit(7)
"""


def test_a_program_can_end_while_batches_are_being_loaded(make_corpus: MakeCorpus) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", EXIT, str(make_corpus(clips=8))]
    assert subprocess.run(command, env=environment, timeout=120, check=False).returncode == 7


@pytest.mark.parametrize("native", [True, False])
def test_close_ends_an_endless_iteration(
    corpus: PreparedCorpus, data: DataConfig, native: bool
) -> None:
    source = loader(corpus, data, use_tf_native_loading=native)
    iterator = source.batches(0)
    next(iterator)
    source.close()
    assert list(iterator) == []
    assert not [t for t in threading.enumerate() if t.name.startswith("loader")]
