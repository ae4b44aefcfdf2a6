from __future__ import annotations

import datetime as dt
import os
import resource
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import anyio
import anyio.to_thread
import duckdb
import pytest

from reeval.backends import Database, QueryError
from reeval.errors import ConfigError
from tests.databases.opened import asked, opened, refusal

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("duckdb") / "store.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE orders AS SELECT range AS id, 'c' || (range % 7) AS customer FROM range(10000)"
        )
        connection.execute('CREATE SCHEMA shop; CREATE TABLE shop."order items" AS SELECT 1 AS a')
    return path


@pytest.fixture(scope="module")
async def database(file: Path) -> AsyncIterator[Database]:
    async with opened(f"duckdb:{file}", statement_timeout=20.0, max_rows=1_000_000) as database:
        yield database


async def test_a_small_result_is_rows_by_position(database: Database) -> None:
    found = await asked(database, "SELECT id, id, customer AS id FROM orders ORDER BY orders.id LIMIT 2")
    assert [(one.name, one.type) for one in found.columns] == [("id", "BIGINT"), ("id", "BIGINT"), ("id", "VARCHAR")]
    assert found.rows == [(0, 0, "c0"), (1, 1, "c1")]


async def test_a_large_result_is_arrow_and_whole(database: Database) -> None:
    found = await asked(database, "SELECT * FROM orders")
    assert found.rows is None
    assert found.row_count == 10_000
    assert found.arrow.column_names == ["id", "customer"]
    assert sorted(found.arrow["id"].to_pylist()) == list(range(10_000))


@pytest.mark.parametrize("count", [0, 1, 5_000, 5_001, 5_002])
async def test_no_row_is_lost_where_small_ends(database: Database, count: int) -> None:
    assert (await asked(database, f"SELECT * FROM range({count})")).row_count == count


async def test_a_few_long_texts_are_a_large_result(database: Database) -> None:
    found = await asked(database, "SELECT repeat('x', 1000000) FROM range(100)")
    assert found.arrow is not None
    assert found.row_count == 100


