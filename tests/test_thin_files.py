"""The files in front of the tools, with every flag that users know, as processes of their own.

`train_main.py` is in test_every_flag. What needs TensorFlow or trains is in the long tier.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from myxtts import config_file
from myxtts.config import Config
from myxtts.telemetry import session
from tests import programs


def run(file: str, *words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return programs.run(sys.executable, programs.ROOT / file, *words, folder=folder)


@pytest.fixture
def config(thin, tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    config_file.save(Config().replaced(thin), file)
    return file


def test_validate_gpu_optimization(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("data: {num_workers: 0}\n")
    bad.write_text(
        "data: {use_tf_native_loading: false, num_workers: 200, prefetch_buffer_size: 1,\n"
        "  pad_to_fixed_length: false, enable_xla: false, batch_size: 128,\n"
        "  data_gpu: 0, model_gpu: 7}\n"
    )
    file = "utilities/validate_gpu_optimization.py"
    done = run(file, "--config", good, folder=tmp_path)
    assert done.returncode == 0 and "✓ native loading" in done.stdout
    done = run(file, "--config", bad, "--json", folder=tmp_path)
    assert done.returncode == 1
    told = json.loads(done.stdout)
    wrong = [name for name, fine in told["checks"].items() if not fine]
    assert wrong == [
        "native_loading", "workers", "prefetch", "batch", "fixed_shapes", "xla", "dual_gpu",
    ]  # fmt: skip
    persian = run(file, "--config", bad, "--lang", "fa", folder=tmp_path)
    assert persian.returncode == 1 and "باید اصلاح شود" in persian.stdout


@pytest.mark.long
def test_validate_dual_gpu_pipeline(tmp_path: Path) -> None:
    file = "validate_dual_gpu_pipeline.py"
    done = run(file, "--data-gpu", 0, "--model-gpu", 1, folder=tmp_path)
    assert done.returncode == 1 and "NOT ready" in done.stdout and "not reached" in done.stdout
    words = ["--data-gpu", 1, "--model-gpu", 0, "--virtual-gpus", 2]
    done = run(file, *words, folder=tmp_path)
    assert done.returncode == 0, done.stdout
    assert all(f"\n{number}. " in done.stdout for number in range(1, 6))
    assert "data GPU 1, model GPU 0" in done.stdout and "✗" not in done.stdout
    persian = run(file, *words, "--lang", "fa", folder=tmp_path)
    assert "خط لولهٔ دودستگاهی اینجا کار می‌کند" in persian.stdout


@pytest.mark.long
def test_dual_gpu_bottleneck_profiler(config: Path, tmp_path: Path) -> None:
    done = run(
        "utilities/dual_gpu_bottleneck_profiler.py",
        "--batch-size", 2, "--num-steps", 8, "--data-gpu", 1, "--model-gpu", 0,
        "--virtual-gpus", 2, "--config", config, "--output", "out",
        folder=tmp_path,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    shown = done.stdout.replace("\N{NO-BREAK SPACE}", " ")
    for said in ("data load", "preprocess", "transfer", "training", "gaps", "not measured"):
        assert said in shown
    recorded = session.load(tmp_path / "out")
    data = recorded.header["config"]["data"]
    assert (data["batch_size"], data["data_gpu"], data["model_gpu"]) == (2, 1, 0)
    assert len(recorded.steps) == 8


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "fa"])
def test_diagnose_gpu_utilization(config: Path, tmp_path: Path, language: str) -> None:
    file = "utilities/diagnose_gpu_utilization.py"
    words = ["--config", config, "--num-steps", 8, "--output", "out", "--lang", language]
    done = run(file, *words, folder=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    sections = "۱۲۳۴۵۶" if language == "fa" else "123456"
    assert all(f"{number}. " in done.stdout for number in sections)
    assert len(session.load(tmp_path / "out").steps) == 8


@pytest.mark.long
def test_configure_max_gpu_utilization(tmp_path: Path) -> None:
    file = "utilities/configure_max_gpu_utilization.py"
    done = run(file, "--verify", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["good"] and told["verified"]
    names = " ".join(setting["name"] for setting in told["settings"])
    for part in ("threads", "memory", "XLA", "precision", "tf.data", "TF_GPU_THREAD_MODE"):
        assert part in names
    assert run(file, folder=tmp_path).returncode == 0


@pytest.mark.long
def test_analyze_data_pipeline_bottleneck(config: Path, tmp_path: Path) -> None:
    file = "utilities/analyze_data_pipeline_bottleneck.py"
    done = run(file, "--config", config, "--num-steps", 8, "--json", folder=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)
    assert told["text"]["mean"] > 0 and told["text"]["total"] > 0
    assert told["audio"]["variation"] >= 0
    assert told["waits"]["batches"] == 7 and 0 <= told["waits"]["idle_share"] <= 1


@pytest.mark.long
def test_compare_logs_and_scaling_on_redirected_output(config: Path, tmp_path: Path) -> None:
    """Two real runs whose output went into files, against the recordings of the same runs."""
    for batch in (2, 4):
        done = run(
            "train_main.py", "--config", config, "--batch-size", batch, "--max-steps", 24,
            "--virtual-gpus", 2, "--data-gpu", 0, "--model-gpu", 1, "--output", f"run-{batch}",
            folder=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (tmp_path / f"run-{batch}.txt").write_text(done.stdout + done.stderr)
    texts, folders = ["run-2.txt", "run-4.txt"], ["run-2", "run-4"]
    from_text = run("compare_logs.py", *texts, "--json", folder=tmp_path)
    recorded = run("compare_logs.py", *folders, "--json", folder=tmp_path)
    assert from_text.returncode == recorded.returncode == 0, from_text.stderr
    one, other = json.loads(from_text.stdout), json.loads(recorded.stdout)
    assert one["a"]["virtual"] and one["a"]["batch_size"] == 2 and one["b"]["batch_size"] == 4
    assert one["a"]["wall"] == pytest.approx(other["a"]["wall"], rel=0.02, abs=0.1)
    assert one["b"]["memory_mb"] == other["b"]["memory_mb"]
    scaled = run("analyze_batch_scaling.py", *texts, "-o", "page.html", "--json", folder=tmp_path)
    assert scaled.returncode == 0, scaled.stderr
    assert [row["batch_size"] for row in json.loads(scaled.stdout)["rows"]] == [2, 4]
    assert (tmp_path / "page.html").read_text().count("<svg") == 2
