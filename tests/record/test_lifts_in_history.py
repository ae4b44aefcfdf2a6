"""Lifts and rates in the history: what `reeval query` says of a recorded compare."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import pytest

from reeval.record.compared.rates import control_rates
from reeval.record.history import query
from reeval.record.store import RunStore
from tests.record.compares import COMPARED, compared_plan, recorded


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


def ask(store: RunStore, sql: str) -> list[tuple[Any, ...]]:
    said: list[str] = []
    with query(store, sql, said.append) as answer:
        rows = list(answer.rows)
    assert not [text for text in said if "left out" in text]
    return rows


def test_a_lift_is_a_row_and_each_measure_another(store: RunStore) -> None:
    run = recorded(store, {"plain": "ffff", "house": "pppp"}, tokens={"plain": 100, "house": 90})
    columns = "run_id, n, eval, variant, control, harness, sandbox, control_passed, variant_passed, lift, said, doubt"
    assert ask(store, f"SELECT {columns} FROM lifts") == [
        (run.id, 1, COMPARED, "house", "plain", "terse", "fake", 0, 4, 1.0, "helped", None)
    ]
    rows = ask(store, "SELECT measure, control, variant, round(relative, 3), said FROM lift_measures ORDER BY ALL")
    assert ("tokens", 100.0, 90.0, -0.1, "less") in rows
    assert [row[0] for row in rows] == ["duration", "tokens", "tool_calls", "turns"]


def test_pooled_lifts_come_after_those_of_evals_and_have_no_eval(store: RunStore) -> None:
    recorded(store, {"plain": "ffff", "house": "pppp"}, evals=2)
    assert ask(store, "SELECT n, eval IS NULL, evals, round(lift, 2) FROM lifts ORDER BY n") == [
        (1, False, None, 1.0),
        (2, False, None, 1.0),
        (3, True, 2, 1.0),
    ]


def test_flags_are_columns(store: RunStore) -> None:
    recorded(store, {"plain": "pppe", "house": "pppp"}, subjects={"plain": "s", "house": "s"})
    assert ask(store, "SELECT identical, errors_differ, alike FROM lifts") == [(True, True, ["includes 'Hello'"])]


def test_pass_at_k_is_that_of_the_formula(store: RunStore) -> None:
    recorded(store, {"plain": "ppfffff", "house": "ppppppe"}, runs=7)
    rows = ask(store, "SELECT cell, k, cases, pass_at, pass_hat FROM pass_at")
    expected = [
        (f"terse/{name}/fake", k, 1, 1 - comb(n - passed, k) / comb(n, k), comb(passed, k) / comb(n, k))
        for name, passed, n in (("house", 6, 6), ("plain", 2, 7))
        for k in range(1, n + 1)
    ]
    assert [row[:3] for row in rows] == [row[:3] for row in expected]
    assert [row[3:] for row in rows] == [pytest.approx(row[3:]) for row in expected]


def test_pass_at_k_of_cases_is_their_mean(store: RunStore) -> None:
    recorded(store, {"plain": "pp|ff|pf", "house": "pp|pp|pp"}, cases=("a", "b", "c"), runs=2)
    rows = ask(store, "SELECT k, cases, pass_at, pass_hat FROM pass_at WHERE cell LIKE '%plain%'")
    assert rows == [(1, 3, 0.5, 0.5), (2, 3, pytest.approx(2 / 3), pytest.approx(1 / 3))]


def test_rates_by_tag_and_by_case(store: RunStore) -> None:
    recorded(store, {"plain": "pf|fe", "house": "pp|pf"}, cases=("a", "b"), runs=2, tags=("slow", "smoke"))
    rows = ask(store, "SELECT tag, environment, evals, passed, decided, errors, pass_rate FROM tag_rates ORDER BY ALL")
    assert rows == [
        (tag, *rest)
        for tag in ("slow", "smoke")
        for rest in (("house", 1, 3, 4, 0, 0.75), ("plain", 1, 1, 3, 1, pytest.approx(1 / 3)))
    ]
    rows = ask(store, 'SELECT "case", environment, passed, decided, errors FROM case_rates ORDER BY ALL')
    assert rows == [("a", "house", 2, 2, 0), ("a", "plain", 1, 2, 0), ("b", "house", 1, 2, 0), ("b", "plain", 0, 1, 1)]


# --- the control's last rate ------------------------------------------------------------------------------


def test_the_newest_rate_of_a_control_is_found(store: RunStore) -> None:
    assert control_rates(store, compared_plan()) == {}
    recorded(store, {"plain": "pppp", "house": "ffff"})
    recorded(store, {"plain": "pffe", "house": "pppp"})
    recorded(store, {"plain": "eeee", "house": "pppp"})
    assert control_rates(store, compared_plan()) == {COMPARED: pytest.approx(1 / 3)}


def test_a_damaged_run_says_nothing_of_a_control(store: RunStore) -> None:
    recorded(store, {"plain": "pfff", "house": "ffff"})
    broken = recorded(store, {"plain": "pppp", "house": "ffff"})
    broken.journal.write_text("no journal\n")
    assert control_rates(store, compared_plan()) == {COMPARED: 0.25}


def test_a_plan_without_compares_reads_no_record(store: RunStore) -> None:
    recorded(store, {"plain": "pppp", "house": "pppp"})
    assert control_rates(store, compared_plan(compare=None)) == {}
