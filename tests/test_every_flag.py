"""One real run of train_main.py with every flag that users know, on two virtual devices."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from myxtts.telemetry import session
from myxtts.training import checkpoint

ROOT = Path(__file__).parents[1]


@pytest.mark.long
def test_every_flag_of_training_in_one_real_run(small_corpus, tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "model: {width: 16, encoder_blocks: 1, decoder_blocks: 1}\n"
        "data: {enable_xla: false, max_buckets: 2, batch_size: 64}\n"
        "training: {report_interval: 2, validation_interval: 3}\n"
    )
    flags = {
        "--config": "mine.yaml",
        "--train-data": str(small_corpus),
        "--val-data": str(small_corpus),
        "--model-size": "tiny",
        "--batch-size": "4",
        "--epochs": "2",
        "--max-steps": "8",
        "--num-workers": "1",
        "--data-gpu": "0",
        "--model-gpu": "1",
        "--enable-memory-isolation": None,
        "--data-gpu-memory": "4096",
        "--model-gpu-memory": "8192",
        "--enable-static-shapes": None,
        "--prefetch-buffer-size": "5",
        "--buffer-size": "20",
        "--model-start-delay": "1.5",
        "--cache-dataset": None,
        "--virtual-gpus": "2",
        "--plan": "dual",
        "--output": "run",
    }
    words = [word for flag, value in flags.items() for word in (flag, value) if word is not None]
    done = subprocess.run(
        [sys.executable, ROOT / "train_main.py", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=280,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "plan dual: data on /CPU:0, model on /CPU:1" in done.stdout
    assert "own memory limits" in done.stdout
    assert done.stdout.count("loading path: ") == 1
    assert "myxtts profile" in done.stdout  # the pointer to the profiler

    run = session.load(tmp_path / "run")
    assert run.complete and len(run.steps) == 8
    data = run.header["config"]["data"]
    assert {key: data[key] for key in data if f"--{key.replace('_', '-')}" in flags} == {
        "train_data": str(small_corpus),
        "val_data": str(small_corpus),
        "batch_size": 4,
        "num_workers": 1,
        "cache_dataset": True,
        "prefetch_buffer_size": 5,
        "data_gpu": 0,
        "model_gpu": 1,
        "virtual_gpus": 2,
        "enable_memory_isolation": True,
        "data_gpu_memory": 4096,
        "model_gpu_memory": 8192,
        "model_start_delay": 1.5,
    }
    plan = run.header["plan"]
    assert (plan["kind"], plan["virtual"], plan["isolated"]) == ("dual", True, True)
    assert all(size <= 8 for *_, size in run.header["buckets"])  # 4 in the median bucket, not 64
    (pipeline,) = run.of_kind("pipeline")
    assert pipeline["in_flight"] == 20 and pipeline["overlapping"]
    assert {lane["ring"]: lane["depth"] for lane in pipeline["lanes"]} == {"host": 5, "ready": 3}
    (start,) = run.of_kind("model_start")
    assert start["delay"] == 1.5
    assert not any(step.compiled for step in run.steps)  # static shapes
    assert [event["step"] for event in run.of_kind("validation")] == [3, 6, 8]
    assert checkpoint.load(tmp_path / "run").info["config"]["model"]["size"] == "tiny"
    assert sum(run.accounts.values()) == pytest.approx(run.end["wall"], rel=1e-3)
