"""Does the comparison agree with known answers? ``python tests/agreement.py FOLDER`` runs them all and prints a table.

The folder holds ``NAME.sql`` (tables and rows of a database, in PostgreSQL's dialect) and ``answers.jsonl``: objects
with ``database`` (a NAME), ``gold`` and ``sql`` (two queries) and ``same`` (whether their results are). Exits with 1
when a verdict is another or a query does not run. Statements of a database that DuckDB refuses are printed and left
out: the answers are known of what the others made. A known answer that calls a result with fewer columns the same
cannot be right by the rule, whatever the rows; those are counted apart.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb

from reeval.grade.rows.compare import Comparison, compare_with
from reeval.grade.rows.engines.opening import open_large
from reeval.grade.rows.engines.small import SmallEngine
from reeval.grade.rows.why.wording import Tables
from reeval.schema.data.results import Column, ResultTable

WORDS = {
    r"\bserial\b": "INTEGER",
    r"\bto_char\(": "strftime(",
    r"\bto_date\(": "strptime(",
    r"(?-i:'Month'(?=\)))": "'%B'",
    r"'YYYY-MM-DD'": "'%Y-%m-%d'",
    r"(?<!unnest\()\bgenerate_series\(": "series_rows(",
}
"""What PostgreSQL writes otherwise than DuckDB."""


def in_duckdb(sql: str) -> str:
    for theirs, ours in WORDS.items():
        sql = re.sub(theirs, ours, sql, flags=re.IGNORECASE)
    return sql


def loaded(script: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory with what the script makes; its few words of PostgreSQL's are put into DuckDB's."""
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    db.execute("CREATE SCHEMA public; SET search_path = 'public,main'")
    db.execute("CREATE MACRO series_rows(a, b, c) AS unnest(generate_series(a, b, c))")
    for statement in duckdb.extract_statements(in_duckdb(script.read_text(encoding="utf-8"))):
        try:
            db.execute(statement)
        except duckdb.Error as error:
            text = " ".join(statement.query.split())[:120]
            print(f"{script.name}: left out: {str(error).splitlines()[0]}\n    {text}")
    return db


def results(db: duckdb.DuckDBPyConnection, sql: str) -> tuple[ResultTable, ResultTable]:
    """The result as Python values and as Arrow."""
    sql = in_duckdb(sql)
    relation = db.sql(sql)
    columns = tuple(
        Column(name=name, type=str(type)) for name, type in zip(relation.columns, relation.types, strict=True)
    )
    arrow = relation.to_arrow_table()
    return ResultTable(columns=columns, rows=db.sql(sql).fetchall()), ResultTable(columns=columns, arrow=arrow)


def both(db: duckdb.DuckDBPyConnection, gold: str, sql: str) -> list[Comparison]:
    """The verdict of plain Python, and that of DuckDB."""
    (truth_rows, truth_arrow), (rows, arrow) = results(db, gold), results(db, sql)
    with open_large(truth_arrow, arrow, exact=False) as engine:
        large = compare_with(engine, Tables(truth_arrow, arrow), exact=False)
    small = compare_with(SmallEngine(truth_rows, rows, exact=False), Tables(truth_rows, rows), exact=False)
    return [small, large]


def main(folder: Path) -> int:
    """Print how many verdicts agree, for each database; return the exit code."""
    databases: dict[str, duckdb.DuckDBPyConnection] = {}
    agreed: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    impossible = 0
    for line in (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines():
        answer: dict[str, Any] = json.loads(line)
        name, sql = answer["database"], " ".join(answer["sql"].split())[:120]
        if name not in databases:
            databases[name] = loaded(folder / f"{name}.sql")
        try:
            found = both(databases[name], answer["gold"], answer["sql"])
        except duckdb.Error as error:
            asked[name] += 1
            print(f"{name}: {str(error).splitlines()[0]}\n    {sql}")
            continue
        if answer["same"] and all("columns, but the answer has" in came.analysis for came in found):
            impossible += 1
            continue
        asked[name] += 1
        if all(came.verdict == ("pass" if answer["same"] else "fail") for came in found):
            agreed[name] += 1
        else:
            said = ", ".join(came.verdict for came in found)
            print(f"{name}: {said}, but known is same={answer['same']}: {found[0].analysis}\n    {sql}")
    for name, total in sorted(asked.items()):
        print(f"{name:20}{agreed[name]:6} of {total}")
    print(f"{'all':20}{agreed.total():6} of {asked.total()}")
    if impossible:
        print(f"{impossible} more known answers call a result with fewer columns the same")
    return 0 if agreed == asked and asked else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
