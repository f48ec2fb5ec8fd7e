"""Two devices, each with its own work. Also runs alone, on any machine:

python -m unittest tests.test_dual_gpu_device_placement -v
"""

import os
import threading
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

from myxtts import devices
from myxtts.config import Config, ModelConfig
from myxtts.errors import UsageError, UserError

DUAL = {"data.virtual_gpus": 2, "data.data_gpu": 0, "data.model_gpu": 1}


def setUpModule() -> None:
    devices.place(Config().replaced(DUAL).data)


def placed(overrides: dict | None = None) -> devices.DevicePlan:
    return devices.place(Config().replaced(DUAL | (overrides or {})).data)


def device_of(tensor) -> str:
    return tensor.device[tensor.device.rindex("device:") :].replace("device:", "/")


def preprocessor(device: str):
    from myxtts.tools.validation import MELS
    from myxtts.training.preprocess import Preprocessor

    return Preprocessor(device, np.zeros(MELS), np.ones(MELS), ModelConfig())


class Plans(unittest.TestCase):
    def test_the_plan_names_two_devices(self):
        plan = placed()
        self.assertEqual(plan.kind, "dual")
        self.assertEqual((plan.data_device, plan.model_device), ("/CPU:0", "/CPU:1"))

    def test_roles_can_be_swapped(self):
        plan = placed({"data.data_gpu": 1, "data.model_gpu": 0})
        self.assertEqual((plan.data_device, plan.model_device), ("/CPU:1", "/CPU:0"))

    def test_without_gpu_flags_everything_is_on_one_device(self):
        plan = devices.place(Config().replaced({"data.virtual_gpus": 2}).data)
        self.assertEqual((plan.kind, plan.data_device, plan.model_device), ("one", *["/CPU:0"] * 2))

    def test_replicas_are_all_devices(self):
        told = {"data.virtual_gpus": 2, "data.device_plan": "replicas"}
        plan = devices.place(Config().replaced(told).data)
        self.assertEqual((plan.kind, plan.replicas), ("replicas", ("/CPU:0", "/CPU:1")))

    def test_the_log_says_which_device_is_which(self):
        line = placed({"data.enable_memory_isolation": True}).describe()
        for said in (
            "data on /CPU:0, model on /CPU:1",
            "/CPU:1 is virtual GPU 1 (logical CPU device)",
            "own memory limits",
        ):
            self.assertIn(said, line)


class Work(unittest.TestCase):
    """Where tensors really are, not where they were asked to be."""

    @classmethod
    def setUpClass(cls):
        import tensorflow as tf

        from myxtts.text.tokenizer import Tokenizer
        from myxtts.training import network
        from myxtts.training.step import make_optimizer

        cls.plan = placed()
        with tf.device(cls.plan.model_device):
            cls.model = network.build(
                ModelConfig(width=16, encoder_blocks=1, decoder_blocks=1),
                Tokenizer("characters"), 80, "float32", 0,
            )  # fmt: skip
            cls.optimizer = make_optimizer(Config(), 10)
            cls.optimizer.build(cls.model.trainable_variables)

    def prepared(self) -> dict:
        from myxtts.tools.validation import made_up_batch

        return preprocessor(self.plan.data_device)(made_up_batch(0))

    def test_preprocessing_stays_on_the_data_device(self):
        for name, tensor in self.prepared().items():
            self.assertEqual(device_of(tensor), self.plan.data_device, name)

    def test_preprocessing_in_a_thread_of_its_own_stays_there_too(self):
        """A device's scope belongs to one thread: each must enter it itself."""
        batches = []
        plan = placed({"data.data_gpu": 1, "data.model_gpu": 0})
        from myxtts.tools.validation import made_up_batch

        prepare = preprocessor(plan.data_device)
        thread = threading.Thread(target=lambda: batches.append(prepare(made_up_batch(1))))
        thread.start()
        thread.join(120)
        self.assertEqual({device_of(tensor) for tensor in batches[0].values()}, {"/CPU:1"})

    def test_a_transfer_arrives_whole_on_the_model_device(self):
        from myxtts.training.transfer import checked_route

        sent = self.prepared()
        received = checked_route(self.plan.data_device, self.plan.model_device)(sent)
        self.assertEqual(received.keys(), sent.keys())
        for name, tensor in received.items():
            self.assertEqual(device_of(tensor), self.plan.model_device, name)
            self.assertEqual(tensor.numpy().tobytes(), sent[name].numpy().tobytes(), name)

    def test_the_model_and_its_optimiser_live_on_the_model_device(self):
        for variable in [*self.model.trainable_variables, *self.optimizer.variables]:
            self.assertEqual(device_of(variable.value), self.plan.model_device, variable.path)

    def test_a_step_computes_on_the_model_device_and_changes_the_weights_there(self):
        import tensorflow as tf

        from myxtts.training.step import TrainStep
        from myxtts.training.transfer import checked_route

        route = checked_route(self.plan.data_device, self.plan.model_device)
        batch = route(self.prepared())
        step = TrainStep(self.model, self.optimizer, self.plan.model_device, xla=False)
        before = [variable.numpy() for variable in self.model.trainable_variables]
        self.assertTrue(np.isfinite(step(batch)["total"]))
        changed = [
            (variable.numpy() != old).any()
            for variable, old in zip(self.model.trainable_variables, before, strict=True)
        ]
        self.assertTrue(any(changed))
        with tf.device(self.plan.model_device):
            _, gradients = step._gradients(batch)
        self.assertEqual({device_of(tensor) for tensor in gradients}, {self.plan.model_device})


class Refusals(unittest.TestCase):
    def test_only_one_gpu_named(self):
        for key in ("data.data_gpu", "data.model_gpu"):
            with self.assertRaisesRegex(UsageError, "needs both GPUs"):
                Config().replaced({key: 0})

    def test_one_gpu_in_both_roles(self):
        with self.assertRaisesRegex(UsageError, "two different GPUs"):
            Config().replaced({"data.data_gpu": 1, "data.model_gpu": 1})

    def test_isolation_without_gpus(self):
        with self.assertRaisesRegex(UsageError, "both must be named"):
            Config().replaced({"data.enable_memory_isolation": True})

    def test_an_index_out_of_range(self):
        with self.assertRaisesRegex(UsageError, "out of range"):
            placed({"data.model_gpu": 2})

    def test_too_few_real_gpus(self):
        import tensorflow as tf

        if len(tf.config.list_physical_devices("GPU")) >= 2:
            self.skipTest("this machine has two GPUs")
        for plan in ("dual", "replicas"):
            told = {"data.data_gpu": 0, "data.model_gpu": 1, "data.device_plan": plan}
            with self.assertRaisesRegex(UserError, "needs at least 2 GPUs, found"):
                devices.place(Config().replaced(told).data)


if __name__ == "__main__":
    unittest.main()
