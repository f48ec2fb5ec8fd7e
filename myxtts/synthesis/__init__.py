"""From text and a voice to sound.

    request ──► script ──────────► mel_frames ──► vocoder ───► joining
    text,       pieces, their      batches of     in threads   pauses, fades,
    voice       language, tokens   the model                   peak limit

`Speaker` is a checkpoint ready to talk; `batch` speaks a whole file. Training and judging speech is
others' business.
"""

from myxtts.synthesis.request import Request, Sentence, Speech
from myxtts.synthesis.speaker import Speaker

__all__ = ["Request", "Sentence", "Speaker", "Speech"]
