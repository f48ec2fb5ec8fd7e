"""Memory is handed out again when the last view of an array is gone, and never before."""

import threading

import numpy as np

from myxtts.data.batch_memory import BatchMemory


def test_an_array_has_the_shape_and_type_asked_for_and_begins_where_tensorflow_wants_it():
    memory = BatchMemory()
    for shape in [(3, 5, 7), (1,), (32, 880, 80), (4, 0, 80)]:
        array = memory.empty(shape, np.float16)
        assert array.shape == shape and array.dtype == np.float16
        assert array.flags.writeable and array.flags.c_contiguous
        assert array.ctypes.data % 64 == 0


def test_memory_is_used_again_when_the_array_is_gone():
    memory = BatchMemory()
    array = memory.empty((100, 80), np.float16)
    place = array.ctypes.data
    del array
    assert memory.empty((90, 80), np.float16).ctypes.data == place


def test_a_view_keeps_the_memory():
    memory = BatchMemory()
    array = memory.empty((100, 80), np.float16)
    array[:] = 1
    part = array[10:20, 3].reshape(-1)
    del array
    other = memory.empty((100, 80), np.float16)
    other[:] = 2
    assert (part == 1).all()
    assert not np.shares_memory(part, other)


def test_a_tensor_keeps_the_memory():
    import tensorflow as tf

    memory = BatchMemory()

    def ones() -> np.ndarray:
        array = memory.empty((100, 80), np.float16)
        array[:] = 1
        return array

    with tf.device("/CPU:0"):
        returned = tf.numpy_function(ones, [], tf.float16)
        converted = tf.convert_to_tensor(ones())
    others = [memory.empty((100, 80), np.float16) for _ in range(4)]
    for other in others:
        other[:] = 2
    assert (returned.numpy() == 1).all()
    assert (converted.numpy() == 1).all()


def test_threads_never_share_an_array():
    memory = BatchMemory()
    wrong = []

    def work(number: int) -> None:
        for _ in range(300):
            array = memory.empty((64, 80), np.float16)
            array[:] = number
            if not (array == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
