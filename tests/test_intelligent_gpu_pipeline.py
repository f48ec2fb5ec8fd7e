"""The pipeline between two devices, on a real corpus. Also runs alone, on any machine:

python -m unittest tests.test_intelligent_gpu_pipeline -v
"""

import os
import tempfile
import threading
import unittest
from itertools import islice
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from myxtts import devices
from myxtts.config import Config

DUAL = {"data.virtual_gpus": 2, "data.data_gpu": 0, "data.model_gpu": 1}
IN_FLIGHT = 6
PATIENCE = 60.0  # seconds for what takes milliseconds


class Pipeline(unittest.TestCase):
    """One trainer is shared: building it is most of the time."""

    @classmethod
    def setUpClass(cls):
        from myxtts.data import demo_corpus
        from myxtts.training.memory_isolated_trainer import MemoryIsolatedTrainer

        cls.folder = tempfile.TemporaryDirectory()
        corpus = demo_corpus.make(Path(cls.folder.name) / "corpus", clips=12, seed=2)
        cls.config = Config().replaced(
            DUAL
            | {
                "data.train_data": str(corpus),
                "data.batch_size": 4,
                "data.max_buckets": 1,
                "data.pipeline_buffer_size": IN_FLIGHT,
                "data.enable_xla": False,
                "data.model_start_delay": 0.0,
                "model.width": 16,
                "model.encoder_blocks": 1,
                "model.decoder_blocks": 1,
                "training.max_steps": 6,
                "training.output_dir": str(Path(cls.folder.name) / "run"),
            }
        )
        plan = devices.place(cls.config.data)
        cls.trainer = MemoryIsolatedTrainer(cls.config, plan)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def host_batches(self, count: int) -> list:
        loader = self.trainer.data.loader
        return [loader.load(step) for step in range(count)]

    def threads(self) -> list[str]:
        return [each.name for each in threading.enumerate() if each.name.startswith("myxtts-")]

    def test_defaults_are_asynchronous_and_three_deep(self):
        self.assertTrue(self.trainer.enable_async_pipeline)
        self.assertEqual(self.trainer.pipeline_depth, 3)

    def test_one_device_is_refused(self):
        from myxtts.errors import UsageError
        from myxtts.training.memory_isolated_trainer import MemoryIsolatedTrainer

        one = Config().replaced({"data.virtual_gpus": 2})
        with self.assertRaisesRegex(UsageError, "needs two devices"):
            MemoryIsolatedTrainer(one, devices.place(one.data))

    def test_any_dataset_of_host_batches_arrives_on_the_model_device_in_order(self):
        sent = self.host_batches(7)
        received = list(self.trainer.optimize_dataset_for_dual_gpu(sent))
        self.assertEqual(len(received), 7)
        for before, after in zip(sent, received, strict=True):
            self.assertEqual(after["clips"].numpy().tolist(), before["clips"].tolist())
            for name, tensor in after.items():
                self.assertTrue(tensor.device.endswith("CPU:1"), name)

    def test_a_tf_dataset_works_the_same_way(self):
        dataset = self.trainer.data.loader.dataset(0, 3)
        received = list(self.trainer.optimize_dataset_for_dual_gpu(dataset))
        expected = [batch["clips"].tolist() for batch in self.host_batches(3)]
        self.assertEqual([batch["clips"].numpy().tolist() for batch in received], expected)

    def test_asynchronous_and_synchronous_batches_are_bit_equal(self):
        sent = self.host_batches(4)
        ahead = list(self.trainer.optimize_dataset_for_dual_gpu(sent))
        self.trainer.enable_async_pipeline = False
        try:
            alone = list(self.trainer.optimize_dataset_for_dual_gpu(sent))
        finally:
            self.trainer.enable_async_pipeline = True
        for one, other in zip(ahead, alone, strict=True):
            for name in one:
                self.assertEqual(one[name].numpy().tobytes(), other[name].numpy().tobytes(), name)

    def test_batches_are_prepared_while_the_first_is_still_in_use_and_no_more_than_fit(self):
        """The consumer holds batch 0 and asks for nothing: the rest comes all the same."""
        taken, enough = [], threading.Event()
        batch = self.host_batches(1)[0]
        fit = 1 + IN_FLIGHT  # the one that the consumer holds, and what may be on its way

        def source():
            for number in range(100):
                taken.append(number)
                if len(taken) == fit:
                    enough.set()
                yield batch

        prepared = self.trainer.optimize_dataset_for_dual_gpu(source())
        next(prepared)
        self.assertTrue(enough.wait(PATIENCE))
        self.assertLessEqual(len(taken), fit)
        prepared.close()
        self.assertEqual(self.threads(), [])

    def test_the_error_of_a_dataset_reaches_the_consumer_after_the_good_batches(self):
        good = self.host_batches(2)

        def source():
            yield from good
            raise OSError("the disk went away")

        prepared = self.trainer.optimize_dataset_for_dual_gpu(source())
        self.assertEqual(len(list(islice(prepared, 2))), 2)
        with self.assertRaisesRegex(Exception, "stage load, step 2.*the disk went away"):
            next(prepared)
        self.assertEqual(self.threads(), [])

    def test_zz_training_is_recorded_step_by_step_and_second_by_second(self):
        from myxtts.telemetry import session

        run = session.load(self.trainer.run())
        self.assertEqual(len(self.trainer.step_times), 6)
        self.assertTrue(all(seconds > 0 for seconds in self.trainer.step_times))
        self.assertEqual(run.header["plan"]["kind"], "dual")
        self.assertEqual([step.step for step in run.steps], list(range(6)))
        for step in run.steps:
            self.assertEqual(list(step.stages), ["load", "upload", "preprocess", "transfer"])
            self.assertEqual(set(step.rings), {"host", "ready"})
        self.assertAlmostEqual(sum(run.accounts.values()) / run.end["wall"], 1.0, places=3)
        self.assertEqual(self.threads(), [])


if __name__ == "__main__":
    unittest.main()
