"""How long do 300 data questions take over a local database, beside the agent's own time?

    python benchmarks/questions.py          300 questions
    python benchmarks/questions.py 1000     another number

The agent answers at once, so that what is left is reeval's: each truth is tried, and both queries run on one state and
are compared. For each database, in a process of its own: wall and CPU seconds, and those of a run of one question.
Nothing here fails a build: figures depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from measure import REEVAL, Measured, measure

ORDERS = 10_000
AIM = 3.0
ROUNDS = 3
RUN = [*REEVAL, "run", "--quiet"]
CONFIG = """\
[harness.analyst]
kind = "fake"
script = [[{{ reply = "```sql\\n{sql}\\n```" }}]]

[data]
database = "{url}"
gate = "none"
"""
ANSWER = "SELECT count(*) AS n, region, sum(amount) AS total FROM orders GROUP BY region ORDER BY 2"
TRUTH = "SELECT region, sum(amount) AS revenue FROM orders WHERE id > {number} OR id <= {number} GROUP BY region"


def orders() -> list[tuple[int, str, float]]:
    return [(number, f"region {number % 40}", number * 37 % 1000 / 10) for number in range(ORDERS)]


def csv(project: Path) -> str:
    (project / "shop").mkdir()
    lines = ["id,region,amount", *(f"{number},{region},{amount}" for number, region, amount in orders())]
    (project / "shop" / "orders.csv").write_text("\n".join(lines) + "\n")
    return "duckdb:shop"


def duckdb_file(project: Path) -> str:
    import duckdb

    with duckdb.connect(str(project / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER, region VARCHAR, amount DOUBLE)")
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", orders()[:1000])
    return "duckdb:shop.duckdb"


def sqlite_file(project: Path) -> str:
    with sqlite3.connect(project / "shop.sqlite") as connection:
        connection.execute("CREATE TABLE orders (id INTEGER, region TEXT, amount REAL)")
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", orders())
    connection.close()
    return "sqlite:shop.sqlite"


DATABASES: dict[str, Callable[[Path], str]] = {
    "a folder of CSV": csv,
    "a DuckDB file": duckdb_file,
    "a SQLite file": sqlite_file,
}


def project_of(make: Callable[[Path], str], count: int) -> Path:
    project = Path(tempfile.mkdtemp(prefix="reeval-bench-"))
    (project / "agents").mkdir()
    (project / "reeval.config.toml").write_text(CONFIG.format(sql=ANSWER, url=make(project)))
    questions = [
        {"name": f"q{number}", "question": f"Question {number}?", "sql": TRUTH.format(number=number)}
        for number in range(count)
    ]
    (project / "agents" / "eval_questions.yml").write_text(json.dumps({"eval_questions": questions}))
    return project


def measured(project: Path) -> Measured:
    found = []
    for _ in range(ROUNDS):
        shutil.rmtree(project / ".reeval", ignore_errors=True)
        found.append(measure(RUN, project))
    return sorted(found, key=lambda one: one.wall)[ROUNDS // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=300)
    count = parser.parse_args().count
    print(f"{'':<18}{'wall':>8}{'CPU':>8}{'one question':>14}{'for each':>10}   aim for 300: {AIM:g} s")
    for name, make in DATABASES.items():
        many, one = (measured(project_of(make, size)) for size in (count, 1))
        each = statistics.fmean([(many.wall - one.wall) / (count - 1)]) * 1000
        print(f"{name:<18}{many.wall:>6.2f} s{many.cpu:>6.2f} s{one.wall:>12.2f} s{each:>7.1f} ms")


if __name__ == "__main__":
    main()
