"""Every tool where something is missing or broken: a clear line, the right exit code, no traceback.

One table of tools and faults. All of it goes through the real command line; only what this machine
cannot have (a GPU that is lost, a Python without TensorFlow) is made up.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from myxtts.cli.main import main
from myxtts.telemetry.gpu import GpuSampler, Nvml
from myxtts.telemetry.run_log import RunLog
from myxtts.tools import doctor
from myxtts.tools.catalogue import LANGUAGES
from myxtts.training import child_run
from tests.fake_nvml import FakeNvml

ROOT = Path(__file__).parents[2]
GOOD, MUST_FIX, WRONG_USAGE, COULD_NOT_MEASURE = 0, 1, 2, 3

READERS = {
    "report": "report RUN -o page.html",
    "compare": "compare RUN RUN",
    "scaling": "scaling RUN OTHER",
    "monitor": "monitor RUN --once",
    "bundle": "bundle RUN -o help.zip",
}
"""Tools that read a recorded run."""

MEASURERS = {
    "profile": "profile --one-device --train-data CORPUS --num-steps 3 -o out",
    "diagnose": "diagnose --train-data CORPUS --num-steps 3 -o out",
    "analyze": "analyze --train-data CORPUS --num-steps 3 -o out",
    "accept": "accept --virtual-gpus 2 --train-data CORPUS --num-steps 3 -o out",
    "fix": "fix --config good.yaml --train-data CORPUS --num-steps 3 -o out",
}
"""Tools that train on a corpus."""

CONFIGURED = {
    "profile": "profile --one-device --config CONFIG",
    "diagnose": "diagnose --config CONFIG",
    "analyze": "analyze --config CONFIG",
    "accept": "accept --virtual-gpus 2 --config CONFIG",
    "configure": "configure --verify --config CONFIG",
    "check-gpu": "check-gpu --config CONFIG",
    "config check": "config check CONFIG",
    "bundle --with-transcripts": "bundle --with-transcripts --config CONFIG",
    "fix": "fix --config CONFIG",
    "train": "train --config CONFIG",
}
"""Tools that read a configuration."""

TENSORFLOW = {"version": "2.21.0", "gpu_build": False, "gpus": 0}
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys, tmp_path: Path, monkeypatch) -> Run:
    """`run(command, RUN=…) -> (exit code, all that was printed)`, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    # A run in a process of its own would import TensorFlow for each case.
    monkeypatch.setattr(child_run, "_start", lambda told, words: child_run.main(told))
    monkeypatch.setattr(doctor, "start_tensorflow", lambda: TENSORFLOW)
    monkeypatch.setattr(doctor, "SPEED_TEST_MB", 1)

    def typed(command: str, **places: object) -> tuple[int, str]:
        words = [str(places.get(word, word)) for word in command.split()]
        code = main(words)
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        if "--json" in words and printed.out:
            json.loads(printed.out)
        return code, printed.out + printed.err

    return typed


# --- a recorded run, cut and damaged ---------------------------------------------------------


@pytest.fixture
def eventful(record, tmp_path: Path) -> list[bytes]:
    """The lines of a whole run in which everything happened that a run can record."""
    lines = record("whole").path.read_bytes().splitlines(keepends=True)
    more = tmp_path / "more.jsonl"
    with RunLog(more) as log:
        log.write("warm", compilations=2)
        log.write("compile", what="step", bucket=0, seconds=1.0)
        log.write("validation", step=3, loss=1.0, losses={"total": 1.0}, seconds=0.2)
        log.write("checkpoint", step=3, path="step-3", seconds=0.1)
        log.write("out_of_memory", step=4, work="training", device="/GPU:1", rows=8, length=400,
                  parts=2)  # fmt: skip
        log.write("bad_step", step=5, losses={"total": "nan"}, clips=["کلیپ"])
        log.write("went_back", step=6, to=3, path="step-3")
        log.write("not_saved", step=7)
        log.write("gpu_lost", index=1, reason="the GPU is lost")
        log.write("finding", rule="host_copy", why="no peer-to-peer")
    return [*lines[:-1], *more.read_bytes().splitlines(keepends=True), lines[-1]]


def kind(line: bytes) -> str:
    return str(json.loads(line)["kind"])


