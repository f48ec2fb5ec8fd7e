"""Rows that sum to 100 %, whatever was recorded."""

from __future__ import annotations

import random

import pytest

from myxtts.tools.account import account, share_of, stage_table


def test_the_account_sums_to_exactly_one_hundred(record) -> None:
    draw = random.Random(1)
    for number in range(50):
        spent = {name: draw.random() ** 4 for name in ("training", "data_wait", "other")}
        rows = account(record(f"run{number}", times=(0.1,) * 3, accounts=spent))
        assert round(sum(row.percent for row in rows), 9) == 100.0
        wall = sum(row.seconds for row in rows)
        assert all(abs(row.percent - 100 * row.seconds / wall) <= 0.1001 for row in rows)


def test_a_run_that_was_cut_before_a_report_has_no_account(record) -> None:
    assert account(record(ended=False)) == []


def test_shares_of_a_step_sum_to_one_and_gaps_are_what_is_left(record) -> None:
    rows = stage_table(record(train=0.7, blame={"load": 0.1, "transfer": 0.05}))
    assert sum(row.share for row in rows) == pytest.approx(1.0)
    shares = {row.name: row.share for row in rows}
    assert shares["training"] == pytest.approx(0.7)
    assert shares["load"] == pytest.approx(0.1)
    assert shares["gaps"] == pytest.approx(0.15)
    assert share_of(rows, "load", "transfer") == pytest.approx(0.15)


def test_overlapped_work_is_shown_and_costs_nothing(record) -> None:
    rows = {row.name: row for row in stage_table(record(blame={}))}
    assert rows["preprocess"].mean == pytest.approx(0.03)
    assert rows["preprocess"].share == 0.0


def test_steps_that_compiled_are_not_in_the_stage_table(record) -> None:
    times = [0.1] * 10
    times[5] = 9.0
    rows = {row.name: row for row in stage_table(record(times=times, compiled=[5]))}
    assert rows["training"].mean == pytest.approx(0.09)


def test_without_a_steady_step_there_is_no_table(record) -> None:
    assert stage_table(record(times=(0.1,))) == []
