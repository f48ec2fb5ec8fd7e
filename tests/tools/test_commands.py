"""The commands as users type them: exit codes, JSON alone on standard output, thin files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from myxtts.cli.main import main
from tests.programs import ROOT, run


def document(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


def test_compare_and_scaling(record, capsys) -> None:
    a = record("a", data={"batch_size": 8}, useful=500).path.parent
    b = record("b", data={"batch_size": 16}).path.parent
    assert main(["compare", str(a), str(b), "--json"]) == 0
    rows = {row["name"]: row for row in document(capsys)["rows"]}
    assert rows["useful frames"]["verdict"] == "better"
    assert main(["scaling", str(a), str(b), "--json"]) == 0
    assert document(capsys)["best"] == 16
    assert main(["compare", str(a), str(b)]) == 0
    assert "useful frames" in capsys.readouterr().out
    assert main(["scaling", str(a), str(b)]) == 0
    assert "best: 16" in capsys.readouterr().out


def test_report_writes_the_page_and_agrees_with_json(record, tmp_path: Path, capsys) -> None:
    session = record(train=0.4, blame={"load": 0.5})
    page = tmp_path / "page.html"
    assert main(["report", str(session.path), "-o", str(page), "--lang", "fa", "--json"]) == 0
    told = document(capsys)
    text = page.read_text()
    assert 'dir="rtl"' in text
    assert all(f"{row['percent']:.1f} %" in text for row in told["account"])
    assert told["findings"] and all(one["title"] in text for one in told["findings"])


def test_what_cannot_be_read_has_its_exit_code(record, tmp_path: Path, capsys) -> None:
    assert main(["compare", str(tmp_path / "no"), str(tmp_path / "no")]) == 2
    (tmp_path / "text.txt").write_text("hello")
    run_path = str(record().path)
    assert main(["compare", run_path, str(tmp_path / "text.txt")]) == 3
    assert main(["scaling", run_path]) == 3
    assert main(["report", str(tmp_path / "no"), "-o", str(tmp_path / "p.html")]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "try:" in said.err


def test_a_truncated_recording_is_reported_all_the_same(record, tmp_path: Path, capsys) -> None:
    whole = record().path
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(whole.read_bytes()[:3000])
    assert main(["report", str(cut), "-o", str(tmp_path / "p.html"), "--json"]) == 0
    told = document(capsys)
    assert not told["complete"]
    assert "run_incomplete" in [one["rule"] for one in told["findings"]]


def test_check_gpu_says_good_or_what_to_fix(tmp_path: Path, capsys) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("data:\n  num_workers: 0\n")
    assert main(["check-gpu", "--config", str(file)]) in (0, 1)  # 1 on more than 32 cores
    capsys.readouterr()
    file.write_text("data:\n  num_workers: 200\n  pad_to_fixed_length: false\n")
    assert main(["check-gpu", "--config", str(file), "--json"]) == 1
    told = document(capsys)
    assert told["checks"]["workers"] is False and told["checks"]["native_loading"] is True
    assert main(["check-gpu", "--config", str(tmp_path / "none.yaml")]) == 2


@pytest.mark.parametrize("command", ["profile", "accept"])
def test_two_gpus_that_are_not_here_cannot_be_measured(command, monkeypatch, capsys) -> None:
    monkeypatch.setattr("myxtts.telemetry.gpu.open_nvml", lambda *arguments: None)
    monkeypatch.setattr("myxtts.tools.environment.open_nvml", lambda *arguments: None)
    assert main([command]) == 3
    assert "--virtual-gpus 2" in capsys.readouterr().err


def test_wrong_lists_of_batch_sizes(capsys) -> None:
    assert main(["accept", "--virtual-gpus", "2", "--batch-sizes", "8,x"]) == 2
    assert main(["accept", "--virtual-gpus", "2", "--batch-sizes", "0"]) == 2


def test_fix_needs_a_file(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["fix"]) == 2
    assert "config init" in capsys.readouterr().err


def test_thin_files_work_from_any_folder(record, tmp_path: Path) -> None:
    a = record("a", data={"batch_size": 8}, useful=500).path.parent
    b = record("b").path.parent
    compared = run(sys.executable, ROOT / "compare_logs.py", a, b, "--json", folder=tmp_path)
    assert compared.returncode == 0 and json.loads(compared.stdout)["rows"]
    scaled = run(sys.executable, ROOT / "analyze_batch_scaling.py", a, b, folder=tmp_path)
    assert scaled.returncode == 0 and "best: 16" in scaled.stdout


@pytest.mark.parametrize(
    "name",
    [
        "dual_gpu_bottleneck_profiler",
        "diagnose_gpu_utilization",
        "configure_max_gpu_utilization",
        "analyze_data_pipeline_bottleneck",
        "validate_gpu_optimization",
    ],
)
def test_every_thin_file_answers_help_with_an_example(name: str, tmp_path: Path) -> None:
    answer = run(sys.executable, ROOT / "utilities" / f"{name}.py", "--help", folder=tmp_path)
    assert answer.returncode == 0
    assert "Example:" in answer.stdout


def test_the_quick_fix_applies_with_a_backup(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    before = f"# mine\ndata:\n  train_data: {corpus}\n  num_workers: 200  # many\n"
    file.write_text(before)
    script = ROOT / "quick_fix_gpu_utilization.sh"
    done = run(script, "--config", file, "--num-steps", 0, "--apply", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "-  num_workers: 200" in told["diff"]
    assert told["not_measured"] == {"run": "--num-steps 0"}
    assert all(setting["taken"] for setting in told["settings"])
    assert told["text"]["sampled"] == 12
    assert "# many" in file.read_text() and "200" not in file.read_text()
    assert Path(told["backup"]).read_text() == before
    assert told["training_command"] == f"python train_main.py --config {file}"


def test_fix_changes_nothing_unless_told_to(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("myxtts.tools.diagnosis.tensorflow_gpus", lambda: None)
    file = tmp_path / "config.yaml"
    file.write_text("data:\n  num_workers: 200\n")
    assert main(["fix", "--config", str(file), "-o", str(tmp_path / "run")]) == 1
    shown = capsys.readouterr().out
    assert file.read_text() == "data:\n  num_workers: 200\n"
    assert list(tmp_path.iterdir()) == [file]
    assert "-  num_workers: 200" in shown and "not applied" in shown
    assert "not measured: run: TensorFlow is not installed" in shown
    assert "python train_main.py" in shown and "nvidia-smi" in shown
