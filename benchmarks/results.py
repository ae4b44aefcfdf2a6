"""How fast is the comparison of two results? ``python benchmarks/results.py [CASE]`` prints a table.

Each ``6 × 8`` is 6 columns of the ground truth (BIGINT, VARCHAR, DOUBLE, DATE, DECIMAL, BOOLEAN) and 8 of the answer:
the same ones shuffled by row, reordered, renamed, with noise of the 16th figure, and two columns more. Nothing here
fails a build: figures depend on the machine.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable

import duckdb

from reeval.grade.rows.compare import Comparison, compare_results
from reeval.schema.data.results import Column, ResultTable

CASES: dict[str, Callable[[], tuple[ResultTable, ResultTable]]] = {}


def large(rows: int) -> tuple[ResultTable, ResultTable]:
    """The truth and a right answer of so many rows."""
    return _pair(
        f"""SELECT i AS id, 'name ' || (i % 50021) AS name, (i * 7919 % 1000003) / 7.0 AS amount,
            DATE '2020-01-01' + (i % 2000)::INTEGER AS day, ((i * 31 % 99991) / 100)::DECIMAL(18, 2) AS price,
            i % 3 = 0 AS flag FROM range({rows}) t(i)""",
        """SELECT price AS p, flag AS f, amount * (1 + 1e-15) AS a, 1 AS more, id AS i, day::TIMESTAMP AS d, name AS n,
            id % 17 AS less FROM truth ORDER BY hash(id)""",
    )


def flags(rows: int) -> tuple[ResultTable, ResultTable]:
    """Four flags with the same counts, which only their rows tell apart."""
    columns = ", ".join(f"(i * {prime} + {at}) % 1000 < 500 AS f{at}" for at, prime in enumerate((7, 11, 13, 17)))
    return _pair(
        f"SELECT i % 1009 AS id, {columns} FROM range({rows}) t(i)",
        "SELECT f3, f1, id, f0, f2 FROM truth ORDER BY hash(id)",
    )


def duplicates(rows: int) -> tuple[ResultTable, ResultTable]:
    """Columns that the answer has several times."""
    return _pair(
        f"SELECT i % 1009 AS a, i % 1009 AS b, i % 31 AS c FROM range({rows}) t(i)",
        """SELECT c AS c1, a AS a1, b AS b1, a AS a2, c AS c2, b AS b2, a AS a3, c AS c3, a AS a4
            FROM truth ORDER BY hash(a, c)""",
    )


def wide(rows: int, columns: int = 66) -> tuple[ResultTable, ResultTable]:
    """Many columns, in reverse."""
    names = ", ".join(f"(i * {at + 3}) % {97 + at % 7} AS c{at}" for at in range(columns))
    back = ", ".join(f"c{at}" for at in reversed(range(columns)))
    return _pair(f"SELECT {names} FROM range({rows}) t(i)", f"SELECT {back} FROM truth ORDER BY hash(c0, c1)")


def small() -> tuple[ResultTable, ResultTable]:
    """What most answers are: 20 rows of 4 columns."""
    rows = [(at, f"region {at}", at * 1234.567, at % 3) for at in range(20)]
    return _table(rows), _table([(row[2] * (1 + 1e-15), row[0], row[1], "more", row[3]) for row in reversed(rows)])


def graph(edges: list[tuple[int, int]], vertices: int) -> ResultTable:
    """A graph as a result: a row for each vertex, a column for each edge."""
    return _table([tuple(int(vertex in edge) for edge in edges) for vertex in range(vertices)])


def cycle(length: int) -> list[tuple[int, int]]:
    return [(at, (at + 1) % length) for at in range(length)]


PETERSEN = [*cycle(5), *((at, at + 5) for at in range(5)), *((5 + at, 5 + (at + 2) % 5) for at in range(5))]
CUBE = [(one, one ^ bit) for one in range(8) for bit in (1, 2, 4) if one < one ^ bit]


def _table(rows: list[tuple[object, ...]]) -> ResultTable:
    return ResultTable(columns=tuple(Column(name=f"c{at}", type="") for at in range(len(rows[0]))), rows=rows)


def _pair(truth: str, answer: str) -> tuple[ResultTable, ResultTable]:
    with duckdb.connect() as db:
        db.execute(f"CREATE TABLE truth AS {truth}")
        both = []
        for query in ("FROM truth", answer):
            relation = db.sql(query)
            columns = tuple(
                Column(name=name, type=str(type)) for name, type in zip(relation.columns, relation.types, strict=True)
            )
            both.append(ResultTable(columns=columns, arrow=relation.to_arrow_table()))
    return both[0], both[1]


CASES |= {
    "20 rows of 4 columns": small,
    "cycle of 10 in Petersen's graph": lambda: (graph(cycle(10), 10), graph(PETERSEN, 10)),
    "cycle of 8 in a cube": lambda: (graph(cycle(8), 8), graph(CUBE, 8)),
    "one-hot 66 × 66": lambda: (
        graph([(at, at) for at in range(66)], 66),
        graph([(at, at) for at in reversed(range(66))], 66),
    ),
    "66 columns, 100,000 rows": lambda: wide(100_000),
    "flags, 1,000,000 rows": lambda: flags(1_000_000),
    "duplicates, 1,000,000 rows": lambda: duplicates(1_000_000),
    "6 × 8, 100,000 rows": lambda: large(100_000),
    "6 × 8, 1,000,000 rows": lambda: large(1_000_000),
    "6 × 8, 10,000,000 rows": lambda: large(10_000_000),
}


def measure(name: str) -> None:
    """Print one line: each case in a process of its own, for its memory."""
    truth, answer = CASES[name]()
    tries = 1 if truth.arrow is not None else 5
    best, used, result = 1e9, 1e9, Comparison(verdict="review")
    for _ in range(tries):
        started, before = time.perf_counter(), time.process_time()
        result = compare_results(truth, answer)
        best, used = min(best, time.perf_counter() - started), min(used, time.process_time() - before)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{name:34}{best:10.4f} s{used:10.4f} s{peak:8.2f} GB  {result.verdict}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            print(f"{'':34}{'time':>12}{'processor':>12}{'memory':>11}  verdict")
            for each in CASES:
                subprocess.run([sys.executable, __file__, each], check=True)
        case [name] if name in CASES:
            measure(name)
        case _:
            sys.exit("\n".join([__doc__, "CASE is one of:", *(f"  {each}" for each in CASES)]))