TYPES = {
    "true": ("BOOLEAN", True),
    "1::TINYINT": ("TINYINT", 1),
    "1::USMALLINT": ("USMALLINT", 1),
    "9007199254740993": ("BIGINT", 2**53 + 1),
    "18446744073709551615::UBIGINT": ("UBIGINT", 2**64 - 1),
    "170141183460469231731687303715884105727": ("HUGEINT", 2**127 - 1),
    "1::UHUGEINT": ("UHUGEINT", 1),
    "12345678901234567890123456789012345678::DECIMAL(38,0)": (
        "DECIMAL(38,0)",
        Decimal(12345678901234567890123456789012345678),
    ),
    "1.50::DECIMAL(10,2)": ("DECIMAL(10,2)", Decimal("1.50")),
    "1.5::FLOAT": ("FLOAT", 1.5),
    "1e308::DOUBLE": ("DOUBLE", 1e308),
    "5e-324::DOUBLE": ("DOUBLE", 5e-324),
    "'inf'::DOUBLE": ("DOUBLE", float("inf")),
    "'-inf'::DOUBLE": ("DOUBLE", float("-inf")),
    "NULL": ("NULL", None),
    "'x'": ("VARCHAR", "x"),
    "'\\x00\\xFF'::BLOB": ("BLOB", b"\x00\xff"),
    "'101'::BIT": ("BIT", "101"),
    "'00000000-0000-0000-0000-000000000001'::UUID": ("UUID", UUID(int=1)),
    "DATE '2024-02-29'": ("DATE", dt.date(2024, 2, 29)),
    "TIME '10:11:12.5'": ("TIME", dt.time(10, 11, 12, 500_000)),
    "TIMESTAMP '2024-01-01 10:00'": ("TIMESTAMP", dt.datetime.fromisoformat("2024-01-01 10:00")),
    "TIMESTAMP_S '2024-01-01 10:00:00'": ("TIMESTAMP_S", dt.datetime.fromisoformat("2024-01-01 10:00")),
    "TIMESTAMP_NS '2024-01-01 10:00:00'": ("TIMESTAMP_NS", dt.datetime.fromisoformat("2024-01-01 10:00")),
    "TIMESTAMPTZ '2024-01-01 10:00+02'": (
        "TIMESTAMP WITH TIME ZONE",
        dt.datetime(2024, 1, 1, 8, tzinfo=dt.UTC),
    ),
    "INTERVAL 36 HOUR": ("INTERVAL", dt.timedelta(hours=36)),
    "INTERVAL 1 MONTH": ("INTERVAL", dt.timedelta(days=30)),
    "[1, NULL]": ("INTEGER[]", [1, None]),
    "[1, 2]::INTEGER[2]": ("INTEGER[2]", (1, 2)),
    "{'a': 1, 'b': ['x']}": ("STRUCT(A INTEGER, B VARCHAR[])", {"a": 1, "b": ["x"]}),
    "MAP {'a': 1}": ("MAP(VARCHAR, INTEGER)", {"a": 1}),
    "'{\"a\": 1}'::JSON": ("JSON", '{"a": 1}'),
    "'a'::ENUM('a', 'b')": ("ENUM('A', 'B')", "a"),
    "union_value(n := 1)": ("UNION(N INTEGER)", 1),
    "TIMETZ '10:00:00+02'": (
        "TIME WITH TIME ZONE",
        dt.time(10, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    ),
    "5::BIGNUM": ("BIGNUM", "5"),
    "TIMESTAMP '290000-01-01'": ("TIMESTAMP", "290000-01-01 00:00:00"),
    "DATE '0044-03-15 (BC)'": ("DATE", "0044-03-15 (BC)"),
}


@pytest.mark.parametrize("sql", TYPES)
async def test_every_type_has_a_name_and_a_value(database: Database, sql: str) -> None:
    word, value = TYPES[sql]
    found = await asked(database, f"SELECT {sql} AS v")
    assert [one.type for one in found.columns] == [word]
    assert found.rows == [(value,)]


async def test_nan_and_minus_zero_stay_what_they_are(database: Database) -> None:
    found = await asked(database, "SELECT 'nan'::DOUBLE, -0.0::DOUBLE")
    assert found.rows is not None
    assert [repr(cell) for cell in found.rows[0]] == ["nan", "-0.0"]


@pytest.mark.parametrize("sql", TYPES)
async def test_every_type_goes_into_a_large_result(database: Database, sql: str) -> None:
    found = await asked(database, f"SELECT {sql} AS v, {sql} AS v FROM range(6000)")
    assert (found.row_count, found.arrow.num_columns) == (6000, 2)


REFUSED = {
    "": "there is no query",
    "-- nothing": "there is no query",
    "Sure! Here is the query.": "the text is no query: it begins with 'Sure! Here is the query.'",
    "```sql\nSELECT 1\n```": "the text is no query: it begins with '```sql SELECT 1 ```'",
    "SELECT 1 FORM orders": 'syntax error at or near "orders"',
    "WITH gone AS (DELETE FROM orders RETURNING id) FROM gone": "read-only mode",
    "SELECT 1; SELECT 2": "the text holds 2 statements",
    "INSERT INTO orders VALUES (1, 'a')": "INSERT is refused: the database is only read",
    "DROP TABLE orders": "DROP is refused",
    "CREATE TEMP TABLE t AS SELECT 1": "CREATE is refused",
    "SELECT 1; DROP TABLE orders": "the text holds 2 statements",
    "ATTACH '/tmp/other.duckdb'": "ATTACH is refused",
    "INSTALL httpfs": "INSTALL is refused",
    "LOAD httpfs": "LOAD is refused",
    "COPY orders TO '/tmp/orders.csv'": "COPY is refused",
    "COPY (SELECT 1) TO '/tmp/orders.csv'": "COPY is refused",
    "EXPORT DATABASE '/tmp/exported'": "EXPORT is refused",
    "SET memory_limit = '1TB'; SELECT 1": "the text holds 2 statements; only USE, and SET of schema or search_path",
    "SET TimeZone = 'UTC'; SELECT 1": "the text holds 2 statements; only USE, and SET of schema",
    "SET memory_limit = '1TB'": "SET is refused",
    "PRAGMA memory_limit = '1TB'": "PRAGMA is refused",
    "USE shop": "the text only sets something and asks nothing",
    "CALL enable_logging()": "CALL is refused",
    "BEGIN": "BEGIN is refused",
    "COMMIT": "COMMIT is refused",
    "WITH one AS (SELECT 1) INSERT INTO orders SELECT 1, 'a'": "INSERT is refused",
    "PREPARE p AS SELECT 1": "PREPARE is refused",
    "VACUUM": "VACUUM is refused",
    "CREATE TABLE t AS PIVOT orders ON id USING count(*)": "CREATE is refused",
    "WITH p AS (PIVOT orders ON id USING count(*)) INSERT INTO orders FROM p": " is refused: the database is only read",
    "EXPLAIN ANALYZE SELECT 1": "EXPLAIN ANALYZE is refused",
    "explain /* so */ (FORMAT json, analyze) FROM orders": "EXPLAIN ANALYZE is refused",
    "SELECT " + "1," * 600_000 + "1": "the query is 1,200,008 characters long; at most 1,000,000 are run",
    "SELECT * FROM read_text('/etc/passwd')": "file system operations are disabled",
    "SELECT * FROM read_csv('/etc/passwd')": "file system operations are disabled",
    "SELECT * FROM glob('/etc/*')": "file system operations are disabled",
    "SELECT * FROM '/etc/passwd'": "does not exist",
    "SELECT * FROM 'https://example.com/a.csv'": "disabled",
    "SELECT * FROM sniff_csv('/etc/passwd')": "disabled",
    "SELECT * FROM sys": "Table with name sys does not exist",
    "SELECT getenv('HOME')": "getenv does not exist",
    "SELECT * FROM enable_logging(storage = 'file', storage_config = {'path': '/tmp/log'})": "locked",
    "SELECT * FROM orders WHERE id = ?": "Values were not provided",
    "SELECT '\0'": "NUL",
    "SELECT 1//0": "Division by zero",
    "SELECT error('why')": "why",
    "SELECT nope FROM orders": "nope",
    "SELECT * FROM range(2000000)": "the result has more than 1,000,000 rows (max_rows of [data])",
    "SELECT " + ", ".join(["1"] * 5_001): "the result has 5,001 columns",
}  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED, ids=lambda sql: sql[:40] or "empty")
async def test_what_is_no_query_of_this_database_says_why(database: Database, sql: str) -> None:
    assert REFUSED[sql] in await refusal(database, sql)


