"""Speech to judge, spoken by espeak-ng."""

import numpy as np
import pytest

from myxtts.audio.decode import resample

RATE = 22050


@pytest.fixture(scope="session")
def say():
    """`say(text, variant)` -> float32 samples at 22,050 Hz in a voice of espeak-ng."""
    pytest.importorskip("espeakng_loader", reason="the speech to judge comes from espeak-ng")
    from myxtts.text import espeak

    def speak(text: str, variant: str = "", rate: int = 150) -> np.ndarray:
        speech = espeak.speak(text, f"en-us+{variant}".rstrip("+"), rate=rate)
        return resample(speech.samples.astype(np.float32) / 32768, speech.sample_rate, RATE)

    return speak
