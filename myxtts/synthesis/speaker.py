"""A checkpoint that talks: texts of any length in, samples out.

`prepare` reads a request and refuses what cannot be said; `perform` says many of them at once:
their pieces share batches, whoever they belong to, and the vocoder works in threads beside the
model. `say` and `say_many` are both in one call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from myxtts.audio import joining, vocoder
from myxtts.config import Config
from myxtts.data.recipe import Recipe
from myxtts.devices import require_tensorflow
from myxtts.synthesis.mel_frames import TOKENS, Frames, MelMaker
from myxtts.synthesis.request import PAUSE_SECONDS, Clips, Request, Sentence, Speech
from myxtts.synthesis.script import Part, Script, ScriptWriter
from myxtts.synthesis.voices import Voices
from myxtts.text.tokenizer import Tokenizer
from myxtts.training import checkpoint, references

Progress = Callable[[int, int], None]
"""Called with the pieces said so far and how many there are."""


class Speaker:
    """Speaks with the weights of one checkpoint, on TensorFlow's default device, in one thread."""

    def __init__(self, path: Path, *, vocoder_name: str = vocoder.DEFAULT, seed: int = 0) -> None:
        require_tensorflow()
        from myxtts.training import network

        found = checkpoint.load(path)
        self.config = Config.model_validate(found.info["config"])
        self.tokenizer = Tokenizer(self.config.data.text_units)
        network.check_vocabulary(found, self.tokenizer)
        data, model = self.config.data, self.config.model
        recipe = Recipe.of(data)
        self.mel = recipe.mel
        self.vocoder = vocoder.make(vocoder_name, recipe.mel, seed)
        kept = references.of_checkpoint(found.info, found.arrays["references"])
        self._voices = Voices(kept, recipe)
        longest = min(data.max_text_length, TOKENS[-1])
        self._writer = ScriptWriter(self.tokenizer, self._voices, longest)

        self._model = network.build(model, self.tokenizer, data.n_mels, "float32", seed)
        network.restore(self._model.trainable_variables, found.weights, found, "weights")
        self._mels = MelMaker(
            self._model,
            *found.mel_statistics,
            voice_conditioning=model.voice_conditioning,
            language_conditioning=model.language_conditioning,
        )

    @classmethod
    def load(
        cls,
        run_or_checkpoint: Path | str,
        *,
        vocoder_name: str = vocoder.DEFAULT,
        seed: int = 0,
    ) -> Speaker:
        """The newest checkpoint of a run's folder, or the checkpoint itself."""
        return cls(Path(run_or_checkpoint), vocoder_name=vocoder_name, seed=seed)

    @property
    def languages(self) -> list[str]:
        """What the corpus of this checkpoint spoke."""
        return self._voices.languages

    @property
    def speakers(self) -> list[str]:
        """The voices of the corpus that this checkpoint kept, by name."""
        return self._voices.speakers

    def say(
        self,
        text: str,
        *,
        language: str | None = None,
        reference: Clips | None = None,
        speaker: str | None = None,
        speed: float = 1.0,
        pause: float = PAUSE_SECONDS,
    ) -> np.ndarray:
        """Speak a text of any length: float32 samples at `mel.sample_rate`. See `Request`."""
        request = Request(text, language, reference, speaker, speed, pause)
        return self.perform([self.prepare(request)])[0].samples

    def say_many(
        self,
        texts: Sequence[str],
        references: Sequence[Clips | None] | None = None,
        languages: Sequence[str | None] | None = None,
        *,
        speed: float = 1.0,
        progress: Progress | None = None,
    ) -> list[np.ndarray]:
        """Speak many texts, much faster than one by one: the samples of each."""
        nothing = [None] * len(texts)
        requests = [
            Request(text, language, reference, speed=speed)
            for text, language, reference in zip(
                texts, languages or nothing, references or nothing, strict=True
            )
        ]
        scripts = [self.prepare(request) for request in requests]
        return [speech.samples for speech in self.perform(scripts, progress)]

    def prepare(self, request: Request) -> Script:
        """Read a request; a `UserError` when it cannot be said."""
        return self._writer.write(request)

    def perform(self, scripts: Sequence[Script], progress: Progress | None = None) -> list[Speech]:
        """Say scripts that `prepare` wrote, each once."""
        with ThreadPoolExecutor(os.cpu_count() or 1, "vocoder") as pool:
            try:
                self._voice_all(scripts, pool, progress)
                return [self._speech(script) for script in scripts]
            except BaseException:  # Ctrl-C too: what has not begun is not waited for
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _voice_all(
        self, scripts: Sequence[Script], pool: ThreadPoolExecutor, progress: Progress | None
    ) -> None:
        """Let the model say every part, and hand it to the vocoder's threads."""
        waiting = [(part, script) for script in scripts for part in script.parts]
        done, total = 0, len(waiting)
        while waiting:
            cut: list[tuple[Part, Script]] = []
            for i, frames in self._mels.say([part.utterance for part, _ in waiting]):
                part, script = waiting[i]
                if not frames.whole and self._cut(part, script, frames):
                    cut += [(each, script) for each in part.cut]
                    total += len(part.cut) - 1
                    continue
                part.sound = pool.submit(self.vocoder, frames.mels)
                done += 1
                if progress is not None:
                    progress(done, total)
            waiting = cut

    def _cut(self, part: Part, script: Script, frames: Frames) -> bool:
        """Cut a part that filled the largest shape; a single word is said as far as it goes."""
        part.cut = self._writer.halved(part, script.request)
        if not part.cut:
            seconds = len(frames.mels) * self.mel.hop / self.mel.sample_rate
            script.notices.append(f"cut off after {seconds:.1f} s: {part.piece.text}")
        return bool(part.cut)

    def _speech(self, script: Script) -> Speech:
        parts, rate = script.said(), self.mel.sample_rate
        sounds = [part.sound.result() for part in parts if part.sound is not None]
        joined = joining.join(sounds, script.pauses(), rate)
        sentences = [
            Sentence(part.piece.text, part.utterance.language, start / rate)
            for part, start in zip(parts, joined.starts, strict=True)
        ]
        return Speech(joining.limited(joined.samples), rate, sentences, script.notices)
