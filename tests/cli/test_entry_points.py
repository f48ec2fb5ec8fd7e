"""Every entry point and every flag that users know: none may disappear unnoticed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from myxtts.cli.main import main

ROOT = Path(__file__).parent.parent.parent

FLAGS = {
    "train": (
        "--config --train-data --val-data --model-size --batch-size --epochs --max-steps "
        "--num-workers --data-gpu --model-gpu --enable-memory-isolation --data-gpu-memory "
        "--model-gpu-memory --enable-static-shapes --prefetch-buffer-size --buffer-size "
        "--model-start-delay --cache-dataset --virtual-gpus --plan --output --resume "
        "--from-checkpoint --trace"
    ),
    "validate": "--data-gpu --model-gpu --virtual-gpus --json --lang",
    "profile": "--batch-size --num-steps --data-gpu --model-gpu --virtual-gpus --json --lang",
    "diagnose": "--config --json --lang",
    "configure": "--verify --json --lang",
    "analyze": "--config --json --lang",
    "check-gpu": "--config --json --lang",
    "fix": "--config --json --lang",
    "compare": "--json --lang",
    "scaling": "--output --json --lang",
    "accept": (
        "--data-gpu --model-gpu --virtual-gpus --batch-sizes --stability-steps --largest-batch "
        "--json --lang"
    ),
    "report": "--output --before --lang --json",
    "monitor": "--once --wait --interval --lang --json",
    "doctor": "--config --train-data --lang --json",
    "bundle": "--output --config --with-transcripts --json",
    "config check": "--lang --json",
    "evaluate": "--checkpoint --data --clips --reference --language --output --lang --json",
    "say": (
        "--checkpoint --reference --speaker --language --speed --pause --output --from-file "
        "--force --vocoder --seed --json"
    ),
    "prepare": "--config --cache-dir --num-workers --json",
    "demo": "--output --steps --clips --seed",
    "corpus check": "--config --plot --all --json",
}

THIN_FILES = {
    "train_main.py": "train",
    "validate_dual_gpu_pipeline.py": "validate",
    "utilities/dual_gpu_bottleneck_profiler.py": "profile",
    "utilities/diagnose_gpu_utilization.py": "diagnose",
    "utilities/configure_max_gpu_utilization.py": "configure",
    "utilities/analyze_data_pipeline_bottleneck.py": "analyze",
    "utilities/validate_gpu_optimization.py": "check-gpu",
    "compare_logs.py": "compare",
    "analyze_batch_scaling.py": "scaling",
    "quick_fix_gpu_utilization.sh": "fix",
}


@pytest.mark.parametrize("command", FLAGS)
def test_help_names_every_flag_and_an_example(command, capsys):
    assert main([*command.split(), "--help"]) == 0
    text = capsys.readouterr().out
    named = set(re.findall(r"--[a-z][a-z-]+", text))
    assert set(FLAGS[command].split()) <= named
    assert "Example:" in text


@pytest.mark.parametrize("file", THIN_FILES)
def test_a_thin_file_is_the_command_of_the_same_job(file, tmp_path):
    path = ROOT / file
    program = ["bash"] if path.suffix == ".sh" else [sys.executable]
    done = subprocess.run(
        [*program, path, "--help"], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert set(FLAGS[THIN_FILES[file]].split()) <= set(re.findall(r"--[a-z][a-z-]+", done.stdout))


def test_starting_is_free_of_tensorflow():
    heavy = "('tensorflow', 'keras', 'pydantic', 'numpy', 'scipy')"
    code = f"import sys, myxtts.cli.main; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_the_importable_names_are_there():
    from myxtts.data import dataset_optimizer, ljspeech
    from myxtts.training import memory_isolated_trainer

    for name in (
        "configure_tensorflow_for_max_throughput",
        "apply_aggressive_prefetching",
        "optimize_dataset_pipeline",
        "get_optimized_dataset_options",
        "create_parallel_interleave_dataset",
        "print_optimization_summary",
    ):
        assert callable(getattr(dataset_optimizer, name)), name
    assert callable(ljspeech.LJSpeechDataset)
    assert callable(memory_isolated_trainer.MemoryIsolatedTrainer.optimize_dataset_for_dual_gpu)


def test_wrong_usage_ends_with_two(capsys):
    assert main(["profile", "--nonsense"]) == 2
    assert main(["nonsense"]) == 2
    capsys.readouterr()


def test_json_is_one_document_and_nothing_else(capsys):
    import json

    assert main(["config", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["pipeline_depth"] == 3
    assert main(["config", "show", "data.pipeline_depth", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == 3
