"""Copies between devices: whole, or by another way, or not at all."""

import pytest
import tensorflow as tf

from myxtts.errors import UserError
from myxtts.telemetry import session
from myxtts.training import transfer
from myxtts.training.run import train
from myxtts.training.transfer import Route, arrives_whole, checked_route, on

from .conftest import Listening

PAIR = ("/CPU:0", "/CPU:1")


def zeros(tensor, target):
    """What some pairs of GPUs make of a direct copy."""
    with tf.device(target):
        return tf.zeros_like(tensor)


def test_a_whole_copy_goes_direct():
    assert checked_route(*PAIR) == Route(*PAIR, "direct")


@pytest.mark.parametrize("way", ["direct", "host"])
def test_a_batch_arrives_as_it_left(way):
    with tf.device(PAIR[0]):
        sent = {"mels": tf.random.normal((3, 5)), "rows": tf.range(7)}
    received = Route(*PAIR, way)(sent)
    for name, tensor in sent.items():
        assert on(received[name], PAIR[1])
        assert received[name].numpy().tobytes() == tensor.numpy().tobytes()


def test_a_copy_that_changes_bytes_or_stays_where_it_was_is_seen(monkeypatch):
    assert arrives_whole(*PAIR, "direct", 4096)
    monkeypatch.setattr(transfer, "direct", zeros)
    assert not arrives_whole(*PAIR, "direct", 4096)
    monkeypatch.setattr(transfer, "direct", lambda tensor, target: tensor)
    assert not arrives_whole(*PAIR, "direct", 4096)


def test_wrong_copies_take_the_hop_and_the_run_says_so(tiny_run, monkeypatch):
    expected = [step.loss for step in session.load(train(tiny_run(steps=4, dual=True))).steps]
    monkeypatch.setattr(transfer, "direct", zeros)
    display = Listening()
    run = session.load(train(tiny_run(steps=4, dual=True), display))
    assert [step.loss for step in run.steps] == expected
    assert next(run.of_kind("pipeline"))["copies"] == "host"
    assert any(
        "arrive changed, so batches go over the host's memory" in line for line in display.said
    )


def test_no_way_at_all_is_refused(monkeypatch):
    monkeypatch.setattr(transfer, "direct", zeros)
    monkeypatch.setattr(transfer, "over_host", zeros)
    with pytest.raises(UserError, match="arrive changed, even over the host") as refused:
        checked_route(*PAIR)
    assert "leave out --data-gpu" in refused.value.remedy
