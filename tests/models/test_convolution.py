"""Convolutions with fewer products: the same numbers, as far as float32 goes."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from myxtts.models.convolution import MOST_TAPS, Convolution, convolved, few_products

RANDOM = np.random.default_rng(3)


def plain(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    return ops.conv(x, kernel, 1, "same")


@pytest.mark.parametrize("taps", range(2, MOST_TAPS + 1))
@pytest.mark.parametrize("length", [1, 4, 7, 10])
def test_outputs_and_gradients_are_those_of_a_plain_convolution(taps: int, length: int) -> None:
    x = tf.constant(RANDOM.normal(size=(2, length, 6)), tf.float32)
    kernel = tf.constant(RANDOM.normal(size=(taps, 6, 5)), tf.float32)
    weights = tf.constant(RANDOM.normal(size=(2, length, 5)), tf.float32)
    found = []
    for convolve in (convolved, plain):
        with tf.GradientTape() as tape:
            tape.watch([x, kernel])
            y = convolve(x, kernel)
            loss = tf.reduce_sum(y * weights)
        found.append([y, *tape.gradient(loss, [x, kernel])])
    for saving, expected in zip(*found, strict=True):
        np.testing.assert_allclose(saving, expected, atol=2e-4)


def layer(width: int = 64, *, stride: int = 1, dtype: str = "float32") -> Convolution:
    made = Convolution(width, 5, strides=stride, padding="same", activation="relu", dtype=dtype)
    made.build((None, None, width))
    return made


def products(made: Convolution, *, wanted: bool) -> bool:
    """Whether a traced call multiplies matrices in place of convolving."""

    def traced(x: tf.Tensor) -> tf.Tensor:
        with few_products(wanted):
            return made(x)

    signature = tf.TensorSpec((2, 12, made.kernel.shape[1]), made.compute_dtype)
    graph = tf.function(traced).get_concrete_function(signature).graph
    names = {node.op for node in graph.as_graph_def().node}
    return "Conv2D" not in names


def test_a_layer_saves_products_where_it_is_asked_to_and_it_pays() -> None:
    assert products(layer(), wanted=True)
    assert not products(layer(), wanted=False)
    assert not products(layer(32), wanted=True)
    assert not products(layer(stride=2), wanted=True)
    assert not products(layer(dtype="mixed_bfloat16"), wanted=True)


def test_a_layer_says_the_same_either_way() -> None:
    made = layer()
    made.bias.assign(RANDOM.normal(size=64))
    x = tf.constant(RANDOM.normal(size=(3, 50, 64)), tf.float32)
    with few_products(True):
        saving = made(x)
    np.testing.assert_allclose(saving, made(x), rtol=1e-4, atol=1e-5)
    assert saving.numpy().min() == 0  # the activation is there