@pytest.mark.parametrize("sql", ["EXPLAIN SELECT 'analyze'", 'EXPLAIN SELECT id AS "analyze" FROM orders'])
async def test_a_plan_is_shown_of_a_query_with_any_word(database: Database, sql: str) -> None:
    async with database.snapshot() as snapshot:
        assert (await snapshot.query(sql)).row_count


@pytest.mark.parametrize("sql", ["PIVOT {}", "WITH found AS (PIVOT {}) FROM found", "SELECT * FROM (PIVOT {})"])
async def test_a_pivot_that_looks_for_its_values_is_a_query(database: Database, sql: str) -> None:
    async with database.snapshot() as snapshot:
        for _ in range(2):
            found = await snapshot.query(
                sql.format("(SELECT i % 2 AS even, i FROM range(4) AS t(i)) ON even USING sum(i)")
            )
            assert found.rows == [(2, 4)]


async def test_a_schema_may_be_chosen_for_one_query(database: Database) -> None:
    async with database.snapshot() as snapshot:
        found = await snapshot.query('-- first\nUSE shop; SELECT * FROM "order items"')
        assert found.rows == [(1,)]
        assert (await snapshot.query("SELECT current_schema()")).rows == [("main",)]


async def test_a_failed_query_leaves_the_snapshot_usable(database: Database) -> None:
    async with database.snapshot() as snapshot:
        with pytest.raises(QueryError):
            await snapshot.query("SELECT error('x')")
        assert (await snapshot.query("SELECT count(*) FROM orders")).rows == [(10_000,)]


