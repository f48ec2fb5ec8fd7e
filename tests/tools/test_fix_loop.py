"""Change, measure, keep what helped: with a machine that is a function, and real files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from myxtts.errors import MeasurementError, UserError
from myxtts.tools.fix_loop import Candidate, Settings, gained, improve
from myxtts.tools.fix_run import fix_file

ROOT = Path(__file__).parents[2]
TEXT = "# mine\ndata:\n  batch_size: 4  # small\n  num_workers: 1\n"


class Machine:
    """Frames a second as a function of the settings, with noise; remembers every run."""

    def __init__(self, rate: Callable[[Settings], float], noise: float = 0.02) -> None:
        self._rate, self._noise = rate, noise
        self._rng = np.random.default_rng(1)
        self.runs: list[Settings] = []

    def __call__(self, settings: Settings) -> list[float]:
        self.runs.append(dict(settings))
        return list(self._rate(settings) * self._rng.lognormal(0, self._noise, 6))


def once(*some: Candidate) -> Callable[[Settings], list[Candidate]]:
    """The candidates that the settings do not hold yet."""
    return lambda settings: [
        one for one in some if any(settings.get(k) != v for k, v in one.settings.items())
    ]


BATCH = Candidate({"data.batch_size": 16}, "batch")
WORKERS = Candidate({"data.num_workers": 2}, "workers")


def test_what_helps_is_kept_and_the_next_change_is_tried_on_top_of_it() -> None:
    machine = Machine(lambda s: 1000 * (1.5 if "data.batch_size" in s else 1) * (1.2 if "data.num_workers" in s else 1))  # fmt: skip # noqa: E501
    outcome = improve({}, once(BATCH, WORKERS), machine)
    assert outcome.settings == {"data.batch_size": 16, "data.num_workers": 2}
    assert [trial.verdict for trial in outcome.trials] == ["kept", "kept"]
    assert outcome.gain == pytest.approx(1.8, rel=0.1)
    assert machine.runs[:4] == [{}, BATCH.settings, BATCH.settings, {}]  # A B B A


@pytest.mark.parametrize("seed", range(8))
def test_noise_is_not_a_gain(seed: int) -> None:
    machine = Machine(lambda _: 1000.0, noise=0.05)
    machine._rng = np.random.default_rng(seed)
    outcome = improve({}, once(BATCH, WORKERS), machine)
    assert outcome.settings == {}
    assert len(outcome.trials) == 2 and not outcome.kept


def test_a_machine_that_becomes_faster_by_itself_proves_nothing() -> None:
    """Twice as fast after two minutes: B A would look like a gain, A B B A does not."""
    runs = 0

    def measure(settings: Settings) -> list[float]:
        nonlocal runs
        runs += 1
        return [1000.0 if runs < 2 else 2000.0] * 6

    assert improve({}, once(BATCH), measure).settings == {}


def test_what_is_slower_is_given_up_after_one_pair() -> None:
    machine = Machine(lambda s: 500.0 if s else 1000.0)
    (trial,) = improve({}, once(BATCH), machine).trials
    assert trial.verdict == "slower" and len(machine.runs) == 2


def test_a_candidate_that_does_not_run_is_passed_over() -> None:
    def measure(settings: Settings) -> list[float]:
        if "data.batch_size" in settings:
            raise MeasurementError("out of memory")
        return [1300.0 if settings else 1000.0] * 6

    outcome = improve({}, once(BATCH, WORKERS), measure)
    assert [trial.verdict for trial in outcome.trials] == ["did not run", "kept"]
    assert outcome.trials[0].problem == "out of memory"
    assert outcome.settings == WORKERS.settings


def test_when_the_run_as_it_is_cannot_be_measured_nothing_is_decided() -> None:
    def measure(settings: Settings) -> list[float]:
        raise MeasurementError("no GPU")

    with pytest.raises(UserError, match="no GPU"):
        improve({}, once(BATCH), measure)


def test_trials_are_limited() -> None:
    machine = Machine(lambda _: 1000.0)
    many = [Candidate({"data.batch_size": size}, "batch") for size in range(5, 20)]
    assert len(improve({}, once(*many), machine, most_trials=3).trials) == 3


def test_two_pairs_must_agree() -> None:
    a, slow, fast = [1000.0] * 6, [980.0] * 6, [1400.0] * 6
    both = gained([(a, fast), (a, fast)])
    assert both.low > 1
    one = gained([(a, fast), (a, slow)])
    assert one.low < 1 < one.high


# -- on a file -----------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_bytes(TEXT.encode())
    return path


def test_a_file_gets_what_helped_with_a_backup_and_its_comments(file: Path) -> None:
    machine = Machine(lambda s: 1500.0 if "data.batch_size" in s else 1000.0)
    fixed = fix_file(file, once(BATCH, WORKERS), machine)
    assert fixed.backup is not None and fixed.backup.read_bytes() == TEXT.encode()
    after = file.read_text()
    assert "batch_size: 16" in after and "num_workers: 1" in after
    assert after.startswith("# mine\n") and "# small" in after
    assert "-  batch_size: 4  # small" in fixed.diff
    assert fixed.as_json()["trials"][0]["verdict"] == "kept"


@pytest.mark.parametrize("rate", [1000.0, 600.0], ids=["noise", "worse"])
def test_a_file_is_as_it_was_when_nothing_helped(file: Path, rate: float) -> None:
    fixed = fix_file(file, once(BATCH), Machine(lambda s: rate if s else 1000.0))
    assert file.read_bytes() == TEXT.encode()
    assert fixed.backup is None and fixed.diff == ""
    assert list(file.parent.iterdir()) == [file]


def test_control_c_in_the_middle_leaves_the_file_as_it_was(file: Path) -> None:
    machine = Machine(lambda s: 2000.0 if s else 1000.0)

    def measure(settings: Settings) -> list[float]:
        if len(machine.runs) == 5:  # one change has already proved itself
            raise KeyboardInterrupt
        return machine(settings)

    with pytest.raises(KeyboardInterrupt):
        fix_file(file, once(BATCH, WORKERS), measure)
    assert file.read_bytes() == TEXT.encode()
    assert list(file.parent.iterdir()) == [file]


def test_a_killed_process_leaves_the_file_as_it_was(file: Path) -> None:
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from myxtts.tools.fix_loop import Candidate\n"
        "from myxtts.tools.fix_run import fix_file\n"
        "def measure(settings):\n"
        "    print('measuring', flush=True)\n"
        "    time.sleep(0.0 if not settings else 600.0)\n"
        "    return [1.0] * 6\n"
        "change = Candidate({'data.batch_size': 16}, 'batch')\n"
        "fix_file(Path(sys.argv[1]), lambda settings: [change], measure)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(file)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    child.stdout.readline()
    child.stdout.readline()  # the change is being measured
    time.sleep(0.1)
    child.send_signal(signal.SIGKILL)
    child.wait(timeout=30)
    assert file.read_bytes() == TEXT.encode()
    assert list(file.parent.iterdir()) == [file]
