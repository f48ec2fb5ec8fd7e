"""`myxtts evaluate` on a run trained for a moment: every file, figure and exit code."""

import json
import re
from pathlib import Path

import pytest

from myxtts.cli.main import main
from myxtts.config import Config
from myxtts.data.corpora.clip import Clip
from myxtts.errors import UserError
from myxtts.evaluation import recognizers
from myxtts.tools import evaluation_clips
from myxtts.tools.evaluation_plots import histograms

pytestmark = pytest.mark.long

DATA = Config().data


@pytest.fixture(scope="module")
def run(thin, tmp_path_factory):
    """Two steps of a tiny model: what it says is noise, but it says it."""
    from myxtts import devices
    from myxtts.training.run import train

    folder = tmp_path_factory.mktemp("judged") / "run"
    config = Config().replaced(
        thin
        | {
            "training.max_steps": 2,
            "training.output_dir": str(folder),
        }
    )
    devices.place(config.data)
    train(config)
    return folder


@pytest.fixture
def quick(monkeypatch):
    """Without pocketsphinx, which needs longer than all the others together."""
    monkeypatch.setattr(recognizers, "NAMES", ("moonshine",))


def evaluate(*arguments: object) -> int:
    return main(["evaluate", *map(str, arguments)])


def test_table_page_document_and_sounds(run, small_corpus, tmp_path, capsys, quick):
    folder = tmp_path / "judged"
    code = evaluate("--checkpoint", run, "--data", small_corpus, "--clips", 4, "-o", folder)
    printed = capsys.readouterr()
    told = json.loads((folder / "evaluation.json").read_text())
    missing = [gap for gap in told["not_measured"] if gap["remedy"]]
    assert code == (3 if missing else 0)
    assert "these clips are not new to it" in printed.err
    assert (
        "mel-cepstral distortion" in printed.out and "no offline recogniser for fa" in printed.out
    )
    assert "all clips" in printed.out and "\nen" in printed.out and "\nfa" in printed.out
    assert told["clips"] == 4 and set(told["by_language"]) == {"en", "fa"}
    measured = {figure["metric"]: figure for figure in told["figures"]}
    assert measured["mcd_db"]["model"] > measured["mcd_db"]["source"] > 0
    assert sorted(path.name for path in (folder / "wavs").iterdir()) == sorted(
        f"{number:04d}-{side}.wav" for number in range(1, 5) for side in ("model", "source")
    )
    page = (folder / "index.html").read_text()
    assert page.count("<audio") == 8 and page.count("image/svg+xml") == len(
        measured.keys() - {"nearest_speaker"}
    )
    assert not re.search(r'(?:src|href)="(?!data:)', page)


def test_a_file_of_lines_in_persian_as_json(run, small_corpus, tmp_path, capsys, quick):
    wavs = sorted((small_corpus / "wavs").glob("fa-*.wav"))
    (tmp_path / "a.wav").symlink_to(wavs[0])
    lines = ["text|wav", "سلام دنیا|a.wav", f"امروز هوا خوب است.|{wavs[1]}", "بله|missing.wav"]
    (tmp_path / "list.csv").write_text("\n".join(lines))
    arguments = ["--checkpoint", run, "--data", tmp_path / "list.csv", "-o", tmp_path / "judged"]
    evaluate(*arguments, "--language", "fa", "--lang", "fa", "--json")
    told = json.loads(capsys.readouterr().out)
    assert list(told["skipped"]) == ["line 4"], told["skipped"]
    assert told["clips"] == 2
    assert [clip["language"] for clip in told["judged"]] == ["fa", "fa"]
    assert not any(figure["metric"].startswith("wer") for figure in told["figures"])
    page = (tmp_path / "judged" / "index.html").read_text()
    assert 'dir="rtl"' in page and "اعوجاج مل‌کپسترال" in page


