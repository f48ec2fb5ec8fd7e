"""What a run shows of itself: TensorBoard's curves, pictures and sound, and the spoken files."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
import tensorflow as tf

from myxtts.config import Config
from myxtts.telemetry import session
from myxtts.training.run import train
from myxtts.training.samples import Sample, alignment_picture, mels_picture


@pytest.fixture(scope="module")
def run(thin, tmp_path_factory) -> Path:
    """A run of eight steps, heard twice and validated twice."""
    return train(
        Config().replaced(
            thin
            | {
                "data.max_buckets": 2,
                "training.max_steps": 8,
                "training.report_interval": 4,
                "training.validation_share": 0.3,
                "training.validation_interval": 4,
                "training.sample_interval": 4,
                "training.output_dir": str(tmp_path_factory.mktemp("heard") / "run"),
            }
        )
    )


@pytest.fixture(scope="module")
def events(run: Path) -> dict[str, dict[int, object]]:
    """tag -> step -> value, read back from the event files."""
    files = [str(path) for path in (run / "tensorboard").iterdir()]
    found: dict[str, dict[int, object]] = {}
    for record in tf.data.TFRecordDataset(files).as_numpy_iterator():
        event = tf.compat.v1.Event.FromString(record)
        for value in event.summary.value:
            found.setdefault(value.tag, {})[event.step] = value
    return found


def test_curves_are_those_of_the_reports(run, events):
    recorded = session.load(run)
    for report in recorded.of_kind("report"):
        step = report["step"]
        for name, loss in report["losses"].items():
            assert events[f"loss/{name}"][step].simple_value == pytest.approx(loss)
        rate = events["training/learning rate"][step].simple_value
        assert rate == pytest.approx(report["learning_rate"]) and rate > 0
        for tag, key in (
            ("training/steps per second", "steps_per_second"),
            ("training/useful frames per second", "useful_frames_per_second"),
        ):
            assert events[tag][step].simple_value == pytest.approx(report[key])
        waited = events["training/data wait, percent"][step].simple_value
        assert waited == pytest.approx(100 * report["wait_share"])
    assert {"loss/total", "loss/mel", "loss/prior", "loss/duration"} <= set(events)
    for event in recorded.of_kind("validation"):
        shown = events["validation/total"][event["step"]].simple_value
        assert shown == pytest.approx(event["loss"])


@pytest.mark.parametrize("language", ["en", "fa"])
def test_every_language_is_heard_and_seen(run, events, language):
    for step in (4, 8):
        wav = run / "samples" / f"step-{step:08d}" / f"{language}.wav"
        samples, rate = soundfile.read(wav)
        assert rate == 22050 and len(samples) > 1000 and np.abs(samples).max() > 0
        audio = events[f"speech/{language}"][step].audio
        assert audio.encoded_audio_string == wav.read_bytes()
        assert (audio.sample_rate, audio.length_frames) == (rate, len(samples))
        mels = events[f"mels/{language} (clip above, model below)"][step].image
        picture = tf.io.decode_png(mels.encoded_image_string).numpy()
        assert picture.shape == (mels.height, mels.width, 1) == (162, mels.width, 1)
        assert picture[80:82].min() == 255 and len(np.unique(picture[:80])) > 20
        alignment = events[f"alignment/{language}"][step].image
        path = tf.io.decode_png(alignment.encoded_image_string).numpy()[..., 0]
        assert (np.count_nonzero(path, axis=0) == 1).all()  # each frame belongs to one token


def test_samples_are_accounted_for(run):
    recorded = session.load(run)
    assert [event["step"] for event in recorded.of_kind("samples")] == [4, 8]
    assert recorded.accounts["validating"] > 0
    assert sum(recorded.accounts.values()) == pytest.approx(recorded.end["wall"], rel=1e-3)


def test_pictures_stand_upright():
    sample = Sample(
        language="en",
        clip="a",
        text="a",
        target=np.array([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]),
        predicted=np.array([[2.0, 1.0, 0.0]]),
        alignment=np.array([0, 0, 1]),
        tokens=2,
        samples=np.zeros(1, np.float32),
    )
    mels = mels_picture(sample)
    assert mels.shape == (3 + 2 + 3, 2)
    assert mels[0, 0] > mels[2, 0]  # high pitch above low pitch
    assert mels[5, 0] < mels[7, 0] and (mels[5:, 1] == 0).all()
    np.testing.assert_array_equal(alignment_picture(sample), [[0, 0, 1], [1, 1, 0]])


def test_without_an_interval_nothing_is_spoken(tiny_run):
    folder = train(tiny_run(steps=2))
    assert not (folder / "samples").exists()
    assert list((folder / "tensorboard").iterdir())
