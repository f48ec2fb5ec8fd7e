"""Each change of the sound: what it does, to what, and that it comes from (seed, step) alone."""

import numpy as np
import pytest

from myxtts.audio.mel import MelSettings
from myxtts.config import Config, ModelConfig
from myxtts.training.augmentation import Augmentation
from myxtts.training.live_features import LiveFeatures
from myxtts.training.preprocess import Preprocessor

ROWS, FRAMES, REFERENCE = 4, 24, 32
LENGTHS = np.array([24, 10, 18, 24], np.int32)
REFERENCE_LENGTHS = np.array([32, 32, 14, 32], np.int32)


def batch(step: int = 0) -> dict[str, np.ndarray]:
    draws = np.random.default_rng(0)

    def noise(frames: int) -> np.ndarray:
        return draws.integers(-6000, 6000, (ROWS, (frames + 3) * 256)).astype(np.int16)

    return {
        "samples": noise(FRAMES),
        "mel_lengths": LENGTHS,
        "reference_samples": noise(REFERENCE),
        "reference_lengths": REFERENCE_LENGTHS,
        "language": np.zeros(ROWS, np.int32),
        "step": np.array(step, np.int64),
    }


def preprocessor(seed: int = 1, **settings: object) -> Preprocessor:
    data = Config().replaced({f"data.{k}": v for k, v in settings.items()} | LIVE).data
    augmentation = Augmentation(data, seed)
    zeros, ones = np.zeros(80), np.ones(80)
    live = LiveFeatures(MelSettings())
    return Preprocessor("/CPU:0", zeros, ones, ModelConfig(), live, augmentation)


LIVE = {"data.features": "live"}
PLAIN = preprocessor()


def changes(one: Preprocessor, step: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """What is added to the log-mels of clips and of references."""
    before, after = PLAIN(batch(step)), one(batch(step))
    return tuple(np.asarray(after[k]) - np.asarray(before[k]) for k in ("mels", "reference"))


def test_without_settings_nothing_changes() -> None:
    clip, reference = changes(preprocessor())
    assert not clip.any() and not reference.any()
    assert not Augmentation(Config().data, 0).active


def test_gain_changes_a_clip_and_its_reference_alike() -> None:
    clip, reference = changes(preprocessor(augment_gain_db=6.0))
    gains = clip[:, 0, 0]
    for row in range(ROWS):
        inside = slice(0, LENGTHS[row])
        np.testing.assert_allclose(clip[row, inside], gains[row], atol=1e-4)
        np.testing.assert_allclose(reference[row, : REFERENCE_LENGTHS[row]], gains[row], atol=1e-4)
        assert not clip[row, LENGTHS[row] :].any()
    assert len(set(gains.round(4).tolist())) == ROWS
    assert (np.abs(gains) <= 6.0 * np.log(10) / 20 + 1e-4).all()


def test_noise_is_added_to_references_at_the_given_level() -> None:
    clip, reference = changes(preprocessor(augment_noise_snr_db=0.0))
    assert not clip.any()
    # At 0 dB the noise is as strong as the sound: twice the power, 0.35 in the logarithm.
    for row in range(ROWS):
        assert reference[row, 2 : REFERENCE_LENGTHS[row] - 2].mean() == pytest.approx(0.35, abs=0.1)
    _, softer = changes(preprocessor(augment_noise_snr_db=20.0))
    assert 0 < np.abs(softer).mean() < 0.3 * np.abs(reference).mean()


@pytest.mark.parametrize(
    ("setting", "axis"), [("augment_time_mask", 1), ("augment_frequency_mask", 2)]
)
def test_masks_hide_one_stretch_of_each_reference(setting: str, axis: int) -> None:
    hiding = preprocessor(**{setting: 6})
    widths = []
    for step in range(12):
        after = hiding(batch(step))
        np.testing.assert_array_equal(after["mels"], PLAIN(batch(step))["mels"])
        hidden = np.asarray(after["reference"]) == 0
        for row in range(ROWS):
            inside = hidden[row, : REFERENCE_LENGTHS[row]]
            line = inside.all(axis=2 - axis)  # along the masked axis
            assert (inside == np.expand_dims(line, 2 - axis)).all()
            places = np.flatnonzero(line)
            assert len(places) == 0 or places[-1] - places[0] + 1 == len(places)
            widths.append(len(places))
    assert set(widths) == set(range(7))


def test_changes_come_from_seed_and_step_alone() -> None:
    settings = {
        "augment_gain_db": 6.0,
        "augment_noise_snr_db": 10.0,
        "augment_time_mask": 6,
        "augment_frequency_mask": 6,
    }
    one, other = preprocessor(**settings), preprocessor(**settings)
    first = one(batch(3))
    one(batch(4))
    for name in ("mels", "reference"):
        np.testing.assert_array_equal(first[name], other(batch(3))[name])
        np.testing.assert_array_equal(first[name], one(batch(3))[name])
        assert (np.asarray(first[name]) != np.asarray(one(batch(4))[name])).any()
        different = preprocessor(seed=2, **settings)(batch(3))[name]
        assert (np.asarray(first[name]) != np.asarray(different)).any()


def test_what_is_measured_is_not_augmented() -> None:
    augmenting = preprocessor(augment_gain_db=12.0, augment_time_mask=8)
    for name, tensor in PLAIN(batch(1)).items():
        np.testing.assert_array_equal(augmenting.plainly(batch(1))[name], tensor)
