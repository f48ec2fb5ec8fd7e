from itertools import islice
from pathlib import Path

import pytest
import soundfile

from myxtts.data import demo_corpus
from myxtts.data.demo_sentences import GRAMMARS, is_held_out, sentences
from myxtts.data.ljspeech import read_corpus
from myxtts.errors import UserError

pytest.importorskip("espeakng_loader", reason="needs the extra `phonemes`")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "corpus"
    return demo_corpus.make(folder, clips=12, seed=3, voices=("m3", "f2"))


def test_it_is_a_corpus_of_two_languages_and_several_voices(corpus: Path) -> None:
    clips = read_corpus(corpus)
    assert len(clips) == 12
    assert {clip.language for clip in clips} == {"en", "fa"}
    assert {(clip.speaker, clip.language) for clip in clips} == {
        (voice, language) for voice in ("m3", "f2") for language in ("en", "fa")
    }
    assert len({clip.text for clip in clips}) == 12
    for clip in clips:
        about = soundfile.info(clip.audio)
        assert (about.samplerate, about.channels, about.subtype) == (22050, 1, "PCM_16")
        assert 0.7 < about.duration < 8


def test_the_same_arguments_give_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    again = demo_corpus.make(tmp_path / "again", clips=12, seed=3, voices=("m3", "f2"))
    for path in sorted(corpus.rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (again / path.relative_to(corpus)).read_bytes(), path.name


def test_another_seed_says_other_things(corpus: Path) -> None:
    said = {clip.text for clip in read_corpus(corpus)}
    other = set(islice(sentences("en", 4, held_out=False), 6))
    assert not other <= said


@pytest.mark.parametrize("language", GRAMMARS)
def test_held_out_sentences_are_never_in_a_corpus(language: str) -> None:
    aside = demo_corpus.held_out(0, 200, language)
    assert len(set(aside)) == 200
    spoken = set(islice(sentences(language, 0, held_out=False), 3000))
    assert len(spoken) == 3000
    assert not spoken & set(aside)
    assert all(is_held_out(sentence) for sentence in aside)


@pytest.mark.parametrize("language", GRAMMARS)
def test_sentences_are_short_and_complete(language: str) -> None:
    for sentence in islice(sentences(language, 1, held_out=False), 500):
        assert 2 <= len(sentence.split()) <= 14
        assert sentence[-1] in ".?!؟"
        assert not set(sentence) & set("{}|")


def test_no_slot_is_empty_or_unused() -> None:
    for grammar in GRAMMARS.values():
        used = {
            slot for slot in grammar.words if any(f"{{{slot}}}" in t for t in grammar.templates)
        }
        assert used == set(grammar.words)
        assert all(word for words in grammar.words.values() for word in words)


def test_somebody_elses_corpus_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "metadata.csv").write_text("a|Mine.\n")
    with pytest.raises(UserError, match="already holds a corpus"):
        demo_corpus.make(tmp_path, clips=1, seed=0)
    assert (tmp_path / "metadata.csv").read_text() == "a|Mine.\n"


def test_a_voice_that_does_not_exist_is_an_error_before_anything_is_written(
    tmp_path: Path,
) -> None:
    with pytest.raises(UserError):
        demo_corpus.make(tmp_path / "new", clips=1, seed=0, voices=("nobody",))
    with pytest.raises(UserError):
        demo_corpus.make(tmp_path / "new", clips=1, seed=0, languages=("de",))
    assert not (tmp_path / "new").exists()
