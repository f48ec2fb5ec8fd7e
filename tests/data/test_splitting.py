"""Long clips of real speech with known silences: a piece never gets another piece's words."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from myxtts.audio.decode import write_wav
from myxtts.audio.mel import MelSettings, log_mel
from myxtts.config import DataConfig
from myxtts.data.buckets import Bucket
from myxtts.data.demo_sentences import sentences
from myxtts.data.loader import Loader
from myxtts.data.prepare import PreparedCorpus, prepare
from myxtts.data.sampler import Sampler
from myxtts.data.splitting import Limits, NotSplit, split
from myxtts.text.espeak import speak

RATE = 22050
SENTENCES = [
    "The river was low, and the boats lay on the sand.",
    "Nobody had asked the miller what he thought of it.",
    "When the bell rang the children ran out into the snow.",
    "A letter came from the north with seven green stamps.",
]
"""How they are spoken here: the comma of the first is a short pause, the others have none."""


@dataclass(frozen=True)
class Joined:
    """Sentences one after the other, and where the silences between them are."""

    samples: np.ndarray
    silences: list[tuple[int, int]]

    @property
    def mels(self) -> np.ndarray:
        noise = np.random.default_rng(0).normal(0, 1e-4, len(self.samples)).astype(np.float32)
        return log_mel(self.samples + noise, MelSettings()).astype(np.float16)


def spoken(text: str, rate: int = 160) -> np.ndarray:
    """float32 samples without the silence around them."""
    samples = speak(text, "en", rate=rate).samples / np.float32(32768)
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    return samples[loud[0] : loud[-1] + 1]


def join(parts: list[np.ndarray], seconds: list[float]) -> Joined:
    pieces, silences, at = [parts[0]], [], len(parts[0])
    for part, length in zip(parts[1:], seconds, strict=True):
        gap = int(length * RATE)
        silences.append((at, at + gap))
        pieces += [np.zeros(gap, np.float32), part]
        at += gap + len(part)
    return Joined(np.concatenate(pieces), silences)


def limits(frames: int, tokens: int = 4096) -> Limits:
    return Limits(frames, tokens, RATE / 256)


def test_a_cut_lies_in_the_silence_between_its_sentences() -> None:
    clip = join([spoken(text) for text in SENTENCES], [0.5, 0.4, 0.6])
    mels = clip.mels
    pieces = split(" ".join(SENTENCES), mels, 200, limits(len(mels) // 3))
    assert [piece.text for piece in pieces] == SENTENCES
    assert pieces[0].first == 0
    assert sum(piece.frames for piece in pieces) == len(mels)
    for piece, (start, stop) in zip(pieces[1:], clip.silences, strict=True):
        assert start < piece.first * 256 < stop


def test_neighbours_stay_together_when_they_fit() -> None:
    clip = join([spoken(text) for text in SENTENCES], [0.5, 0.5, 0.5])
    mels = clip.mels
    pieces = split(" ".join(SENTENCES), mels, 200, limits(len(mels) * 2 // 3))
    assert [piece.text for piece in pieces] == [
        " ".join(SENTENCES[:2]),
        " ".join(SENTENCES[2:]),
    ]


def test_a_text_too_long_for_the_shape_is_cut_too() -> None:
    clip = join([spoken(text) for text in SENTENCES], [0.5, 0.5, 0.5])
    pieces = split(" ".join(SENTENCES), clip.mels, 200, limits(10_000, tokens=120))
    assert len(pieces) == 2


@pytest.mark.parametrize(
    ("texts", "seconds", "reason"),
    [
        (["The river was low and the boats lay on the sand."], [], "no mark inside"),
        (SENTENCES[1:3], [0.01], "1 marks in the transcript, 0 pauses"),
        (SENTENCES[1:4], [0.5, 0.02], "pause"),
    ],
    ids=["no marks", "no pause", "one pause is missing"],
)
def test_without_agreement_it_stays_whole(
    texts: list[str], seconds: list[float], reason: str
) -> None:
    clip = join([spoken(text) for text in texts], seconds)
    with pytest.raises(NotSplit, match=reason):
        split(" ".join(texts), clip.mels, 200, limits(len(clip.mels) // 2 + 20))


def test_a_breath_in_the_wrong_place_is_not_taken_for_the_full_stop() -> None:
    """As many pauses as marks, but the pause is two words into the second sentence."""
    first, second = SENTENCES[1], SENTENCES[2]
    words = second.split()
    run_on = spoken(f"{first[:-1]} {' '.join(words[:4])}")
    clip = join([run_on, spoken(" ".join(words[4:]))], [0.6])
    with pytest.raises(NotSplit):
        split(f"{first} {second}", clip.mels, 100, limits(len(clip.mels) * 3 // 4))


def test_a_transcript_in_another_order_is_not_cut_wrongly() -> None:
    long, short = " ".join(SENTENCES[2].rstrip(".").split()) + ".", "It was cold."
    clip = join([spoken(long), spoken(short)], [0.6])
    with pytest.raises(NotSplit, match="of the letters"):
        split(f"{short} {long}", clip.mels, 100, limits(len(clip.mels) * 3 // 4))


def test_among_many_random_clips_no_cut_is_wrong() -> None:
    """Changing speed, pauses that are missing, breaths anywhere: cut rightly or not at all."""
    draws = np.random.default_rng(11)
    every = islice(sentences("en", seed=1, held_out=False), 200)
    texts = [text for text in every if not set(",;:") & set(text)]
    cut, kept = 0, 0
    for _ in range(60):
        chosen = [texts[i] for i in draws.choice(len(texts), int(draws.integers(2, 5)), False)]
        parts = []
        for text in chosen:
            part = spoken(text, int(draws.integers(140, 181)))
            if draws.random() < 0.3:
                at, breath = len(part) // 3, np.zeros(int(draws.uniform(0.1, 0.6) * RATE))
                part = np.concatenate([part[:at], breath.astype(np.float32), part[at:]])
            parts.append(part)
        seconds = draws.choice([0.03, 0.3, 0.5, 0.7], len(parts) - 1, p=[0.1, 0.3, 0.3, 0.3])
        clip = join(parts, seconds.tolist())
        mels = clip.mels
        try:
            pieces = split(" ".join(chosen), mels, 100, limits(len(mels) * 3 // 4))
        except NotSplit:
            kept += 1
            continue
        cut += 1
        ends = np.cumsum([len(text.split()) for text in chosen]).tolist()
        words = 0
        for piece in pieces[:-1]:
            words += len(piece.text.split())
            start, stop = clip.silences[ends.index(words)]
            assert start < (piece.first + piece.frames) * 256 < stop
    assert cut > 10 and kept > 10


@pytest.fixture
def long_corpus(tmp_path: Path) -> Path:
    """Four short clips, a long one that can be cut, and a long one that cannot."""
    folder = tmp_path / "corpus"
    (folder / "wavs").mkdir(parents=True)
    lines = []
    for number, text in enumerate(SENTENCES):
        write_wav(folder / f"wavs/short{number}.wav", spoken(text), RATE)
        lines.append(f"short{number}|{text}")
    joined = join([spoken(text) for text in SENTENCES], [0.5, 0.4, 0.6])
    write_wav(folder / "wavs/cut.wav", joined.samples, RATE)
    lines.append(f"cut|{' '.join(SENTENCES)}")
    run_on = [text.rstrip(".").replace(",", "") for text in SENTENCES]
    write_wav(folder / "wavs/whole.wav", joined.samples, RATE)
    lines.append(f"whole|{' and '.join(run_on)}")
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n")
    return folder


def configured(**settings: object) -> DataConfig:
    return DataConfig(
        text_units="characters",
        language="en",
        max_mel_frames=360,
        batch_size=3,
        **settings,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("features", ["cached", "live"])
def test_pieces_take_the_place_of_their_clip(
    long_corpus: Path, features: str, caplog: pytest.LogCaptureFixture
) -> None:
    whole = prepare(long_corpus, configured(features=features))
    assert len(whole) == 6 and not whole.long_clips
    with caplog.at_level("INFO"):
        corpus = prepare(long_corpus, configured(features=features, long_clips="split"))
    names = [f"short{n}" for n in range(4)] + [f"cut#{n}" for n in range(1, 5)] + ["whole"]
    assert corpus.clip_ids == names
    assert corpus.texts[4:8] == SENTENCES
    assert [str(told) for told in corpus.long_clips] == [
        "cut: cut into 4 pieces",
        "whole: stays whole, the transcript has no mark inside",
    ]
    assert "cut: cut into 4 pieces" in caplog.text
    assert not corpus.skipped
    assert corpus.frames[4:8].sum() == whole.frames[4]
    assert (corpus.frames[:8] <= 360).all()
    mels = np.concatenate([corpus.store.mel(row) for row in range(4, 8)])
    np.testing.assert_array_equal(mels, whole.store.mel(4))
    for row in range(4):  # the piece reads what the short clip of the same sentence reads
        tokens = [_tokens(corpus, row), _tokens(corpus, row + 4)]
        np.testing.assert_array_equal(*tokens)
    assert corpus.computed.texts == 0  # every piece is the text of a short clip, known already
    assert corpus.computed.clips == 0
    assert corpus.fingerprint != whole.fingerprint


def test_the_text_of_pieces_is_computed_once(long_corpus: Path) -> None:
    lines = (long_corpus / "metadata.csv").read_text().splitlines()
    (long_corpus / "metadata.csv").write_text("\n".join(lines[4:]) + "\n")
    data = configured(long_clips="split")
    assert prepare(long_corpus, data).computed.texts == 2 + 4
    again = prepare(long_corpus, data)
    assert (again.computed.texts, again.computed.clips) == (0, 0)
    text = (long_corpus / "metadata.csv").read_text().replace("whole|The", "whole|A")
    (long_corpus / "metadata.csv").write_text(text)
    assert prepare(long_corpus, data).computed.texts == 1


@pytest.mark.parametrize("features", ["cached", "live"])
def test_batches_of_pieces_are_the_same_decoded_in_python(long_corpus: Path, features: str) -> None:
    data = configured(long_clips="split", features=features)
    corpus = prepare(long_corpus, data)
    shapes = (Bucket(256, int(corpus.frames.max()), 9),)
    sampler = Sampler(np.zeros(9, np.int32), shapes, corpus.speaker, 0, shuffle=False)
    native = Loader(corpus, shapes, sampler, data, 40)
    decoding = data.model_copy(update={"use_tf_native_loading": False})
    python = Loader(corpus, shapes, sampler, decoding, 40)
    one, other = native.load(0), python.load(0)
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name])


def _tokens(corpus: PreparedCorpus, row: int) -> np.ndarray:
    return corpus.tokens[corpus.token_offsets[row] : corpus.token_offsets[row + 1]]
