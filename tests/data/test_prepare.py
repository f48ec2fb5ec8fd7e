import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from myxtts.audio.decode import decode, write_wav
from myxtts.audio.mel import log_mel
from myxtts.config import DataConfig
from myxtts.data import feature_writer, recipe
from myxtts.data.ljspeech import LJSpeechDataset
from myxtts.data.prepare import Computed, PreparedCorpus, cache_folder, prepare
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
    assert second.computed == Computed(texts=0, clips=1)
    assert second.fingerprint != first.fingerprint
    assert second.frames[5] == 30000 // 256
    np.testing.assert_array_equal(second.store.mel(6), first.store.mel(6))


def test_a_changed_transcript_is_the_only_one_redone(
    make_corpus: MakeCorpus, data: DataConfig, computed: list[str]
) -> None:
    folder = make_corpus()
    first = prepare(folder, data)
    assert first.computed == Computed(texts=12, clips=12)
    metadata = (folder / "metadata.csv").read_text()
    (folder / "metadata.csv").write_text(metadata.replace("c005|", "c005|new words "))
    computed.clear()
    second = prepare(folder, data)
    assert computed == []
    assert second.computed == Computed(texts=1, clips=0)
    changed = np.flatnonzero(second.token_lengths != first.token_lengths)
    assert changed.tolist() == [5]
    assert prepare(folder, data).computed == Computed(texts=0, clips=0)


@pytest.mark.parametrize(
    "change",
    [{"n_mels": 40}, {"sample_rate": 16000}, {"trim_silence": True}, {"loudness": -30.0}],
    ids=str,
)
def test_a_changed_setting_of_the_sound_redoes_the_sound_once(
    make_corpus: MakeCorpus, data: DataConfig, change: dict[str, object]
) -> None:
    folder = make_corpus(clips=4)
    first = prepare(folder, data)
    changed = data.model_copy(update=change)
    second = prepare(folder, changed)
    assert second.computed == Computed(texts=0, clips=4)
    assert second.fingerprint != first.fingerprint
    assert prepare(folder, changed).computed == Computed(texts=0, clips=0)
    assert prepare(folder, data).computed == Computed(texts=0, clips=0)


def test_a_changed_setting_of_the_text_redoes_the_text_alone(
    make_corpus: MakeCorpus, data: DataConfig
) -> None:
    folder = make_corpus(clips=4)
    prepare(folder, data)
    spoken = data.model_copy(update={"text_units": "phonemes"})
    assert prepare(folder, spoken).computed == Computed(texts=4, clips=0)


def test_trimming_and_loudness_are_in_the_features(tmp_path: Path, data: DataConfig) -> None:
    folder = tmp_path / "corpus"
    (folder / "wavs").mkdir(parents=True)
    quiet = 0.01 * np.sin(np.arange(22050) / 20).astype(np.float32)
    silence = np.zeros(11025, np.float32)
    write_wav(folder / "wavs/a.wav", np.concatenate([silence, quiet, silence]), 22050)
    (folder / "metadata.csv").write_text("a|one tone\n")
    plain = prepare(folder, data)
    trimmed = prepare(folder, data.model_copy(update={"trim_silence": True}))
    louder = prepare(folder, data.model_copy(update={"loudness": -20.0}))
    assert plain.frames[0] == 44100 // 256
    assert 86 <= trimmed.frames[0] <= 100  # a second, 50 ms at each end, the edges of frames
    tone = slice(60, 110)
    gain = louder.store.mel(0)[tone].max() - plain.store.mel(0)[tone].max()
    # A sine of 0.01 has -43 dB; 23 dB are 2.65 in the natural logarithm of a magnitude.
    assert gain == pytest.approx(2.65, abs=0.05)