def cuts(lines: list[bytes]) -> Iterator[tuple[str, bytes]]:
    """A name and what is left of the file: cut inside and after the first line of every kind."""
    seen = set()
    for number, line in enumerate(lines):
        if kind(line) in seen:
            continue
        seen.add(kind(line))
        before = b"".join(lines[:number])
        yield f"inside {kind(line)}", before + line[: len(line) // 2]
        if number < 2:
            yield f"after {kind(line)}", before + line
    yield "nothing", b""
    yield "zeros at the end", b"".join(lines[:-1]) + b"\0" * 512
    yield "inside a letter", b"".join(lines[:5]) + '{"kind": "ک'.encode()[:-1]
    yield "no header", b"".join(lines[1:])
    yield "another schema", lines[0].replace(b'"schema": 1', b'"schema": 99') + lines[1]


def test_a_cut_recording_is_read_up_to_the_cut_or_refused(run, record, eventful) -> None:
    other = record("other", data={"batch_size": 4}).path
    file = other.parent.parent / "cut.jsonl"
    for name, content in cuts(eventful):
        file.write_bytes(content)
        headless = name in ("inside header", "nothing", "no header", "another schema")
        for tool, command in READERS.items():
            code, text = run(command, RUN=file, OTHER=other)
            refuses = headless and tool not in ("bundle", "monitor")
            allowed = (COULD_NOT_MEASURE,) if refuses else (GOOD, COULD_NOT_MEASURE)
            assert code in allowed, (name, tool, text)
            if code:
                assert "error:" in text and "try:" in text, (name, tool, text)
            if (tool == "report" and not headless) or tool == "bundle":
                assert code == GOOD, (name, tool, text)


def test_a_line_that_lacks_something_is_counted_as_damaged(run, record, eventful) -> None:
    """Each line in turn loses each of its fields, or has nonsense in it."""
    from myxtts.telemetry.session import load
    from myxtts.tools.report import render
    from myxtts.tools.summary import summarize

    file = record("one").path.parent / "damaged.jsonl"
    first = {kind(line): number for number, line in reversed(list(enumerate(eventful)))}
    for number in first.values():
        event = json.loads(eventful[number])
        for name in set(event) - {"kind", "schema"}:
            for damaged in ({k: v for k, v in event.items() if k != name}, event | {name: "?"}):
                lines = [*eventful]
                lines[number] = json.dumps(damaged).encode() + b"\n"
                file.write_bytes(b"".join(lines))
                if event["kind"] == "header" and damaged.get(name) == "?":
                    continue  # a header that says nothing is no header: tested by the cuts
                summary = summarize(load(file))
                for language in LANGUAGES:
                    assert render(summary, language)
                json.dumps(summary.as_json())


# --- GPUs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("profile", COULD_NOT_MEASURE, "needs at least 2 GPUs, found 0"),
        ("accept", COULD_NOT_MEASURE, "needs at least 2 GPUs, found 0"),
        ("check-gpu --config good.yaml", GOOD, "workers"),
        ("doctor --config good.yaml", GOOD, "--virtual-gpus 2"),
        ("check-gpu --config dual.yaml", MUST_FIX, "GPU 1 is asked for"),
        ("train --config dual.yaml --train-data x", MUST_FIX, "needs at least 2 GPUs"),
    ],
)  # fmt: skip
def test_without_a_gpu(command: str, code: int, said: str, run: Run, files, no_driver) -> None:
    ended, text = run(command)
    assert ended == code, text
    assert said in text


@pytest.fixture
def no_driver(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(driver=False))


