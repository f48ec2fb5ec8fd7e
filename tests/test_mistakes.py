"""What a user may do wrong, and what is printed: never a traceback, always what to type next."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from myxtts.cli.main import main

ENVIRONMENT = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "NO_COLOR": "1"}
TRAIN = [
    "train", "--virtual-gpus", "2", "--data-gpu", "0", "--model-gpu", "1", "--batch-size", "4",
]  # fmt: skip


@pytest.fixture
def printed(capsys, tmp_path, monkeypatch):
    """`printed(arguments) -> (exit code, everything printed)`, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str]:
        code = main([str(word) for word in arguments])
        out = capsys.readouterr()
        text = out.out + out.err
        assert "Traceback" not in text
        return code, text

    return run


@pytest.fixture
def own_corpus(small_corpus, tmp_path):
    """A copy of the corpus that a test may damage."""
    return shutil.copytree(
        small_corpus, tmp_path / "corpus", ignore=shutil.ignore_patterns(".myxtts")
    )


def test_a_missing_corpus(printed):
    code, text = printed("train", "--train-data", "nowhere")
    assert code in (1, 2)
    assert "nowhere" in text and "try:" in text


def test_an_empty_corpus(printed, tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "metadata.csv").write_text("")
    code, text = printed("train", "--train-data", "corpus")
    assert code == 1
    assert "error:" in text and "try:" in text


def test_an_unreadable_clip_is_named_and_the_rest_go_on(printed, own_corpus):
    broken = next(iter(sorted((own_corpus / "wavs").iterdir())))
    broken.write_text("this is not sound")
    code, text = printed("prepare", own_corpus)
    assert code == 1
    assert "23 clips" in text and f"left out: {broken.stem}" in text


def test_an_unknown_key(printed, tmp_path):
    (tmp_path / "c.yaml").write_text("data:\n  bach_size: 8\n")
    code, text = printed("train", "--config", "c.yaml")
    assert code == 2
    assert "did you mean data.batch_size?" in text


def test_only_one_gpu_flag(printed):
    code, text = printed("train", "--train-data", "x", "--data-gpu", "0")
    assert code == 2
    assert "add --model-gpu N" in text


def test_a_gpu_index_out_of_range(printed, small_corpus):
    code, text = printed(
        "train", "--train-data", small_corpus, "--virtual-gpus", 2,
        "--data-gpu", 0, "--model-gpu", 9,
    )  # fmt: skip
    assert code == 2
    assert "--model-gpu 9 is out of range: there are 2 virtual GPUs" in text


def test_a_full_disk(printed, own_corpus, tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", full], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small file system here")
    try:
        code, text = printed("prepare", own_corpus, "--cache-dir", full)
        assert code == 1
        assert "disk is full" in text and "free some space" in text
    finally:
        subprocess.run(["umount", full], check=True)


def test_no_tensorflow(tmp_path, small_corpus):
    hidden = (
        "import sys, importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'tensorflow' else real(name, *a)\n"
        "from myxtts.cli.main import main\n"
        f"sys.exit(main(['train', '--train-data', {str(small_corpus)!r}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", hidden], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 1
    assert "TensorFlow is not installed" in done.stderr and "myxtts[cpu]" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_in_training_keeps_a_checkpoint(tmp_path, small_corpus):
    (tmp_path / "c.yaml").write_text(
        "model: {width: 16, encoder_blocks: 1, decoder_blocks: 1}\n"
        "data: {enable_xla: false, max_buckets: 1, model_start_delay: 0.0}\n"
        "training: {report_interval: 5}\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-m", "myxtts", *TRAIN, "--config", "c.yaml",
         "--train-data", small_corpus, "--output", "run"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path, env=ENVIRONMENT,
        # A test run in the background ignores Ctrl-C, and its children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert run.stdout is not None
    lines = []
    for line in run.stdout:
        lines.append(line)
        if line.startswith("step "):
            run.send_signal(signal.SIGINT)
            break
    rest, _ = run.communicate(timeout=120)
    text = "".join(lines) + rest
    assert run.returncode == 130
    assert "the checkpoint is kept. Go on with --resume" in text
    assert "Traceback" not in text
    assert len(list((tmp_path / "run" / "checkpoints").iterdir())) == 1


@pytest.fixture(scope="module")
def trained(tmp_path_factory, thin):
    """A run of two steps."""
    from myxtts.config import Config
    from myxtts.training.run import train

    folder = tmp_path_factory.mktemp("trained") / "run"
    return train(
        Config().replaced(
            thin
            | {
                "training.max_steps": 2,
                "training.output_dir": str(folder),
            }
        )
    )


def test_a_damaged_checkpoint(printed, trained, tmp_path):
    copy = shutil.copytree(trained, tmp_path / "run")
    arrays = next((copy / "checkpoints").iterdir()) / "model.npz"
    content = bytearray(arrays.read_bytes())
    content[len(content) // 2] ^= 1
    arrays.write_bytes(content)
    code, text = printed("say", "Hello.", "--checkpoint", copy)
    assert code == 1
    assert "is damaged: model.npz does not match its checksum" in text
    assert not (tmp_path / "speech.wav").exists()


def test_a_whole_checkpoint_speaks(printed, trained, tmp_path):
    code, _ = printed("say", "Hello there. سلام", "--checkpoint", trained, "-o", "a.wav")
    assert code == 0
    assert (tmp_path / "a.wav").stat().st_size > 1000


def test_a_language_the_checkpoint_does_not_speak(printed, trained):
    code, text = printed("say", "Hallo.", "--checkpoint", trained, "--language", "de")
    assert code == 2
    assert "choose one of: en, fa" in text


def test_a_read_only_folder(printed, small_corpus):
    code, text = printed("train", "--train-data", small_corpus, "--output", "/sys/myxtts-run")
    assert code == 1
    assert "No right to write" in text and "--output" in text


def test_a_wrong_type(printed, tmp_path):
    (tmp_path / "c.yaml").write_text("data:\n  batch_size: eight\n")
    code, text = printed("config", "check", "c.yaml")
    assert code == 2
    assert "data.batch_size in c.yaml, line 2: input should be a valid integer" in text


def test_a_wrong_flag(printed):
    code, text = printed("train", "--bach-size", "3")
    assert code == 2
    assert "--bach-size" in text
