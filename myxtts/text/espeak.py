"""The binding to espeak-ng: phonemes of a text, and speech with the time of each phoneme.

espeak keeps its voice, its parameters and its text position in globals of the loaded library, so
there is one instance per process and one lock around every call. Two threads without that lock get
wrong phonemes, not an error. To go faster, use processes.

This module does not normalise text and does not treat punctuation: see `normalize`, `phonemes`.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from myxtts.errors import UserError

# Values of espeak-ng's speak_lib.h.
_SYNCHRONOUS = 2
_PHONEME_EVENTS, _PHONEME_IPA, _DO_NOT_EXIT = 0x0001, 0x0002, 0x8000
_TEXT_IS_UTF8 = 1
_AS_MNEMONICS, _AS_IPA = 0x00, 0x02
_POSITION_IS_CHARACTER = 1
_RATE, _PITCH, _PITCH_RANGE = 1, 3, 4
_EVENT_LIST_END, _EVENT_PHONEME = 0, 7
_STATUS_OK = 0


@dataclass(frozen=True)
class PhonemeEvent:
    """A phoneme begins at this sample; an empty name is a pause."""

    sample: int
    phoneme: str


@dataclass(frozen=True)
class Speech:
    """Synthesised speech: 16-bit mono samples and the phonemes in their order."""

    samples: np.ndarray
    sample_rate: int
    events: list[PhonemeEvent]


class _EventId(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8)]


class _Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _EventId),
    ]


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


class _Library:
    """The loaded library. Every method is called with `_lock` held."""

    def __init__(self, library: Path, data: Path) -> None:
        self._data = data
        self._voice: str | None = None
        self._chunks: list[np.ndarray] = []
        self._events: list[PhonemeEvent] = []
        self._c = ctypes.CDLL(str(library))
        self._declare()
        options = _PHONEME_EVENTS | _PHONEME_IPA | _DO_NOT_EXIT
        self.sample_rate = self._c.espeak_Initialize(_SYNCHRONOUS, 0, str(data).encode(), options)
        if self.sample_rate <= 0:
            raise UserError(
                "espeak-ng could not read its data",
                received=data,
                remedy="pip install --force-reinstall espeakng-loader",
            )
        # The C side keeps only a pointer: the callback must live as long as this object.
        self._callback = _Callback(self._receive)
        self._c.espeak_SetSynthCallback(self._callback)

    def _declare(self) -> None:
        c = self._c
        c.espeak_Initialize.argtypes = [
            ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_int
        ]  # fmt: skip
        c.espeak_Info.argtypes = [ctypes.POINTER(ctypes.c_char_p)]
        c.espeak_Info.restype = ctypes.c_char_p
        c.espeak_SetVoiceByName.argtypes = [ctypes.c_char_p]
        c.espeak_SetParameter.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int]
        c.espeak_TextToPhonemes.argtypes = [
            ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_int
        ]  # fmt: skip
        c.espeak_TextToPhonemes.restype = ctypes.c_char_p
        c.espeak_SetSynthCallback.argtypes = [_Callback]
        c.espeak_SetSynthCallback.restype = None
        c.espeak_Synth.argtypes = [
            ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint, ctypes.c_int,
            ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p,
        ]  # fmt: skip

    def _receive(self, wave: ctypes.Array, count: int, events: ctypes.Array) -> int:
        """espeak calls this with each piece of speech; 0 means: go on."""
        if wave and count > 0:
            self._chunks.append(np.ctypeslib.as_array(wave, (count,)).copy())
        i = 0
        while events[i].type != _EVENT_LIST_END:
            if events[i].type == _EVENT_PHONEME:
                name = events[i].id.string.decode("utf-8", "replace")
                self._events.append(PhonemeEvent(events[i].sample, name))
            i += 1
        return 0

    def version(self) -> str:
        path = ctypes.c_char_p()
        return self._c.espeak_Info(ctypes.byref(path)).decode()

    def set_voice(self, voice: str) -> None:
        if voice == self._voice:
            return
        self._voice = None
        # A variant that does not exist is ignored by espeak in silence.
        _, plus, variant = voice.partition("+")
        missing = plus and not (self._data / "voices" / "!v" / variant).is_file()
        if not voice or missing or self._c.espeak_SetVoiceByName(voice.encode()) != _STATUS_OK:
            raise UserError(
                "espeak-ng has no such voice",
                received=voice,
                remedy="a language such as en-us, fa, fr, cmn, with a variant such as +f3 or +m3",
            )
        self._voice = voice

    def phonemes(self, text: str, mode: int) -> str:
        buffer = ctypes.create_string_buffer(text.encode())
        position = ctypes.c_void_p(ctypes.addressof(buffer))
        clauses = []
        while position.value:  # one call per clause; espeak sets it to NULL at the end
            found = self._c.espeak_TextToPhonemes(ctypes.byref(position), _TEXT_IS_UTF8, mode)
            if found is None:
                raise RuntimeError("espeak_TextToPhonemes returned nothing")
            clauses.append(found.decode("utf-8"))
        return " ".join(" ".join(clauses).split())

    def _set_parameter(self, parameter: int, value: int) -> None:
        if self._c.espeak_SetParameter(parameter, value, 0) != _STATUS_OK:
            raise RuntimeError(f"espeak_SetParameter({parameter}, {value}) failed")

    def speak(self, text: str, rate: int, pitch: int, pitch_range: int) -> Speech:
        for parameter, value in ((_RATE, rate), (_PITCH, pitch), (_PITCH_RANGE, pitch_range)):
            self._set_parameter(parameter, value)
        self._chunks, self._events = [], []
        data = text.encode() + b"\0"
        status = self._c.espeak_Synth(
            data, len(data), 0, _POSITION_IS_CHARACTER, 0, _TEXT_IS_UTF8, None, None
        )
        if status != _STATUS_OK or self._c.espeak_Synchronize() != _STATUS_OK:
            raise RuntimeError(f"espeak_Synth failed with status {status}")
        samples = np.concatenate(self._chunks) if self._chunks else np.zeros(0, np.int16)
        return Speech(samples, self.sample_rate, self._events)


_lock = threading.Lock()


@cache
def _library() -> _Library:
    try:
        import espeakng_loader
    except ImportError:
        raise UserError(
            "phonemes and espeak's voices need espeak-ng, which is not installed",
            remedy='pip install "myxtts[phonemes]"',
        ) from None
    return _Library(Path(espeakng_loader.get_library_path()), Path(espeakng_loader.get_data_path()))


def version() -> str:
    """The version of espeak-ng, such as `1.52.0`."""
    with _lock:
        return _library().version()


def phonemes(text: str, voice: str) -> str:
    """The text in IPA, words separated by one space. Language switches are marked `(en)`."""
    return _pronounce(text, voice, _AS_IPA)


def mnemonics(text: str, voice: str) -> str:
    """The text in espeak's own ASCII names, which keep what its IPA loses: Chinese tones."""
    return _pronounce(text, voice, _AS_MNEMONICS)


def _pronounce(text: str, voice: str, mode: int) -> str:
    with _lock:
        library = _library()
        library.set_voice(voice)
        return library.phonemes(text.replace("\0", " "), mode)


def speak(
    text: str, voice: str, *, rate: int = 160, pitch: int = 50, pitch_range: int = 50
) -> Speech:
    """Speak the text. `rate` is in words per minute, `pitch` and `pitch_range` are 0 to 100."""
    with _lock:
        library = _library()
        library.set_voice(voice)
        return library.speak(text.replace("\0", " "), rate, pitch, pitch_range)