def test_pcm_is_kept_only_for_live_features_and_beside_the_mels(
    make_corpus: MakeCorpus, data: DataConfig
) -> None:
    folder = make_corpus(clips=4)
    cached = prepare(folder, data)
    cache = cache_folder(folder, data)
    before = files(cache)
    assert not list(cache.rglob("*.i16"))
    live = prepare(folder, data.model_copy(update={"features": "live"}))
    assert live.computed == Computed(texts=0, clips=4)
    after = files(cache)
    assert {name: after[name] for name in before} == before
    added = sorted(name.split("/")[0] for name in set(after) - set(before))
    assert added == ["pcm", "pcm"]
    np.testing.assert_array_equal(live.frames, cached.frames)
    np.testing.assert_array_equal(live.store.mel(2), cached.store.mel(2))
    alone = folder.parent / "alone"
    prepare(folder, data.model_copy(update={"features": "live", "cache_dir": str(alone)}))
    assert not list(alone.rglob("*.f16"))


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
from myxtts.data import feature_writer
from myxtts.data.prepare import prepare
feature_writer.SHARD_CLIPS = int(sys.argv[4])
prepare(
    Path(sys.argv[1]),
    DataConfig(text_units="characters", cache_dir=sys.argv[2], features=sys.argv[3]),
)
import resource
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def start(folder: Path, cache: Path, features: str, shard_clips: int) -> subprocess.Popen[bytes]:
    """Prepare a corpus in a process of its own; it prints the most memory it had, in kB."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [str(folder), str(cache), features, str(shard_clips)]
    command = [sys.executable, "-c", PREPARE, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)


@pytest.mark.parametrize(
    ("features", "kills"),
    [
        ("cached", [1, 5, 11]),
        pytest.param("cached", range(1, 21), marks=pytest.mark.long),
        pytest.param("live", range(1, 21), marks=pytest.mark.long),
    ],
    ids=["3 kills", "20 kills", "20 kills, live"],
)
def test_kill_9_in_the_middle_leaves_the_same_bytes_in_the_end(
    make_corpus: MakeCorpus, features: str, kills: Sequence[int]
) -> None:
    folder = make_corpus(clips=66)
    whole, killed = folder.parent / "whole", folder.parent / "killed"
    assert start(folder, whole, features, 3).wait() == 0
    for wanted in kills:
        process = start(folder, killed, features, 3)
        while process.poll() is None and len(list(killed.rglob("shard-*.json"))) < wanted:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL  # it was at work, not done
        assert len(list(killed.rglob("shard-*.json"))) < 22
    assert start(folder, killed, features, 3).wait() == 0
    assert files(killed) == files(whole)


@pytest.mark.long
@pytest.mark.parametrize("features", ["cached", "live"])
def test_memory_does_not_grow_with_the_corpus(make_corpus: MakeCorpus, features: str) -> None:
    """Four times the clips, under new names: a few kB for each, not its features."""
    folder = make_corpus(clips=200)
    header, *lines = (folder / "metadata.csv").read_text().splitlines()
    peak = []
    for times in (2, 8):
        for copy in range(times):
            for line in lines:
                source = folder / "wavs" / f"{line.split('|')[0]}.wav"
                link = folder / "wavs" / f"x{copy}-{source.name}"
                link.exists() or link.hardlink_to(source)
        copies = [f"x{copy}-{line}" for copy in range(times) for line in lines]
        (folder / "metadata.csv").write_text("\n".join([header, *copies]) + "\n")
        process = start(folder, folder.parent / f"cache{times}", features, 64)
        output, _ = process.communicate()
        assert process.returncode == 0
        peak.append(int(output))
    features_kb = 1200 * 1.2 * 22050 * (2 if features == "live" else 0.625) / 1000
    assert peak[1] - peak[0] < 0.15 * features_kb


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


def test_a_bad_line_of_the_metadata_costs_only_itself(
    make_corpus: MakeCorpus, data: DataConfig
) -> None:
    folder = make_corpus(clips=4)
    with (folder / "metadata.csv").open("ab") as stream:
        stream.write(b"../out|outside|s0|en\nc\xe9|latin|s0|en\n")
    corpus = prepare(folder, data)
    assert len(corpus) == 4
    assert [(one.clip, one.path.name) for one in corpus.skipped] == [
        ("line 6", "metadata.csv"),
        ("line 7", "metadata.csv"),
    ]
    (folder / "metadata.csv").write_text("../out|outside\n")
    with pytest.raises(UserError, match="line 1: its files must lie inside"):
        prepare(folder, data)