@pytest.fixture
def files(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("data: {num_workers: 0}\n")
    (tmp_path / "dual.yaml").write_text("data: {data_gpu: 0, model_gpu: 1}\n")


@pytest.fixture(params=["lost in mid-run", "no metric", "driver gone"])
def troubled(request, monkeypatch) -> FakeNvml:
    """A driver that answers at first."""
    nvml = {
        "lost in mid-run": FakeNvml(lost={1: 3}),
        "no metric": FakeNvml(missing=("name", "memory", "utilization", "power", "topology",
                                       "peer")),
        "driver gone": FakeNvml(dead=True),
    }[request.param]  # fmt: skip
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    return nvml


@pytest.mark.parametrize(
    "command", ["check-gpu --config good.yaml", "check-gpu --json", "doctor", "doctor --json"]
)
def test_a_driver_that_does_not_say_everything(command, run: Run, files, troubled) -> None:
    code, text = run(command)
    assert code in (GOOD, MUST_FIX), text


def test_a_run_whose_gpu_was_lost_is_judged_without_its_figures(run, record, troubled) -> None:
    session = record("run", gpus={})
    sample_into(session.path, troubled)
    other = record("other", data={"batch_size": 4}).path
    for tool, command in READERS.items():
        code, text = run(command, RUN=session.path, OTHER=other)
        assert code == GOOD, (tool, text)
    code, text = run("report RUN -o page.html --json", RUN=session.path)
    tier = json.loads(text)["tier"]
    assert tier["reached"] is None and tier["not_measured"] == "no_samples"
    assert "N/A" in Path("page.html").read_text() or troubled.dead


def sample_into(path: Path, nvml: FakeNvml) -> None:
    """What the real sampler makes of these GPUs, as lines within the steady steps of a run."""
    lines: list[str] = []
    done = {"count": 0}

    def line(kind: str, **fields: object) -> None:
        lines.append(json.dumps({"kind": kind, "t": 1.0, **fields}))
        done["count"] += 1

    sampler = GpuSampler(
        Nvml(nvml),
        lambda sample: line("gpu", **vars(sample)),
        interval=0.001,
        on_lost=lambda index, why: line("gpu_lost", index=index, reason=why),
    )
    with sampler:
        while done["count"] < 12 and sampler._thread.is_alive():
            sampler._thread.join(0.002)
    whole = path.read_text().splitlines()
    path.write_text("\n".join([*whole[:-1], *lines, whole[-1]]) + "\n")


# --- corpus, configuration, TensorFlow -----------------------------------------------------------


def no_metadata(folder: Path) -> None:
    folder.mkdir()


def no_clips(folder: Path) -> None:
    folder.mkdir()
    (folder / "metadata.csv").write_text("")
    (folder / "wavs").mkdir()


def no_audio(folder: Path) -> None:
    folder.mkdir()
    (folder / "metadata.csv").write_text("a|Hello.\nb|World.\n")


@pytest.mark.parametrize("empty", [no_metadata, no_clips, no_audio, lambda _: None])
@pytest.mark.parametrize("tool", MEASURERS)
def test_an_empty_corpus(tool: str, empty, run: Run, files, tmp_path: Path, no_driver) -> None:
    empty(tmp_path / "corpus")
    code, text = run(MEASURERS[tool], CORPUS="corpus")
    assert code in (MUST_FIX, WRONG_USAGE, COULD_NOT_MEASURE), text
    assert "corpus" in text
    assert "try:" in text or "metadata.csv" in text or "not measured" in text, text


@pytest.mark.parametrize("empty", [no_metadata, no_clips, no_audio, lambda _: None])
def test_the_doctor_names_an_empty_corpus(empty, run: Run, tmp_path: Path, no_driver) -> None:
    empty(tmp_path / "corpus")
    code, text = run("doctor --train-data corpus --json")
    (check,) = (one for one in json.loads(text)["checks"] if one["name"] == "corpus")
    assert code == MUST_FIX and check["good"] is False and check["do"]


def not_yaml(path: Path) -> None:
    path.write_text("data: [1, 2\nmodel: }")


def not_utf8(path: Path) -> None:
    path.write_bytes(b"data: {train_data: \xff\xfe}")


def a_list(path: Path) -> None:
    path.write_text("- data\n- model\n")


def control_characters(path: Path) -> None:
    path.write_bytes(b"data:\n  train_data: \x00\x07\n")


def a_secret_file(path: Path) -> None:
    path.write_text("data: {}\n")
    path.chmod(0)


UNREADABLE: list[Callable[[Path], object]] = [
    not_yaml, not_utf8, a_list, control_characters, a_secret_file, Path.mkdir,
    lambda path: path.symlink_to(path), lambda path: None,
]  # fmt: skip


@pytest.mark.parametrize("make", UNREADABLE)
@pytest.mark.parametrize("tool", CONFIGURED)
def test_a_configuration_that_cannot_be_read(
    tool: str, make, run: Run, tmp_path: Path, monkeypatch
) -> None:
    file = tmp_path / "broken.yaml"
    make(file)
    if make is a_secret_file and os.access(file, os.R_OK):  # root reads everything
        refused = PermissionError(13, "Permission denied", str(file))
        monkeypatch.setattr(Path, "read_text", Mock(side_effect=refused))
    code, text = run(CONFIGURED[tool], CONFIG=file)
    assert code == WRONG_USAGE, text
    assert "broken.yaml" in text and "try:" in text


@pytest.mark.parametrize("make", UNREADABLE)
def test_the_doctor_names_a_configuration_that_cannot_be_read(
    make, run: Run, tmp_path: Path, no_driver
) -> None:
    file = tmp_path / "broken.yaml"
    make(file)
    code, text = run("doctor --config CONFIG --json", CONFIG=file)
    (check,) = (one for one in json.loads(text)["checks"] if one["name"] == "configuration")
    readable_by_root = make is a_secret_file and os.access(file, os.R_OK)
    assert readable_by_root or (code == MUST_FIX and check["good"] is False and check["do"])
    assert run("bundle -o help.zip --config CONFIG", CONFIG=file)[0] == GOOD


WITHOUT_TENSORFLOW = {
    "check-gpu --config good.yaml": GOOD,
    "config check good.yaml": GOOD,
    "report RUN -o page.html": GOOD,
    "compare RUN RUN": GOOD,
    "scaling RUN OTHER": GOOD,
    "monitor RUN --once": GOOD,
    "bundle RUN -o help.zip": GOOD,
    "doctor --train-data CORPUS": MUST_FIX,
    "diagnose --config good.yaml --num-steps 3 -o out": MUST_FIX,
    "fix --config good.yaml --num-steps 3 -o out": MUST_FIX,
    "configure --verify --config good.yaml": MUST_FIX,
    "validate --virtual-gpus 2": MUST_FIX,
    "profile --one-device --train-data CORPUS --num-steps 3 -o out": MUST_FIX,
    "analyze --train-data CORPUS --num-steps 3 -o out": MUST_FIX,
    "accept --virtual-gpus 2 --train-data CORPUS --num-steps 3 -o out": COULD_NOT_MEASURE,
}

# Two ways to have no TensorFlow: it is not installed, or its libraries cannot be loaded.
BLOCKED = """
import contextlib, importlib.abc, importlib.metadata, io, json, sys
from pathlib import Path

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("tensorflow", "keras"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

class Broken(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name == "tensorflow":
            return importlib.machinery.ModuleSpec(name, self)
    def exec_module(self, module):
        raise ImportError("libcudart.so.12: cannot open shared object file")

if sys.argv[1] == "missing":
    sys.meta_path.insert(0, Blocked())
    version = importlib.metadata.version
    def hidden(name):
        if name.startswith("tensorflow"):
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)
    importlib.metadata.version = hidden
else:
    sys.meta_path.insert(0, Broken())

from myxtts.training import child_run
from myxtts.tools import doctor
child_run._start = lambda told, words: child_run.main(told)
doctor.start_tensorflow = lambda: {"error": "libcudart.so.12: cannot open shared object file"}
from myxtts.cli.main import main
ended = {}
for command in json.loads(sys.argv[2]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(command)
        except BaseException as error:
            code = repr(error)
    ended[" ".join(command)] = [code, out.getvalue() + err.getvalue()]
print(json.dumps(ended))
"""


@pytest.mark.parametrize("how", ["missing", "broken"])
def test_without_tensorflow(how: str, record, corpus: Path, files, tmp_path: Path) -> None:
    places = {
        "RUN": str(record("a").path),
        "OTHER": str(record("b", data={"batch_size": 4}).path),
        "CORPUS": str(corpus),
    }
    commands = {
        tuple(places.get(word, word) for word in command.split()): code
        for command, code in WITHOUT_TENSORFLOW.items()
    }
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, how, json.dumps(list(commands))],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ended = json.loads(done.stdout.splitlines()[-1])
    for command, expected in commands.items():
        code, text = ended[" ".join(command)]
        assert code == expected, (command, code, text)
        if expected != GOOD:
            said = "not installed" if how == "missing" else "cannot be loaded|libcudart|cannot open"
            assert "TensorFlow" in text and re.search(said, text), (command, text)