def test_a_missing_judge_is_named_and_the_rest_measured(
    run, small_corpus, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(recognizers, "find_spec", lambda module: None)
    reference = next((small_corpus / "wavs").glob("en-*.wav"))
    code = evaluate(
        "--checkpoint", run, "--data", small_corpus, "--clips", 1, "--language", "en",
        "--reference", reference, "-o", tmp_path / "judged",
    )  # fmt: skip
    printed = capsys.readouterr().out
    assert code == 3
    assert "Moonshine: not measured" in printed and 'pip install "myxtts[eval]"' in printed
    assert "pitch error" in printed or "mel-cepstral" in printed


def test_an_earlier_evaluation_is_replaced_and_nothing_else(
    run, small_corpus, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(recognizers, "NAMES", ())
    folder = tmp_path / "judged"
    for clips in (2, 1):
        evaluate(
            "--checkpoint", run, "--data", small_corpus, "--clips", clips, "-o", folder,
            "--language", "en",
        )  # fmt: skip
    assert len(list((folder / "wavs").iterdir())) == 2
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    assert evaluate("--checkpoint", run, "--data", small_corpus, "-o", precious) == 2
    assert [path.name for path in precious.iterdir()] == ["thesis.txt"]
    assert "not an evaluation's folder" in capsys.readouterr().err


def test_mistakes_are_explained(run, small_corpus, tmp_path, capsys):
    for arguments, code, words in (
        (["--checkpoint", tmp_path, "--data", small_corpus], 1, "no checkpoint"),
        (["--checkpoint", run], 2, "no recordings to compare with"),
        (["--checkpoint", run, "--data", tmp_path / "nowhere"], 1, "is no corpus"),
        (["--checkpoint", run, "--data", small_corpus, "--language", "de"], 1, "no clip to judge"),
    ):
        assert evaluate(*arguments, "-o", tmp_path / "judged") == code
        assert words in capsys.readouterr().err
    assert not (tmp_path / "judged").exists()


def clip(name: str, speaker: str, language: str | None = "en", text: str = "Good day.") -> Clip:
    return Clip(name, Path(f"{name}.wav"), text, speaker, language, 1, Path("metadata.csv"))


def test_speakers_and_languages_take_turns():
    clips = [clip(f"a{i}", "a") for i in range(5)] + [clip("b0", "b"), clip("c0", "a", "fa")]
    chosen = evaluation_clips.choose(clips, DATA, ["en", "fa"], 4)
    assert [trial.clip.id for trial in chosen] == ["a0", "b0", "c0", "a1"]
    assert chosen == evaluation_clips.choose(clips, DATA, ["en", "fa"], 4)


def test_references_are_other_clips_of_the_speaker_and_not_judged_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clips = [clip(f"a{i}", "a") for i in range(5)] + [
        clip("b0", "b"),
        clip("b1", "b"),
        clip("c", "c"),
    ]
    for one in clips:
        one.audio.touch()
    chosen = evaluation_clips.choose(clips, DATA, ["en"], 7)
    by_name = {trial.clip.id: trial.reference for trial in chosen}
    assert set(by_name) == {"a0", "a1", "a2", "a3", "b0", "b1", "c"}
    assert {str(by_name[f"a{i}"]) for i in range(4)} == {"a4.wav"}
    assert str(by_name["b0"]) == "b1.wav" and str(by_name["b1"]) == "b0.wav"
    assert by_name["c"] is None
    Path("a4.wav").unlink()  # a missing clip is nobody's voice
    again = evaluation_clips.choose(clips, DATA, ["en"], 7)
    assert "a4.wav" not in {str(trial.reference) for trial in again}


def test_languages_are_detected_where_the_corpus_does_not_say():
    clips = [clip("x", "a", None, "سلام، حال شما چطور است؟"), clip("y", "a", None)]
    chosen = evaluation_clips.choose(clips, DATA, ["en", "fa"], 5)
    assert {trial.clip.id: trial.language for trial in chosen} == {"x": "fa", "y": "en"}


def test_a_line_without_a_file_is_refused(tmp_path):
    (tmp_path / "list.csv").write_text("Good morning.|a.wav\nonly a text\n")
    with pytest.raises(UserError, match="line 2: a line must be text"):
        evaluation_clips.read(tmp_path / "list.csv")


def test_histograms_share_one_scale():
    drawing = histograms("x", [("model", [0.0, 1.0, 1.0]), ("source", [0.0, 0.0, 0.5])], str)
    bars = [box for box in drawing.boxes if box.kind == "bar" and box.height > 0]
    assert [box.title.rpartition(": ")[2] for box in bars] == ["1", "2", "2", "1"]
    assert bars[0].x == bars[2].x and bars[1].x > bars[3].x > bars[2].x
    same = histograms("x", [("model", [2.0]), ("source", [2.0])], "{:.1f} dB".format)
    assert same.described == "x: model 2.0 dB, source 2.0 dB"
