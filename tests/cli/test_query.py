"""``reeval query``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import duckdb
import pytest

from reeval.cli.rows import Place, printed
from reeval.record.history import Answer
from tests.cli.projects import planned, project, recorded, reeval


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project(tmp_path))
    return tmp_path


COUNTS = "SELECT eval, outcome, count(*) AS n FROM attempts GROUP BY ALL ORDER BY ALL"


def test_a_table_is_aligned_with_numbers_to_the_right(root: Path) -> None:
    recorded(root, planned(runs=12), planned("b"))
    done = reeval("query", COUNTS)
    assert done.exit_code == 0
    assert done.stdout == (
        "eval                                 outcome   n\n"
        "evals/greet.eval.py::b               fail      1\n"
        "evals/greet.eval.py::b               pass      1\n"
        "evals/greet.eval.py::greets by name  fail      1\n"
        "evals/greet.eval.py::greets by name  pass     11\n"
    )


def test_what_is_no_row_goes_to_stderr(root: Path) -> None:
    recorded(root)
    done = reeval("query", "FROM runs WHERE false")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "history.duckdb is not there: built again from 1 run\n0 rows\n"


def test_csv_is_csv(root: Path) -> None:
    recorded(root)
    sql = "SELECT 'a,\"b\"\nc' AS x, NULL AS y, [1, 2] AS z, 0.5 AS w, outcome FROM attempts WHERE run = 1"
    rows = list(csv.reader(io.StringIO(reeval("query", sql, "--format", "csv").stdout)))
    assert rows == [["x", "y", "z", "w", "outcome"], ['a,"b"\nc', "", "[1, 2]", "0.5", "pass"]]


def test_json_is_one_object_a_line(root: Path) -> None:
    recorded(root)
    sql = """SELECT run, outcome, NULL AS nothing, ['é'] AS list, {'a': 1} AS struct, 'nan'::DOUBLE AS nan,
        1.50 AS money, DATE '2026-01-02' AS day, TIMESTAMP '2026-01-02 03:04:05' AS moment, 'x'::BLOB AS bytes,
        1 AS run, 2::HUGEINT AS big, INTERVAL 1 SECOND AS second FROM attempts ORDER BY 1"""
    lines = reeval("query", sql, "-f", "json").stdout.splitlines()
    assert [json.loads(line)["outcome"] for line in lines] == ["pass", "fail"]
    assert json.loads(lines[0]) == {
        "run": 1,
        "outcome": "pass",
        "nothing": None,
        "list": ["é"],
        "struct": {"a": 1},
        "nan": None,
        "money": 1.5,
        "day": "2026-01-02",
        "moment": "2026-01-02 03:04:05.000",
        "bytes": "78",
        "run_2": 1,
        "big": 2,
        "second": 1.0,
    }


def test_parquet_needs_a_file(root: Path) -> None:
    recorded(root)
    done = reeval("query", "attempts", "--format", "parquet")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "add --output FILE" in done.stderr
    done = reeval("query", COUNTS, "--format", "parquet", "--output", "out.parquet")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.endswith("2 rows in out.parquet\n")
    assert [row[1:] for row in duckdb.read_parquet(str(root / "out.parquet")).fetchall()] == [("fail", 1), ("pass", 1)]
    assert sorted(path.name for path in root.iterdir()) == [".reeval", "evals", "out.parquet", "reeval.config.toml"]


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_file_gets_what_stdout_would(root: Path, form: str) -> None:
    recorded(root)
    wanted = reeval("query", COUNTS, "-f", form).stdout
    assert reeval("query", COUNTS, "-f", form, "-o", "out").stdout == ""
    assert (root / "out").read_text() == wanted


def test_a_query_that_fails_leaves_no_file(root: Path) -> None:
    recorded(root)
    (root / "out").write_text("old")
    done = reeval("query", "SELECT outcome::INT FROM attempts", "-f", "csv", "-o", "out")
    assert done.exit_code == 2
    assert (root / "out").read_text() == "old"
    assert reeval("query", "attempts", "-o", "nowhere/out").exit_code == 2


def test_a_run_restricts_the_answer(root: Path) -> None:
    first, second = recorded(root), recorded(root, planned("b"))
    name = "SELECT DISTINCT eval FROM attempts"
    assert reeval("query", name, "--run", "last").stdout.splitlines()[1:] == ["evals/greet.eval.py::b"]
    assert reeval("query", name, "--run", first.id).stdout.splitlines()[1:] == ["evals/greet.eval.py::greets by name"]
    assert reeval("query", name, "--run", str(second.path)).stdout.splitlines()[1:] == ["evals/greet.eval.py::b"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["atempts"], "error: there is no table 'atempts'; did you mean attempts? These are the tables"),
        (["SELECT nope FROM runs"], 'Referenced column "nope" not found'),
        (["DROP TABLE runs"], "error: query takes one SELECT"),
        (["runs", "--run", "zzz"], "error: there is no run 'zzz'"),
        (["runs", "--format", "xml"], "error: --format is 'xml'; write one of table, csv, json, parquet"),
    ],
)
def test_what_cannot_be_answered_is_exit_2_with_empty_stdout(root: Path, arguments: list[str], text: str) -> None:
    recorded(root)
    done = reeval("query", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert text in done.stderr


def test_the_help_names_every_table() -> None:
    from reeval.record.tables import TABLES, VIEWS

    text = reeval("query", "--help").stdout
    assert all(one.name in text for one in (*TABLES, *VIEWS))


# --- on a terminal ------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(
    monkeypatch: pytest.MonkeyPatch,
    cells: int,
    columns: tuple[str, ...],
    *rows: tuple[object, ...],
    form: str = "table",
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(cells))
    terminal = Terminal()
    printed(Answer(columns, iter(rows)), form, Place(terminal))
    return terminal.getvalue().splitlines()


def test_a_table_gives_way_where_it_is_widest(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("evals/greet.eval.py::greets by name", "pass", 12), ("evals/b.eval.py::b", None, 3)]
    assert shown(monkeypatch, 40, ("eval", "outcome", "n"), *rows) == [
        "eval                         outcome   n",
        "evals/greet.eval.py::greet…  pass     12",
        "evals/b.eval.py::b           NULL      3",
    ]


def test_columns_that_do_not_fit_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(monkeypatch, 30, ("a" * 20, "b" * 20, "c" * 20), ("x" * 30, "y" * 30, "z" * 30))
    assert lines == ["aaaaaaaaaaaaa…  bbbbbbbbbbbbb…", "xxxxxxxxxxxxx…  yyyyyyyyyyyyy…"]
    assert capsys.readouterr().err == f"1 column does not fit: {'c' * 20}; name those you want\n"


def test_wide_characters_keep_the_columns_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 80, ("a", "b"), ("日本", 1), ("x", 2)) == ["a     b", "日本  1", "x     2"]


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_control_characters_of_agents_never_reach_a_terminal(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    evil = "\x1b]0;owned\x07\x1b[31mred\x9b2J\u202egnp.exe\r\nnext"
    lines = shown(monkeypatch, 200, ("a\x1b[1m",), (evil,), form=form)
    text = "".join(lines)
    assert len(lines) == (1 if form == "json" else 2)
    assert not set(text) & set("\x1b\x07\x9b\u202e\r")
    assert "red" in text


def test_a_long_table_does_not_wait_for_its_last_row() -> None:
    stream = io.StringIO()
    answer = Answer(("n",), iter([(number,) for number in range(5000)]))
    assert printed(answer, "table", Place(stream)) == 5000
    assert len(stream.getvalue().splitlines()) == 5001
