"""Audits of ground truths, over real databases."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import anyio
import pytest

from reeval.databases.kinds import KINDS
from reeval.run.data.audit import audit
from reeval.schema.data.questions import PlannedDatabase

CUTS = (
    "LIMIT 2 cuts a tie: the next row is ordered alike, so which one the ground truth keeps is chance; "
    "order by more columns."
)
CHANCE = "LIMIT 2 without ORDER BY: which rows the ground truth keeps is chance."
OTHER_ORDER = "The ground truth gives another result when its tables' rows come in another order."
TWO_RUNS = "Two runs of the ground truth give different results: it does not depend on the data alone."


def audited(planned: PlannedDatabase, sql: str, limit: float | None = None) -> tuple[str, ...]:
    async def run() -> tuple[str, ...]:
        async with KINDS[planned.kind].open(planned, {}) as database, database.snapshot() as snapshot:
            return await audit(sql, snapshot, dialect=planned.kind, limit=limit)

    return anyio.run(run)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> PlannedDatabase:
    """Twelve orders of four customers: two regions have equal totals."""
    folder = tmp_path_factory.mktemp("shop")
    rows = [(number, "abcd"[number % 4], ("north", "south", "east")[number % 3], number // 3) for number in range(12)]
    lines = ["id,customer,region,amount", *(",".join(map(str, row)) for row in rows)]
    (folder / "orders.csv").write_text("\n".join(lines))
    (folder / "visits.csv").write_text("customer,day\na,1\na,2\nb,1\n")
    return PlannedDatabase(kind="duckdb", url=f"duckdb:{folder}")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM orders",
        "SELECT region, sum(amount) FROM orders GROUP BY 1 ORDER BY 1",
        "SELECT region FROM (SELECT DISTINCT region FROM orders) ORDER BY region LIMIT 2",
        "SELECT id FROM orders ORDER BY amount, id LIMIT 2;",
        "SELECT id, amount FROM orders ORDER BY 1 DESC LIMIT 2",
        "SELECT * FROM orders ORDER BY id LIMIT 2",
        "SELECT id FROM orders ORDER BY id LIMIT 100",
        "WITH big AS (SELECT * FROM orders WHERE amount > 1) SELECT count(*) FROM big",
        "SELECT amount FROM orders WHERE id < 2 ORDER BY amount LIMIT 1",
        "SELECT 1",
        "SELECT o.customer, count(DISTINCT v.day) FROM orders o JOIN visits v USING (customer) GROUP BY 1",
        "SELECT o.id FROM orders AS o, visits WHERE o.customer = visits.customer AND visits.day = 1",
    ],
)
def test_a_sound_ground_truth_raises_no_suspicion(shop: PlannedDatabase, sql: str) -> None:
    assert audited(shop, sql) == ()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT id FROM orders WHERE id > 99", "The ground truth is empty: every empty answer passes."),
        ("SELECT id FROM orders ORDER BY amount LIMIT 2", CUTS),
        ("SELECT id, amount FROM orders ORDER BY 2 LIMIT 2", CUTS),
        ("SELECT id, amount AS much FROM orders ORDER BY much DESC LIMIT 2", CUTS),
        ("SELECT * FROM orders ORDER BY amount LIMIT 2", CUTS),
        ("SELECT customer, count(*) FROM orders GROUP BY 1 ORDER BY count(*) DESC LIMIT 2", CUTS),
        ("SELECT customer FROM orders GROUP BY customer ORDER BY count(*) LIMIT 2", CUTS),
        ("SELECT id FROM orders ORDER BY amount FETCH FIRST 2 ROWS ONLY", CUTS),
        ("SELECT customer FROM (SELECT DISTINCT customer FROM orders) LIMIT 2", CHANCE),
        ("SELECT max(id) + random() * 100 FROM orders", TWO_RUNS),
        ("SELECT string_agg(id, ',') FROM orders", OTHER_ORDER),
        ("SELECT first(id) FROM orders AS o", OTHER_ORDER),
        (
            "SELECT o.id, o.amount FROM orders o JOIN visits v ON v.customer = o.customer",
            (
                "3 of the 9 rows of the ground truth repeat another one whole: a join that multiplies rows, "
                "or a missing DISTINCT."
            ),
        ),
    ],
)
def test_what_is_suspicious_is_told(shop: PlannedDatabase, sql: str, said: str) -> None:
    assert said in audited(shop, sql)


def test_a_ground_truth_that_does_not_run_says_why(shop: PlannedDatabase) -> None:
    (said,) = audited(shop, "SELECT nothing FROM orders")
    assert said.startswith("The ground truth does not run: ")
    assert "nothing" in said


def test_repeated_rows_of_a_large_result_are_counted_by_the_database(shop: PlannedDatabase) -> None:
    (said,) = audited(shop, "SELECT range % 15000 AS a, 'x' AS b FROM range(30000)")
    assert said.startswith("15,000 of the 30,000 rows")


def test_a_query_that_only_the_database_can_read_is_audited_as_far_as_possible(shop: PlannedDatabase) -> None:
    assert audited(shop, "FROM orders SELECT count(*)") == ()


def test_other_databases_are_audited_in_their_own_words(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "shop.sqlite") as connection:
        connection.execute("CREATE TABLE orders (id INTEGER, amount REAL)")
        connection.executemany("INSERT INTO orders VALUES (?, ?)", [(1, 5.0), (2, 5.0), (3, 5.0)])
    connection.close()
    planned = PlannedDatabase(kind="sqlite", url=f"sqlite:{tmp_path / 'shop.sqlite'}")
    assert audited(planned, "SELECT id FROM orders ORDER BY [amount] LIMIT 2") == (CUTS,)
    assert audited(planned, "SELECT `id` FROM orders ORDER BY id LIMIT 2") == ()


def test_what_was_found_counts_when_time_is_up(shop: PlannedDatabase) -> None:
    slow = "SELECT o.id, (SELECT count(*) FROM range(100000) a, range(1000000) b WHERE a.range + b.range < o.id) AS n"
    assert audited(shop, f"{slow} FROM orders o", limit=0.3) == ()
    cut = "SELECT id FROM orders ORDER BY amount LIMIT 2"
    assert audited(shop, cut, limit=60) == (CUTS,)
