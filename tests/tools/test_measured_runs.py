"""Short runs and what follows from several of them; one really trains, in its own process."""

from __future__ import annotations

from pathlib import Path

import pytest

from myxtts.config import Config
from myxtts.errors import MeasurementError, UsageError
from myxtts.tools import profile_run
from myxtts.tools.acceptance import Outcome, cases, concluded
from myxtts.tools.acceptance_limits import MemoryEnd, memory_end
from myxtts.tools.acceptance_page import conclusions, render
from myxtts.tools.analyze import batch_waits, time_corpus, uneven_audio
from myxtts.tools.diagnosis import diagnose
from myxtts.tools.environment import environment
from myxtts.tools.summary import summarize
from myxtts.training import child_run


def small(corpus: Path, **data: object) -> Config:
    settings = {"batch_size": 2, "enable_xla": False, "model_start_delay": 0.0, **data}
    return Config().replaced(
        {f"data.{key}": value for key, value in settings.items()}
        | {"data.train_data": str(corpus), "model.width": 32}
    )


def test_a_short_run_changes_only_how_long_and_where(tmp_path: Path) -> None:
    told = Config().replaced({"data.batch_size": 24, "data.val_data": "x", "training.seed": 7})
    short = profile_run.short_run(told, tmp_path / "p", steps=50)
    assert short.training.max_steps == 50 and short.training.seed == 7
    assert short.training.checkpoint_interval > 50
    assert short.data.val_data is None and short.data.batch_size == 24
    stopping = told.replaced({"training.early_stop_patience": 3})
    assert profile_run.short_run(stopping, tmp_path / "p", steps=50).training == short.training
    with pytest.raises(UsageError):
        profile_run.short_run(told, tmp_path, steps=2)


def test_one_device_drops_what_only_two_can_have() -> None:
    dual = Config().replaced(
        {
            "data.data_gpu": 2, "data.model_gpu": 3, "data.enable_memory_isolation": True,
            "data.model_gpu_memory": 8000,
        }
    )  # fmt: skip
    one = profile_run.on_devices(dual, data_gpu=None, model_gpu=None, virtual_gpus=0)
    assert one.data.data_gpu is None and one.data.model_gpu_memory is None
    moved = profile_run.on_devices(dual, data_gpu=0, model_gpu=1, virtual_gpus=2)
    assert moved.data.enable_memory_isolation and moved.data.virtual_gpus == 2


@pytest.mark.long
def test_a_real_short_run_on_two_virtual_devices(corpus: Path, tmp_path: Path) -> None:
    config = profile_run.on_devices(small(corpus), data_gpu=0, model_gpu=1, virtual_gpus=2)
    session = profile_run.profile(config, tmp_path / "run", steps=6, notice=print)
    summary = summarize(session)
    assert session.complete and len(session.steps) == 6
    assert summary.virtual and summary.tier.not_measured == "virtual"
    assert round(sum(row.percent for row in summary.account), 6) == 100.0
    assert sum(row.share for row in summary.stages) == pytest.approx(1.0)
    assert summary.rings and summary.figures is not None
    assert batch_waits(session).batches == 5
    with pytest.raises(UsageError, match="already holds a run"):
        profile_run.profile(config, tmp_path / "run", steps=6, notice=print)


def test_a_mistake_in_the_child_is_the_users_mistake_here(tmp_path: Path, monkeypatch) -> None:
    def child(told: Path, words: object) -> int:
        told.write_text("data:\n  batch_sise: 8\n")
        return child_run.main(told)

    monkeypatch.setattr(child_run, "_start", child)
    config = Config().replaced({"data.train_data": "corpus"})
    with pytest.raises(UsageError, match="batch_sise") as caught:
        profile_run.profile(config, tmp_path / "run", steps=3, notice=print)
    assert "data.batch_size" in caught.value.remedy


def test_a_child_that_dies_is_a_measurement_that_failed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(child_run, "_start", lambda told, words: -9)
    config = Config().replaced({"data.train_data": "corpus"})
    with pytest.raises(MeasurementError, match="died"):
        profile_run.profile(config, tmp_path / "run", steps=3, notice=print)


def test_text_and_audio_of_a_corpus_are_timed(corpus: Path) -> None:
    ticks = iter(range(10**6))
    text, audio = time_corpus(small(corpus), lambda: float(next(ticks)))
    assert (text.sampled, text.clips, text.mean, text.failed) == (12, 12, 1.0, 0)
    assert (audio.sampled, audio.total, audio.variation) == (12, 12.0, 0.0)


def test_unreadable_clips_are_counted_and_uneven_decoding_matters_clip_by_clip(
    corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "metadata.csv").write_text("a|hello\nb|world\n")
    (tmp_path / "wavs").mkdir()
    (tmp_path / "wavs" / "a.wav").write_bytes((corpus / "wavs" / "en-00000.wav").read_bytes())
    (tmp_path / "wavs" / "b.wav").write_bytes(b"")
    clock = iter([0, 1, 1, 2, 2, 3, 3, 103])
    text, audio = time_corpus(small(tmp_path), lambda: float(next(clock)))
    assert audio.failed == 1 and audio.variation > 1
    assert uneven_audio(small(tmp_path), audio) == []
    (found,) = uneven_audio(small(tmp_path, use_tf_native_loading=False), audio)
    assert found.change.settings == {"data.use_tf_native_loading": True}
    assert text.failed == 0


