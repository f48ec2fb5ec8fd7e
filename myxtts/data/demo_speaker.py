"""espeak-ng in a process of its own, so that the same sentences give the same samples.

espeak-ng carries state from one sentence to the next and cannot be reset: what it says depends on
everything its process has said before. `FreshSpeaker` starts a process that has said nothing,
fixes its noise, and asks it for one sentence after the other. This file is both ends: imported it
is the asking side, run with `python -m` it is the speaking side.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import subprocess
import sys
from types import TracebackType
from typing import Self

import numpy as np

from myxtts.text import espeak

_HEADER = struct.Struct("<ii")  # sample rate in Hz, number of samples; then the samples, int16


class FreshSpeaker:
    """A context manager; `say` must be called in one thread."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "myxtts.data.demo_speaker", str(self._seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._process.kill()
        self._process.communicate()  # closes its input, which ends it

    def say(self, text: str, voice: str, rate: int) -> tuple[np.ndarray, int]:
        """Samples, int16 [n], and their rate in Hz. `rate` is in words per minute."""
        assert self._process.stdin is not None and self._process.stdout is not None
        request = json.dumps({"text": text, "voice": voice, "rate": rate})
        try:
            self._process.stdin.write(request.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it ended; the empty answer below says why
        header = self._process.stdout.read(_HEADER.size)
        if len(header) < _HEADER.size:
            self._process.kill()
            _, reason = self._process.communicate()
            raise RuntimeError(f"the speaking process ended: {reason.decode(errors='replace')}")
        sample_rate, count = _HEADER.unpack(header)
        return np.frombuffer(self._process.stdout.read(2 * count), "<i2"), sample_rate


def _answer_requests(seed: int) -> None:
    """The speaking side: one JSON line in, one header with samples out, until the input ends."""
    import espeakng_loader

    espeak.version()  # starts the library, which seeds the noise of its voices from the clock
    library = ctypes.CDLL(espeakng_loader.get_library_path())  # the same one: loaded once a process
    library.espeak_ng_SetRandSeed(ctypes.c_long(seed + 1))  # its generator stands still at 0
    for line in sys.stdin.buffer:
        request = json.loads(line)
        speech = espeak.speak(request["text"], request["voice"], rate=request["rate"])
        samples = speech.samples.astype("<i2")
        sys.stdout.buffer.write(_HEADER.pack(speech.sample_rate, len(samples)))
        sys.stdout.buffer.write(samples.tobytes())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _answer_requests(int(sys.argv[1]))
