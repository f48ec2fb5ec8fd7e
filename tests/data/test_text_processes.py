import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from myxtts.data.text_processes import encode_in_processes
from myxtts.errors import UserError
from myxtts.text.tokenizer import Tokenizer

TEXTS = [
    pair
    for number in range(400)
    for pair in ((f"Number {number}, please.", "en"), (f"شماره‌ی {number} را بگو.", "fa"))
]


@pytest.mark.parametrize("processes", [1, 3])
def test_the_same_phonemes_in_the_same_order(processes: int) -> None:
    tokenizer = Tokenizer("phonemes")
    found = list(encode_in_processes(TEXTS, tokenizer, processes))
    assert len(found) == len(TEXTS)
    for encoded, (text, language) in zip(found, TEXTS, strict=True):
        np.testing.assert_array_equal(encoded.ids, tokenizer.encode(text, language).ids)


def test_unknown_characters_and_empty_texts() -> None:
    texts = [("☃", "en"), ("", "en"), ("a 我☃☃\nb", "en")]
    first, second, third = encode_in_processes(texts, Tokenizer("characters"), 2)
    assert (first.unknown, second.unknown) == (Counter("☃"), Counter())
    assert third.unknown == Counter({"☃": 2, "我": 1})
    assert len(second.ids) == 2
    assert list(encode_in_processes([], Tokenizer("characters"), 2)) == []


def test_a_process_that_is_killed_is_said() -> None:
    found = encode_in_processes(TEXTS * 8, Tokenizer("characters"), 2)
    next(found)
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    (victim, *_) = [child for child, command in commands.items() if b"text_processes" in command]
    os.kill(victim, signal.SIGKILL)
    with pytest.raises(UserError, match="process that reads transcripts ended"):
        list(found)


def test_leaving_early_leaves_no_process_behind() -> None:
    found = encode_in_processes(TEXTS, Tokenizer("characters"), 2)
    next(found)
    found.close()  # type: ignore[attr-defined]
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    commands = [Path(f"/proc/{child}/cmdline").read_bytes() for child in children]
    assert not any(b"text_processes" in command for command in commands)


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from myxtts.data.text_processes import encode_in_processes\n"
        "from myxtts.text.tokenizer import Tokenizer\n"
        "texts = [('one two', 'en')] * 600\n"
        "print(len(list(encode_in_processes(texts, Tokenizer('characters'), 2))))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["600"], done.stderr