def test_a_diagnosis_lists_what_it_could_not_measure(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("myxtts.tools.diagnosis.tensorflow_gpus", lambda: None)
    config = Config().replaced({"data.num_workers": 200})
    found = diagnose(config, tmp_path / "run", steps=30, notice=print)
    assert set(found.not_measured) == {"settings", "data pipeline", "run"}
    assert found.findings[0].rule == "workers_too_many"
    assert found.as_json("fa")["checks"]["workers"] is False


def test_the_cases_of_an_acceptance_run() -> None:
    planned = {case.name: case.config.data for case in cases(Config(), [32, 8, 16], 2, 3, 0)}
    assert list(planned) == [
        "dual-batch-8", "dual-batch-16", "dual-batch-32", "one-device", "synchronous",
        "memory-limits",
    ]  # fmt: skip
    assert planned["memory-limits"].enable_memory_isolation
    longer = cases(Config(), [8], 0, 1, 0, stability_steps=500)[-1]
    assert (longer.name, longer.steps, longer.config.data.batch_size) == ("longer-run", 500, 8)
    assert {data.batch_size for data in planned.values()} == {8, 16, 32}
    assert (planned["dual-batch-8"].data_gpu, planned["dual-batch-8"].model_gpu) == (2, 3)
    assert planned["one-device"].data_gpu is None and planned["one-device"].batch_size == 16
    assert not planned["synchronous"].optimize_cpu_gpu_overlap


def measured(record, name: str, seconds: float, batch: int = 16, **more: object) -> Outcome:
    session = record(name, times=(seconds,) * 10, data={"batch_size": batch}, **more)
    return Outcome(name, summarize(session), None)


def test_conclusions_of_an_acceptance_run(record) -> None:
    outcomes = [
        measured(record, "dual-batch-8", 0.1, 8, useful=500),
        measured(record, "dual-batch-16", 0.1),
        measured(record, "one-device", 0.25, plan={"kind": "one"}),
        measured(record, "synchronous", 0.13),
    ]
    result = concluded(outcomes, 16, virtual=False)
    assert result.dual_speedup == pytest.approx(2.5)
    assert result.async_speedup == pytest.approx(1.3)
    assert result.scaling is not None and result.scaling.best == 16
    assert result.tier.reached == "excellent"
    assert result.exit_code == 0
    answers = dict(conclusions(result))
    assert answers["two devices against one"] == "2.50 ×"
    page = render(result, environment())
    assert page.count("<h2>") == 4 and "2.50 ×" in page
    assert result.not_measured == {
        "limits": "failed", "stability": "left_out", "memory_end": "failed",
    }  # fmt: skip
    assert "stability over a longer run: left out" in page
    assert 'dir="rtl"' in render(result, environment(), "fa")


def test_a_longer_run_and_memory_limits_are_judged(record) -> None:
    names = ("dual-batch-16", "one-device", "synchronous", "memory-limits")
    outcomes = [measured(record, name, 0.1) for name in names]
    slower = summarize(record("longer-run", times=[0.1] * 50 + [0.2] * 50))
    result = concluded([*outcomes, Outcome("longer-run", slower, None)], 16, virtual=False)
    assert result.limits_hold and result.stability is not None
    assert result.stability.drift == pytest.approx(1.0) and not result.stability.stable
    assert result.exit_code == 1 and result.as_json()["stability"]["stable"] is False
    assert dict(conclusions(result))["memory limits"] == "hold under load"
    assert "NOT stable" in dict(conclusions(result))["stability over a longer run"]
    steady = summarize(record("steady", times=[0.1] * 100))
    good = concluded([*outcomes, Outcome("longer-run", steady, None)], 16, virtual=False)
    assert good.exit_code == 0


def test_the_batch_where_memory_ends(record) -> None:
    asked = []

    def fits_up_to(largest):
        def run(batch: int):
            asked.append(batch)
            return record(f"b{largest}-{batch}") if batch <= largest else None

        return run

    assert memory_end(fits_up_to(128), 64, 512) == MemoryEnd(128, 256)
    assert asked == [64, 128, 256]
    assert memory_end(fits_up_to(1), 64, 512) == MemoryEnd(None, 64)
    assert memory_end(fits_up_to(9999), 64, 128) == MemoryEnd(128, None)
    session = record("parts")
    short = {"kind": "out_of_memory", "t": 1.0, "step": 1, "parts": 2}
    parted = type(session)(**{**vars(session), "events": (*session.events, short)})
    assert memory_end(lambda batch: parted, 64, 512).ends_at == 64


def test_a_case_that_failed_is_listed_and_must_be_fixed(record) -> None:
    outcomes = [
        measured(record, "dual-batch-16", 0.1),
        Outcome("one-device", None, "out of memory"),
        Outcome("synchronous", None, "out of memory"),
    ]
    result = concluded(outcomes, 16, virtual=False)
    assert result.dual_speedup is None and result.exit_code == 1
    assert dict(conclusions(result))["two devices against one"] == "not measured"
    assert "not measured: out of memory" in render(result, environment())
    nothing = concluded([Outcome(o.name, None, "x") for o in outcomes], 16, virtual=False)
    assert nothing.exit_code == 3


def test_figures_of_virtual_devices_are_called_that(record) -> None:
    plan = {"virtual": True}
    outcomes = [
        measured(record, name, 0.1, plan=plan)
        for name in ("dual-batch-16", "one-device", "synchronous", "memory-limits")
    ]
    result = concluded(outcomes, 16, virtual=True)
    assert result.limits_hold is None and result.not_measured["limits"] == "shared_memory"
    assert result.tier.reached is None
    assert "No figure here is a GPU" in render(result, environment())
    assert result.as_json()["virtual_devices"] is True
