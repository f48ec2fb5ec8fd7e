"""The validation share: the same clips always, and no clip on both sides."""

import numpy as np
import pytest

from myxtts.config import Config
from myxtts.data.held_out import held_out, split
from myxtts.data.prepare import prepare
from myxtts.errors import UserError
from myxtts.training.corpus import open_data
from myxtts.training.progress import Silent


def test_a_clip_is_held_out_by_its_id_alone():
    ids = [f"LJ{number:05d}" for number in range(20_000)]
    small = [held_out(clip, 0.05) for clip in ids]
    assert 0.045 < np.mean(small) < 0.055
    large = [held_out(clip, 0.2) for clip in ids]
    assert all(in_large for in_small, in_large in zip(small, large, strict=True) if in_small)
    assert not any(held_out(clip, 0.0) for clip in ids)


def test_pieces_of_a_clip_stay_on_one_side():
    sides = [{held_out(f"clip{n}{piece}", 0.5) for piece in ("", "#1", "#2")} for n in range(50)]
    assert all(len(side) == 1 for side in sides)
    assert {True} in sides and {False} in sides


def test_both_sides_together_are_the_corpus(small_corpus):
    whole = prepare(small_corpus, Config().data)
    trained, kept = split(whole, 0.25)
    assert sorted(trained.clip_ids + kept.clip_ids) == sorted(whole.clip_ids)
    assert len(kept) > 0 and all(held_out(clip, 0.25) for clip in kept.clip_ids)
    for side in (trained, kept):
        for row, clip in enumerate(side.clip_ids):
            origin = whole.clip_ids.index(clip)
            assert side.texts[row] == whole.texts[origin]
            assert side.speaker[row] == whole.speaker[origin]
            assert side.language[row] == whole.language[origin]
            ours = side.tokens[slice(*side.token_offsets[row : row + 2])]
            np.testing.assert_array_equal(
                ours, whole.tokens[slice(*whole.token_offsets[origin : origin + 2])]
            )
            np.testing.assert_array_equal(side.store.mel(row), whole.store.mel(origin))


def test_training_never_sees_a_held_out_clip(small_corpus):
    config = Config().replaced(
        {
            "data.train_data": str(small_corpus),
            "data.batch_size": 4,
            "training.validation_share": 0.25,
        }
    )
    data = open_data(config, Silent())
    steps = range(data.loader.batches_per_epoch)
    trained = {data.prepared.clip_ids[row] for step in steps for row in data.loader.plan(step).rows}
    references = {
        data.prepared.clip_ids[row] for step in steps for row in data.loader.plan(step).references
    }
    assert not any(held_out(clip, 0.25) for clip in trained | references)
    assert len(trained) == len(data.prepared)
    assert data.validation is not None and data.validation.batches_per_epoch > 0


def test_a_share_that_holds_no_clip_is_refused(small_corpus):
    with pytest.raises(UserError, match=r"validation share of 1e-06 does not divide 24 clips"):
        split(prepare(small_corpus, Config().data), 1e-6)