FAKE_DRIVER = """
import sys
sys.path.append({root!r})
from tests.fake_nvml import FakeNvml
sys.modules[__name__] = FakeNvml(lost={{1: 2}}, missing=("power",))
"""


@pytest.mark.long
def test_a_real_run_whose_gpu_is_lost_in_the_middle(thin, tmp_path: Path) -> None:
    """The driver of the whole process tree is a made-up one; everything else is real."""
    (tmp_path / "driver").mkdir()
    (tmp_path / "driver" / "pynvml.py").write_text(FAKE_DRIVER.format(root=str(ROOT)))
    (tmp_path / "config.yaml").write_text(
        "model: {width: 16, encoder_blocks: 1, decoder_blocks: 1}\n"
        "data: {enable_xla: false, max_buckets: 1, model_start_delay: 0.0}\n"
    )
    environment = os.environ | {"PYTHONPATH": f"{tmp_path / 'driver'}{os.pathsep}{ROOT}"}
    words = ("profile", "--virtual-gpus", "2", "--batch-size", "4", "--num-steps", "60", "--json")
    done = subprocess.run(
        [sys.executable, "-m", "myxtts", *words, "--train-data", thin["data.train_data"]],
        capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode in (GOOD, MUST_FIX), done.stderr
    assert "Traceback" not in done.stderr
    told = json.loads(done.stdout)
    lost = {card["index"]: card["lost"] for card in told["gpus"]}
    assert lost == {0: False, 1: True}
    assert "gpu_lost" in [one["name"] for one in told["incidents"]]
    assert all(card["power_w"] is None for card in told["gpus"])
