import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from myxtts.audio.decode import decode, write_wav
from myxtts.audio.mel import log_mel
from myxtts.config import DataConfig
from myxtts.data import feature_writer, recipe
from myxtts.data.ljspeech import LJSpeechDataset
from myxtts.data.prepare import PreparedCorpus, cache_folder, prepare
from myxtts.data.recipe import Recipe
from myxtts.errors import UserError
from myxtts.text.tokenizer import Tokenizer

MakeCorpus = Callable[..., Path]


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the clips whose mels are really computed."""
    names: list[str] = []
    original = decode

    def counting(path: Path, sample_rate: int) -> np.ndarray:
        names.append(path.stem)
        return original(path, sample_rate)

    monkeypatch.setattr(recipe, "decode", counting)
    return names


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("lock", "cache.json")
    }


def change(path: Path, samples: np.ndarray) -> None:
    write_wav(path, samples, 22050)
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))


def test_everything_training_reads(make_corpus: MakeCorpus, data: DataConfig) -> None:
    folder = make_corpus(clips=9, speakers=2)
    heard: list[tuple[str, int, int]] = []
    corpus = prepare(folder, data, lambda *what: heard.append(what))
    assert corpus.clip_ids == [f"c{n:03d}" for n in range(9)]
    assert corpus.speakers == ["s0", "s1"]
    assert corpus.speaker.tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 0]
    assert corpus.language.tolist() == [0] * 9
    for row in range(9):
        mel = log_mel(decode(corpus.audio[row], 22050), Recipe.of(data).mel)
        assert len(mel) == corpus.frames[row]
        np.testing.assert_array_equal(corpus.store.mel(row), mel.astype(np.float16))
        ids = Tokenizer("characters").encode(corpus.texts[row], "en").ids
        start, stop = corpus.token_offsets[row : row + 2]
        np.testing.assert_array_equal(corpus.tokens[start:stop], ids)
        assert corpus.token_lengths[row] == len(ids)
    assert heard[-1] == ("audio", 9, 9)
    assert ("text", 9, 9) in heard
    assert not corpus.skipped


def test_the_second_time_nothing_is_computed(
    make_corpus: MakeCorpus, data: DataConfig, computed: list[str]
) -> None:
    folder = make_corpus()
    first = prepare(folder, data)
    before = files(cache_folder(folder, data))
    assert len(computed) == 12
    again = LJSpeechDataset(folder, data).prepare()
    assert len(computed) == 12
    assert files(cache_folder(folder, data)) == before
    assert again.fingerprint == first.fingerprint
    np.testing.assert_array_equal(again.mel_mean, first.mel_mean)


def test_a_changed_clip_is_the_only_one_redone(
    make_corpus: MakeCorpus, data: DataConfig, computed: list[str]
) -> None:
    folder = make_corpus()
    first = prepare(folder, data)
    change(folder / "wavs/c005.wav", np.linspace(-0.5, 0.5, 30000, dtype=np.float32))
    computed.clear()
    second = prepare(folder, data)
    assert computed == ["c005"]
    assert second.fingerprint != first.fingerprint
    assert second.frames[5] == 30000 // 256
    np.testing.assert_array_equal(second.store.mel(6), first.store.mel(6))


def test_a_touched_clip_is_not_computed_again(
    make_corpus: MakeCorpus, data: DataConfig, computed: list[str]
) -> None:
    folder = make_corpus()
    first = prepare(folder, data)
    os.utime(folder / "wavs/c005.wav", ns=(1, 1))
    computed.clear()
    assert prepare(folder, data).fingerprint == first.fingerprint
    assert computed == []


def test_added_and_removed_clips_move_the_others_without_computing_them(
    make_corpus: MakeCorpus,
    data: DataConfig,
    computed: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feature_writer, "SHARD_CLIPS", 4)
    folder = make_corpus()
    prepare(folder, data)
    metadata = (folder / "metadata.csv").read_text().splitlines()
    shutil.copy(folder / "wavs/c000.wav", folder / "wavs/new.wav")
    kept = [metadata[0], "new|A new one.|s0|en", *metadata[1:4], *metadata[6:]]
    (folder / "metadata.csv").write_text("\n".join(kept))
    computed.clear()
    moved = prepare(folder, data)
    assert computed == ["new"]
    fresh = prepare(folder, data.model_copy(update={"cache_dir": str(folder.parent / "fresh")}))
    assert moved.fingerprint == fresh.fingerprint
    mels = "mels"
    assert files(cache_folder(folder, data) / mels) == files(
        next((folder.parent / "fresh").iterdir()) / mels
    )


def test_a_changed_setting_keeps_both_stores(
    make_corpus: MakeCorpus, data: DataConfig, computed: list[str]
) -> None:
    folder = make_corpus(clips=4)
    prepare(folder, data)
    narrow = data.model_copy(update={"n_mels": 40})
    assert prepare(folder, narrow).store.mel(0).shape[1] == 40
    computed.clear()
    assert prepare(folder, data).mel_mean.shape == (80,)
    assert computed == []


def test_the_number_of_workers_changes_no_byte(
    make_corpus: MakeCorpus, data: DataConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_writer, "SHARD_CLIPS", 5)
    folder = make_corpus(clips=23)
    stores = []
    for workers in (1, 4):
        options = {"num_workers": workers, "cache_dir": str(folder.parent / f"w{workers}")}
        changed = data.model_copy(update=options)
        prepare(folder, changed)
        stores.append(files(cache_folder(folder, changed)))
    assert stores[0] == stores[1]
    assert sum(name.endswith(".f16") for name in stores[0]) == 5


def test_unusable_clips_are_named_with_the_reason_and_the_rest_go_on(
    make_corpus: MakeCorpus, data: DataConfig, computed: list[str]
) -> None:
    folder = make_corpus(clips=8)
    (folder / "wavs/c001.wav").write_bytes(b"")
    (folder / "wavs/c002.wav").write_text("this is text, not audio")
    (folder / "wavs/c003.wav").unlink()
    write_wav(folder / "wavs/c004.wav", np.zeros(100, np.float32), 22050)
    metadata = (folder / "metadata.csv").read_text()
    metadata += "c000|Again.|s0|en\nc005x||s0|en\n"
    metadata = metadata.replace("c006|", "c006|" + "far too many words " * 40)
    (folder / "metadata.csv").write_text(metadata)
    corpus = prepare(folder, data)
    assert corpus.clip_ids == ["c000", "c005", "c007"]
    reasons = {item.clip: item.reason for item in corpus.skipped}
    assert reasons["c001"] == "zero bytes"
    assert "not audio" in reasons["c002"]
    assert "does not exist" in reasons["c003"]
    assert "shorter than one frame" in reasons["c004"]
    assert "does not fit the audio" in reasons["c006"]
    assert reasons["c005x"] == "no transcript"
    assert "line 10 names it again; line 2 is used" in reasons["c000"]
    assert len(corpus.skipped) == 7
    computed.clear()
    assert len(prepare(folder, data).skipped) == 7
    assert computed == []  # broken files are not tried again until they change
    change(folder / "wavs/c001.wav", np.sin(np.arange(22050) / 20).astype(np.float32))
    assert "c001" in prepare(folder, data).clip_ids


def test_nothing_usable_is_an_error(make_corpus: MakeCorpus, data: DataConfig) -> None:
    folder = make_corpus(clips=3)
    shutil.rmtree(folder / "wavs")
    with pytest.raises(UserError, match="None of the 3 clips") as error:
        prepare(folder, data)
    assert "does not exist" in str(error.value.received)


def test_an_unknown_language_is_named_with_its_line(
    make_corpus: MakeCorpus, data: DataConfig
) -> None:
    folder = make_corpus(clips=3)
    text = (folder / "metadata.csv").read_text().replace("s1|en", "s1|persian")
    (folder / "metadata.csv").write_text(text)
    with pytest.raises(UserError, match="line 3") as error:
        prepare(folder, data)
    assert error.value.received == "persian"


def test_languages_are_detected_where_no_column_says(
    make_corpus: MakeCorpus, data: DataConfig
) -> None:
    folder = make_corpus(clips=2)
    (folder / "metadata.csv").write_text("c000|سلام، حال شما چطور است؟\nc001|How are you today?\n")
    auto = data.model_copy(update={"language": "auto"})
    assert prepare(folder, auto).language.tolist() == [1, 0]
    assert prepare(folder, data).language.tolist() == [0, 0]


def test_a_damaged_shard_is_rebuilt(
    make_corpus: MakeCorpus, data: DataConfig, computed: list[str]
) -> None:
    folder = make_corpus(clips=6)
    corpus = prepare(folder, data)
    before = files(cache_folder(folder, data))
    (shard,) = cache_folder(folder, data).rglob("*.f16")
    content = bytearray(shard.read_bytes())
    content[100] ^= 4
    shard.write_bytes(content)
    with pytest.raises(UserError, match="damaged"):
        prepare(folder, data).store.gather(np.arange(6), 200)
    computed.clear()
    again = prepare(folder, data)
    assert len(computed) == 6
    assert again.fingerprint == corpus.fingerprint
    after = files(cache_folder(folder, data))
    assert {name: after[name] for name in before} == before


def test_cache_dataset_keeps_the_store_in_memory(make_corpus: MakeCorpus, data: DataConfig) -> None:
    folder = make_corpus(clips=4)
    mapped = prepare(folder, data)
    loaded = prepare(folder, data.model_copy(update={"cache_dataset": True}))
    shutil.rmtree(cache_folder(folder, data))
    assert not isinstance(loaded.store.mel(0).base, np.memmap)
    np.testing.assert_array_equal(loaded.store.mel(3), mapped.store.mel(3))


def test_a_cache_folder_elsewhere_leaves_the_corpus_untouched(
    make_corpus: MakeCorpus, data: DataConfig, tmp_path: Path
) -> None:
    one, other = make_corpus(name="a/corpus"), make_corpus(name="b/corpus")
    elsewhere = data.model_copy(update={"cache_dir": str(tmp_path / "cache")})
    prepare(one, elsewhere)
    prepare(other, elsewhere)
    assert not (one / ".myxtts").exists()
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_full_disk_is_said_and_nothing_is_lost(
    make_corpus: MakeCorpus, data: DataConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_corpus(clips=4)
    original = os.fsync

    def full(descriptor: int) -> None:
        if os.fstat(descriptor).st_size > 10_000:
            raise OSError(28, "No space left on device")
        original(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(UserError, match="disk is full"):
            prepare(folder, data)
    assert len(prepare(folder, data)) == 4


PREPARE = """
import sys
from pathlib import Path
from myxtts.config import DataConfig
from myxtts.data import feature_writer, recipe
from myxtts.data.prepare import prepare
feature_writer.SHARD_CLIPS = 3
prepare(Path(sys.argv[1]), DataConfig(text_units="characters", cache_dir=sys.argv[2]))
"""


def test_kill_9_in_the_middle_leaves_the_same_bytes_in_the_end(make_corpus: MakeCorpus) -> None:
    folder = make_corpus(clips=45)
    whole, killed = folder.parent / "whole", folder.parent / "killed"

    def start(cache: Path) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", PREPARE, str(folder), str(cache)]
        return subprocess.Popen(command, env=environment)

    assert start(whole).wait() == 0
    for wanted in (1, 8):
        process = start(killed)
        while process.poll() is None and len(list(killed.rglob("shard-*.json"))) < wanted:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert start(killed).wait() == 0
    assert files(killed) == files(whole)


@pytest.mark.skipif(
    "MYXTTS_TEST_DATA" not in os.environ, reason="MYXTTS_TEST_DATA names no real clips"
)
def test_real_clips_all_arrive(tmp_path: Path) -> None:
    folder = Path(os.environ["MYXTTS_TEST_DATA"]) / "ljspeech-mini"
    data = DataConfig(language="en", text_units="characters", cache_dir=str(tmp_path))
    corpus: PreparedCorpus = prepare(folder, data)
    assert len(corpus) == 24
    assert not corpus.skipped
    assert (corpus.frames > 800).sum() == 3
