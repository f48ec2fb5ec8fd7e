"""Two devices, each with its own work. Also runs alone, on any machine:

python -m unittest tests.test_dual_gpu_device_placement -v
"""

import os
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

from myxtts import devices
from myxtts.config import Config, ModelConfig
from myxtts.errors import UsageError, UserError

DUAL = {"data.virtual_gpus": 2, "data.data_gpu": 0, "data.model_gpu": 1}


def setUpModule() -> None:
    devices.place(Config().replaced(DUAL).data)


def device_of(tensor) -> str:
    return tensor.device[tensor.device.rindex("device:") :].replace("device:", "/")


class Placement(unittest.TestCase):
    def setUp(self):
        self.plan = devices.place(Config().replaced(DUAL).data)

    def test_the_plan_names_two_devices(self):
        self.assertEqual(self.plan.kind, "dual")
        self.assertEqual((self.plan.data_device, self.plan.model_device), ("/CPU:0", "/CPU:1"))

    def test_roles_can_be_swapped(self):
        swapped = Config().replaced(DUAL | {"data.data_gpu": 1, "data.model_gpu": 0})
        plan = devices.place(swapped.data)
        self.assertEqual((plan.data_device, plan.model_device), ("/CPU:1", "/CPU:0"))

    def test_preprocessing_stays_on_the_data_device(self):
        from myxtts.tools.validation import MELS, made_up_batch
        from myxtts.training.preprocess import Preprocessor

        prepare = Preprocessor(self.plan.data_device, np.zeros(MELS), np.ones(MELS), ModelConfig())
        for name, tensor in prepare(made_up_batch(0)).items():
            self.assertEqual(device_of(tensor), self.plan.data_device, name)

    def test_a_transfer_arrives_whole_on_the_model_device(self):
        import tensorflow as tf

        from myxtts.training.preprocess import transfer

        content = np.random.default_rng(0).integers(0, 256, 100_003, np.uint8)
        with tf.device(self.plan.data_device):
            sent = {"bytes": tf.identity(content)}
        received = transfer(sent, self.plan.model_device)["bytes"]
        self.assertEqual(device_of(received), self.plan.model_device)
        self.assertEqual(received.numpy().tobytes(), content.tobytes())

    def test_the_model_and_its_optimiser_live_on_the_model_device(self):
        import tensorflow as tf

        from myxtts.text.tokenizer import Tokenizer
        from myxtts.training import network
        from myxtts.training.step import make_optimizer

        with tf.device(self.plan.model_device):
            model = network.build(ModelConfig(width=16), Tokenizer("characters"), 80, "float32", 0)
            optimizer = make_optimizer(Config(), 10)
            optimizer.build(model.trainable_variables)
        for variable in [*model.trainable_variables, *optimizer.variables]:
            self.assertEqual(device_of(variable.value), self.plan.model_device, variable.path)


class Refusals(unittest.TestCase):
    def test_only_one_gpu_named(self):
        for key in ("data.data_gpu", "data.model_gpu"):
            with self.assertRaisesRegex(UsageError, "needs both GPUs"):
                Config().replaced({key: 0})

    def test_isolation_without_gpus(self):
        with self.assertRaisesRegex(UsageError, "both must be named"):
            Config().replaced({"data.enable_memory_isolation": True})

    def test_an_index_out_of_range(self):
        with self.assertRaisesRegex(UsageError, "out of range"):
            devices.place(Config().replaced(DUAL | {"data.model_gpu": 2}).data)

    def test_too_few_real_gpus(self):
        import tensorflow as tf

        if len(tf.config.list_physical_devices("GPU")) >= 2:
            self.skipTest("this machine has two GPUs")
        with self.assertRaisesRegex(UserError, "needs at least 2 GPUs, found"):
            devices.place(Config().replaced({"data.data_gpu": 0, "data.model_gpu": 1}).data)


if __name__ == "__main__":
    unittest.main()
