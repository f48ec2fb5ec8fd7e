"""The demonstration: what a freshly trained model says, and how much of it is understood.

`speak` lets the model and the source speaker say the same held-out sentences, and a recogniser
listen to both; `write_page` puts sound, spectrograms and the account of the time on one page.
Making the corpus and training are done before, by the same code that users call.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from myxtts.audio.decode import write_wav
from myxtts.audio.mel import log_mel
from myxtts.data import demo_corpus
from myxtts.evaluation import recognizers
from myxtts.evaluation.wer import word_error_rate
from myxtts.files import write_atomically
from myxtts.synthesis import Speaker
from myxtts.telemetry import session
from myxtts.text import espeak
from myxtts.tools import report_page
from myxtts.tools.image import spectrogram_png
from myxtts.tools.report import sections as report_sections
from myxtts.tools.summary import summarize

JUDGED_SENTENCES = 24
SHOWN = 2
"""Sentences of each language that the page plays."""


@dataclass(frozen=True)
class Spoken:
    """One sentence that the model said."""

    language: str
    text: str
    wav: Path
    spectrogram: Path


@dataclass(frozen=True)
class Heard:
    """Word error rates over the judged sentences; None: no recogniser is installed."""

    model: float | None
    source: float | None
    sentences: int


def speak(
    run: Path, corpus: Path, folder: Path, seed: int, progress: Callable[[str, int, int], None]
) -> tuple[list[Spoken], Heard]:
    """Say held-out sentences of both languages and judge the English ones."""
    speaker = Speaker(run)
    voice = demo_corpus.espeak_voice("en", demo_corpus.VOICES[0])
    reference = next(iter(sorted((corpus / "wavs").glob("en-*.wav"))))
    texts = {code: demo_corpus.held_out(seed, JUDGED_SENTENCES, code) for code in ("en", "fa")}
    spoken = []
    for code, sentences in texts.items():
        for number, text in enumerate(sentences[:SHOWN]):
            samples = speaker.say(text, language=code, reference=reference)
            spoken.append(_kept(folder, f"{code}-{number + 1}", code, text, samples, speaker))
    heard = _judge(speaker, texts["en"], voice, reference, progress)
    return spoken, heard


def _kept(
    folder: Path, name: str, code: str, text: str, samples: np.ndarray, speaker: Speaker
) -> Spoken:
    wav, image = folder / f"{name}.wav", folder / f"{name}.png"
    write_wav(wav, samples, speaker.mel.sample_rate)
    write_atomically(image, spectrogram_png(log_mel(samples, speaker.mel)))
    return Spoken(code, text, wav, image)


def _judge(
    speaker: Speaker,
    texts: list[str],
    voice: str,
    reference: Path,
    progress: Callable[[str, int, int], None],
) -> Heard:
    if "moonshine" not in recognizers.installed():
        return Heard(None, None, 0)
    recognizer = recognizers.open_recognizer("moonshine")
    heard_model, heard_source = [], []
    for number, text in enumerate(texts):
        samples = speaker.say(text, language="en", reference=reference)
        heard_model.append(recognizer.transcribe(samples, speaker.mel.sample_rate))
        source = espeak.speak(text, voice, rate=demo_corpus.WORDS_PER_MINUTE)
        heard_source.append(recognizer.transcribe(source.samples / 32768, source.sample_rate))
        progress("listening", number + 1, len(texts))
    return Heard(
        word_error_rate(texts, heard_model),
        word_error_rate(texts, heard_source),
        len(texts),
    )


def write_page(folder: Path, run: Path, spoken: list[Spoken], heard: Heard) -> Path:
    """One HTML page: listen, look, and see where the time went."""
    body = [report_page.heading("What the model says")]
    body.append(report_page.paragraph(heard_line(heard)))
    body += [_player(sentence) for sentence in spoken]
    body += report_sections(summarize(session.load(run)), "en")
    page = folder / "index.html"
    write_atomically(page, report_page.page("MyXTTS demo", body, "en").encode())
    return page


def heard_line(heard: Heard) -> str:
    """One sentence about the word error rates."""
    if heard.model is None or heard.source is None:
        return 'Word error rate: not measured (pip install "myxtts[eval]").'
    return (
        f"Word error rate of the model on {heard.sentences} held-out English sentences: "
        f"{heard.model:.3f}; of the source speech (espeak-ng) on the same: {heard.source:.3f} "
        "(Moonshine tiny, offline)."
    )


def _player(sentence: Spoken) -> str:
    sound = base64.b64encode(sentence.wav.read_bytes()).decode()
    image = base64.b64encode(sentence.spectrogram.read_bytes()).decode()
    direction = "rtl" if sentence.language == "fa" else "ltr"
    return (
        f'<figure class="card"><figcaption lang="{sentence.language}" dir="{direction}">'
        f"{escape(sentence.text)}</figcaption>"
        f'<audio controls src="data:audio/wav;base64,{sound}"></audio>'
        f'<img alt="spectrogram" src="data:image/png;base64,{image}"></figure>'
    )
