"""All judges over the same clips: each asked about the model's speech and about the source's.

The source's figures are what a perfect model would get: its recordings' own word error rate, their
similarity to another clip of the speaker, and, for timbre, pitch and time, what remains of them
after our vocoder alone. Where the speech comes from is the caller's business.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from myxtts.audio.griffin_lim import griffin_lim
from myxtts.audio.mel import MelSettings, log_mel
from myxtts.errors import MeasurementError
from myxtts.evaluation import cepstrum, durations, pitch, recognizers, wer
from myxtts.evaluation.recognizers import Name, Recognizer
from myxtts.evaluation.similarity import centroid, cosine, nearest_speaker
from myxtts.evaluation.summary import WER, Evaluation, Hearing, JudgedClip, NotMeasured, Sides
from myxtts.evaluation.voice_encoder import VoiceEncoder
from myxtts.evaluation.warping import warp


@dataclass(frozen=True, eq=False)
class Pair:
    """One text said twice: mono float32 samples [n] in [-1, 1], at the mel settings' rate."""

    name: str
    text: str
    language: str
    speaker: str
    model: np.ndarray
    source: np.ndarray
    reference: np.ndarray | None = None
    """The clip whose voice the model was shown; None: it spoke in a voice of its own."""
    other: np.ndarray | None = None
    """Another recording of the source's speaker; usually the very array that `reference` is."""
    token_frames: tuple[np.ndarray, np.ndarray] | None = None
    """Frames of each token, the model's and the source's, where alignments are known."""


@dataclass(frozen=True)
class Judges:
    """The judges that need something installed, opened once."""

    recognizers: Mapping[Name, Recognizer]
    encoder: VoiceEncoder | None
    missing: tuple[NotMeasured, ...] = ()

    @classmethod
    def open(cls) -> Judges:
        """All that are installed; the others are in `missing`, with what to type."""
        opened: dict[Name, Recognizer] = {}
        encoder = None
        missing = []
        for name in recognizers.NAMES:
            try:
                opened[name] = recognizers.open_recognizer(name)
            except MeasurementError as error:
                missing.append(NotMeasured(WER[name], error.rule, error.remedy))
        try:
            encoder = VoiceEncoder()
        except MeasurementError as error:
            missing.append(NotMeasured("similarity", error.rule, error.remedy))
        return cls(opened, encoder, tuple(missing))


def evaluate(pairs: Iterable[Pair], mel: MelSettings, judges: Judges | None = None) -> Evaluation:
    """Judge the pairs as they come; one is held at a time."""
    judges = judges or Judges.open()
    clips: list[JudgedClip] = []
    voices: list[_Voices | None] = []
    for pair in pairs:
        heard = _listen(pair, judges, mel.sample_rate)
        seen = _see_voices(pair, judges.encoder, mel.sample_rate)
        clips.append(_judged(pair, heard, seen, mel))
        voices.append(seen)
    _add_nearest_speakers(clips, voices)
    return Evaluation(clips, [*judges.missing, *_not_measured(clips, judges)])


@dataclass(frozen=True, eq=False)
class _Voices:
    """Vectors of a pair's four clips."""

    model: np.ndarray
    source: np.ndarray
    reference: np.ndarray
    other: np.ndarray

    @property
    def own(self) -> bool:
        """Whether the model was to speak in the source's voice."""
        return self.reference is self.other


def _listen(pair: Pair, judges: Judges, rate: int) -> dict[Name, Hearing]:
    if pair.language not in recognizers.LANGUAGES or not wer.words(pair.text):
        return {}
    heard: dict[Name, Hearing] = {}
    for name, recognizer in judges.recognizers.items():
        model, source = (recognizer.transcribe(side, rate) for side in (pair.model, pair.source))
        edits = [wer.word_edits(pair.text, text)[0] for text in (model, source)]
        heard[name] = Hearing(model, source, *edits)
    return heard


def _see_voices(pair: Pair, encoder: VoiceEncoder | None, rate: int) -> _Voices | None:
    if encoder is None or pair.reference is None or pair.other is None:
        return None
    other = encoder.embed(pair.other, rate)
    same = pair.reference is pair.other
    reference = other if same else encoder.embed(pair.reference, rate)
    return _Voices(
        encoder.embed(pair.model, rate), encoder.embed(pair.source, rate), reference, other
    )


def _judged(
    pair: Pair, heard: dict[Name, Hearing], voices: _Voices | None, mel: MelSettings
) -> JudgedClip:
    words = len(wer.words(pair.text)) if heard else 0
    values = {
        WER[name]: Sides(hearing.model_edits / words, hearing.source_edits / words)
        for name, hearing in heard.items()
    }
    if voices is not None:
        values["similarity"] = Sides(
            cosine(voices.model, voices.reference), cosine(voices.source, voices.other)
        )
    resynthesised = griffin_lim(log_mel(pair.source, mel), mel)
    model = _apart(pair.model, pair.source, mel)
    source = _apart(resynthesised, pair.source, mel)
    for metric in model.keys() & source.keys():
        values[metric] = Sides(model[metric], source[metric])
    if pair.token_frames is not None:
        error = durations.token_duration_error(*pair.token_frames)
        values["token_duration_error"] = Sides(error, 0.0)
    return JudgedClip(pair.name, pair.text, pair.language, pair.speaker, words, heard, values)


def _apart(one: np.ndarray, other: np.ndarray, mel: MelSettings) -> dict[str, float]:
    """What is measured between two renderings, along one warping path."""
    first, second = (cepstrum.mel_cepstrum(log_mel(side, mel)) for side in (one, other))
    path = warp(first, second)
    pitch_of_one, pitch_of_other = (
        pitch.track(side, mel.sample_rate, mel.hop) for side in (one, other)
    )
    cents, voicing = pitch.pitch_errors(pitch_of_one, pitch_of_other, path)
    found = {
        "mcd_db": cepstrum.distortion(first, second, path),
        "voicing_error": voicing,
        "duration_error": durations.duration_error(one, other, mel.sample_rate),
    }
    return found if cents is None else found | {"f0_cents": cents}


def _add_nearest_speakers(clips: list[JudgedClip], voices: list[_Voices | None]) -> None:
    """With two speakers or more: whose other clips, taken together, are nearest."""
    references = defaultdict(list)
    for clip, seen in zip(clips, voices, strict=True):
        if seen is not None:
            references[clip.speaker].append(seen.other)
    if len(references) < 2:
        return
    centroids = {speaker: centroid(vectors) for speaker, vectors in references.items()}
    for number, (clip, seen) in enumerate(zip(clips, voices, strict=True)):
        if seen is not None and seen.own:
            right = (
                float(nearest_speaker(vector, centroids) == clip.speaker)
                for vector in (seen.model, seen.source)
            )
            clips[number] = replace(clip, values=clip.values | {"nearest_speaker": Sides(*right)})


def _not_measured(clips: list[JudgedClip], judges: Judges) -> list[NotMeasured]:
    """What no installation would change."""
    deaf = Counter(c.language for c in clips if c.language not in recognizers.LANGUAGES)
    found = [
        NotMeasured("wer", f"there is no offline recogniser for {language} ({count} clips)")
        for language, count in sorted(deaf.items())
    ]
    alone = sum("similarity" not in clip.values for clip in clips)
    if judges.encoder is not None and alone:
        reason = f"no other clip of the same speaker ({alone} clips)"
        found.append(NotMeasured("similarity", reason))
    silent = sum("f0_cents" not in clip.values for clip in clips)
    if silent:
        found.append(NotMeasured("f0_cents", f"no frame voiced on both sides ({silent} clips)"))
    return found