async def test_both_queries_see_one_moment(database: Database) -> None:
    async with database.snapshot() as snapshot:
        first = await snapshot.query("SELECT now()")
        await anyio.sleep(0.01)
        assert (await snapshot.query("SELECT now()")).rows == first.rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM range(100000000) a, range(100000000) b",
        "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r",
    ],
)
async def test_a_query_that_runs_for_ever_is_ended(file: Path, sql: str) -> None:
    async with opened(f"duckdb:{file}", statement_timeout=0.5) as database:
        began = time.monotonic()
        with pytest.raises(QueryError, match=r"the query did not end within 0.5 s \(statement_timeout of \[data\]\)"):
            await asked(database, sql)
        assert time.monotonic() - began < 15
        assert (await asked(database, "SELECT 1")).rows == [(1,)]


async def test_a_text_of_2_gb_takes_bounded_memory(file: Path) -> None:
    async with opened(f"duckdb:{file}", statement_timeout=3.0) as database:
        with pytest.raises(QueryError):
            await asked(database, "SELECT repeat('x', 2000000000)")
        assert (await asked(database, "SELECT 1")).rows == [(1,)]
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 4_500_000  # kB, of the largest process


async def test_a_query_that_needs_more_memory_than_there_is_says_so(database: Database) -> None:
    assert "Out of Memory" in await refusal(database, "SELECT string_agg(repeat('x', 1000), '') FROM range(5000000)")


async def test_a_hundred_million_rows_are_refused_soon(file: Path) -> None:
    async with opened(f"duckdb:{file}", max_rows=100_000) as database:
        with pytest.raises(QueryError, match="more than 100,000 rows"):
            await asked(database, "SELECT * FROM range(100000000)")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
async def test_a_process_that_dies_takes_down_one_query(file: Path) -> None:
    others = set(_workers())
    async with opened(f"duckdb:{file}") as database, anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, _kill_one_that_works, others)
        with pytest.raises(QueryError, match=r"the database's process ended while it ran the query \(exit code -9\)"):
            await asked(database, "SELECT count(*) FROM range(100000000) a, range(100000000) b")
        assert (await asked(database, "SELECT 1")).rows == [(1,)]


def _workers() -> dict[int, int]:
    """The processes of queries of this process, with the processor time that each has used."""
    found: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if fields[1] == str(os.getpid()) and "worker.main" in (stat.parent / "cmdline").read_text():
                found[int(stat.parent.name)] = int(fields[11])
    return found


def _kill_one_that_works(others: set[int]) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for pid, used in _workers().items():
            if pid not in others and used > 100:
                os.kill(pid, signal.SIGKILL)
                return
        time.sleep(0.1)


async def test_cancelling_ends_the_query(file: Path) -> None:
    async with opened(f"duckdb:{file}") as database:
        with anyio.move_on_after(0.5) as scope:
            await asked(database, "SELECT count(*) FROM range(100000000) a, range(100000000) b")
        assert scope.cancelled_caught
        assert (await asked(database, "SELECT 1")).rows == [(1,)]


async def test_snapshots_go_side_by_side(database: Database) -> None:
    found: list[Any] = []

    async def ask(number: int) -> None:
        found.append((await asked(database, f"SELECT {number}")).rows)

    async with anyio.create_task_group() as tasks:
        for number in range(12):
            tasks.start_soon(ask, number)
    assert sorted(found) == [[(number,)] for number in range(12)]


async def test_the_schema_is_told_as_tables(database: Database) -> None:
    orders = "CREATE TABLE orders (\n  id BIGINT,\n  customer VARCHAR\n);"
    assert await database.describe() == f'{orders}\n\nCREATE TABLE shop."order items" (\n  a INTEGER\n);'


async def test_a_huge_schema_is_cut_between_tables(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "wide.duckdb")) as connection:
        for number in range(40):
            columns = ", ".join(f"a_rather_long_name_{column} INTEGER" for column in range(100))
            connection.execute(f"CREATE TABLE t{number:02} ({columns})")
    async with opened(f"duckdb:{tmp_path / 'wide.duckdb'}") as database:
        text = await database.describe()
    assert len(text) < 61_000
    assert text.endswith("  a_rather_long_name_99 INTEGER\n);\n\n-- 22 more tables are left out")


async def test_a_folder_of_csv_and_parquet_is_a_database(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("id,amount\n1,2.5\n2,3.5\n")
    (tmp_path / "odd name's.tsv").write_text("a\tb\n1\tx\n")
    (tmp_path / "notes.txt").write_text("not a table")
    duckdb.sql("SELECT 7 AS n").write_parquet(str(tmp_path / "numbers.parquet"))
    async with opened(f"duckdb:{tmp_path}") as database:
        assert (await asked(database, "SELECT sum(amount) FROM orders")).rows == [(6.0,)]
        assert (await asked(database, "SELECT n FROM numbers")).rows == [(7,)]
        assert (await asked(database, 'SELECT b FROM "odd name\'s"')).rows == [("x",)]
        assert "disabled" in await refusal(database, f"SELECT * FROM read_text('{tmp_path}/notes.txt')")
        assert "COPY is refused" in await refusal(database, f"COPY orders TO '{tmp_path}/orders.csv'")
        hidden = "WITH gone AS (DELETE FROM orders RETURNING id) FROM gone"
        assert "read-only" in await refusal(database, hidden)
        assert "CREATE TABLE orders (\n  id BIGINT,\n  amount DOUBLE\n);" in await database.describe()


async def test_a_late_row_decides_the_type_of_a_csv_column(tmp_path: Path) -> None:
    rows = "\n".join(str(number) for number in range(50_000))
    (tmp_path / "codes.csv").write_text(f"code\n{rows}\nA1\n")
    async with opened(f"duckdb:{tmp_path}") as database:
        assert (await asked(database, "SELECT count(*) FROM codes WHERE code = 'A1'")).rows == [(1,)]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "holds no table: no file ends with .csv"),
        ({"a.csv": "x\n1\n", "a.tsv": "x\n1\n"}, "'a.csv' and 'a.tsv' in"),
        ({"a.parquet": "not parquet"}, "cannot be opened"),
    ],
)
async def test_a_folder_that_is_no_database_says_why(tmp_path: Path, files: dict[str, str], said: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    async with opened(f"duckdb:{tmp_path}") as database:
        with pytest.raises(QueryError, match=said):
            await asked(database, "SELECT 1")


async def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.duckdb").write_text("this is a letter, not a database\n" * 1000)
    async with opened(f"duckdb:{tmp_path / 'a.duckdb'}") as database:
        with pytest.raises(QueryError, match=r"cannot be opened.*not a valid DuckDB database file"):
            await asked(database, "SELECT 1")


async def test_a_missing_file_is_an_error_of_the_config_and_of_the_query(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        async with opened("duckdb:gone.duckdb", tmp_path):
            pass
    (tmp_path / "gone.duckdb").touch()
    async with opened("duckdb:gone.duckdb", tmp_path) as database:
        (tmp_path / "gone.duckdb").unlink()
        with pytest.raises(QueryError, match=r"there is no '.*gone.duckdb'"):
            await asked(database, "SELECT 1")


async def test_a_database_that_another_program_writes_says_which(tmp_path: Path) -> None:
    path = tmp_path / "busy.duckdb"
    code = (
        f"import duckdb, sys; c = duckdb.connect({str(path)!r}); print('ready', end='', flush=True); sys.stdin.read()"
    )
    async with await anyio.open_process([sys.executable, "-c", code]) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        assert await writer.stdout.receive() == b"ready"
        async with opened(f"duckdb:{path}") as database:
            with pytest.raises(QueryError, match=r"cannot be opened.*lock"):
                await asked(database, "SELECT 1")
        await writer.stdin.aclose()
        await writer.wait()


async def test_nothing_is_written_beside_the_file(file: Path, database: Database) -> None:
    await asked(database, "SELECT * FROM orders")
    assert [path.name for path in file.parent.iterdir()] == ["store.duckdb"]
