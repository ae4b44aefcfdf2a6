from __future__ import annotations

import datetime as dt
import time
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import anyio
import anyio.to_thread
import pytest

from reeval.backends import Database, QueryError
from tests.databases.few_words import few_words
from tests.databases.opened import asked, opened, refusal
from tests.databases.postgres_server import PASSWORD, Server

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def database(postgres: Server) -> AsyncIterator[Database]:
    async with opened(postgres.url(), statement_timeout=20.0, max_rows=50_000) as database:
        yield database


async def test_a_small_result_is_rows_by_position(database: Database) -> None:
    found = await asked(database, "SELECT id, id, amount AS id FROM orders ORDER BY 1 LIMIT 2")
    assert [(one.name, one.type) for one in found.columns] == [
        ("id", "INTEGER"),
        ("id", "INTEGER"),
        ("id", "DECIMAL(10,2)"),
    ]
    assert found.rows == [(1, 1, Decimal("1.50")), (2, 2, Decimal("3.00"))]


@pytest.mark.parametrize("count", [0, 5_000, 5_001, 20_000])
async def test_a_large_result_is_arrow_and_whole(database: Database, count: int) -> None:
    found = await asked(database, f"SELECT i, 'x' || i AS i FROM generate_series(1, {count}) i")
    assert found.row_count == count
    assert (found.arrow is None) == (count <= 5_000)


TYPES: dict[str, tuple[str, Any]] = {
    "true": ("BOOLEAN", True),
    "1::smallint": ("SMALLINT", 1),
    "9007199254740993": ("BIGINT", 2**53 + 1),
    "1.50::numeric(10,2)": ("DECIMAL(10,2)", Decimal("1.50")),
    "12345678901234567890123456789012345678::numeric": ("DECIMAL", Decimal(12345678901234567890123456789012345678)),
    "'Infinity'::numeric": ("DECIMAL", Decimal("Infinity")),
    "1.5::real": ("FLOAT", 1.5),
    "1e308::double precision": ("DOUBLE", 1e308),
    "5e-324::double precision": ("DOUBLE", 5e-324),
    "'-Infinity'::double precision": ("DOUBLE", float("-inf")),
    "NULL": ("VARCHAR", None),
    "'x'::text": ("VARCHAR", "x"),
    "'x'::varchar(3)": ("VARCHAR", "x"),
    "'x'::char(3)": ("VARCHAR", "x  "),
    r"'\x00ff'::bytea": ("BLOB", b"\x00\xff"),
    "B'101'": ("BIT", "101"),
    "'00000000-0000-0000-0000-000000000001'::uuid": ("UUID", UUID(int=1)),
    "'2024-02-29'::date": ("DATE", dt.date(2024, 2, 29)),
    "'10:11:12.5'::time": ("TIME", dt.time(10, 11, 12, 500_000)),
    "'12:00+02'::timetz": ("TIME WITH TIME ZONE", dt.time(12, tzinfo=dt.timezone(dt.timedelta(hours=2)))),
    "'2024-01-01 10:00'::timestamp": ("TIMESTAMP", dt.datetime.fromisoformat("2024-01-01 10:00")),
    "'2024-01-01 10:00+02'::timestamptz": (
        "TIMESTAMP WITH TIME ZONE",
        dt.datetime(2024, 1, 1, 8, tzinfo=dt.UTC),
    ),
    "'infinity'::timestamp": ("TIMESTAMP", "infinity"),
    "'0044-03-15 BC'::date": ("DATE", "0044-03-15 BC"),
    "'1 mon 36:00'::interval": ("INTERVAL", dt.timedelta(days=30, hours=36)),
    "ARRAY[1, NULL]": ("INTEGER[]", [1, None]),
    "ARRAY[['a'], ['b']]": ("VARCHAR[]", [["a"], ["b"]]),
    "ARRAY['infinity'::date]": ("DATE[]", ["infinity"]),
    "'{\"a\": 1}'::json": ("JSON", '{"a": 1}'),
    "'{\"a\":1}'::jsonb": ("JSON", '{"a": 1}'),
    "'10.0.0.1'::inet": ("VARCHAR", "10.0.0.1"),
    "int4range(1, 5)": ("VARCHAR", "[1,5)"),
    "'$1'::money": ("VARCHAR", "$1.00"),
    "row(1, 'x')": ("VARCHAR", "(1,x)"),
    "'<a/>'::xml": ("VARCHAR", "<a/>"),
    "point(1, 2)": ("VARCHAR", "(1,2)"),
    "'{}'::int[]": ("INTEGER[]", []),
}


@pytest.mark.parametrize("sql", TYPES)
async def test_common_types_have_a_name_and_a_value(database: Database, sql: str) -> None:
    word, value = TYPES[sql]
    found = await asked(database, f"SELECT {sql} AS v")
    assert [one.type for one in found.columns] == [word]
    assert found.rows == [(value,)]


async def test_nan_and_minus_zero_stay_what_they_are(database: Database) -> None:
    found = await asked(database, "SELECT 'NaN'::float8, '-0'::float8, 'NaN'::numeric")
    assert found.rows is not None
    assert [repr(cell) for cell in found.rows[0]] == ["nan", "-0.0", "Decimal('NaN')"]


@pytest.mark.parametrize("sql", TYPES)
async def test_common_types_go_into_a_large_result(database: Database, sql: str) -> None:
    found = await asked(
        database, f"SELECT {sql} AS v, CASE WHEN i > 5900 THEN {sql} END FROM generate_series(1, 6000) i"
    )
    assert (found.row_count, found.arrow.num_columns) == (6000, 2)
    assert found.arrow.column(1).null_count == (6000 if sql == "NULL" else 5900)


REFUSED = {
    "": "there is no query",
    "Sure!": "the text is no query: it begins with 'Sure!'",
    "SELECT": "the text asks nothing: it gives no columns",
    "SELECT 1; SELECT 2": "the text holds 2 statements",
    "SELECT 1; DROP TABLE orders": "the text holds 2 statements",
    "INSERT INTO orders VALUES (-1)": "INSERT is refused: the database is only read",
    "WITH x AS (INSERT INTO orders VALUES (-1) RETURNING id) SELECT * FROM x": "in a read-only transaction",
    "SELECT * INTO copied FROM orders": "in a read-only transaction",
    "SELECT * FROM orders FOR UPDATE": "in a read-only transaction",
    "EXPLAIN ANALYZE DELETE FROM orders": "in a read-only transaction",
    "SELECT nextval('numbers')": "permission denied for sequence numbers",
    "DROP TABLE orders": "DROP is refused",
    "CREATE TEMP TABLE t (a int)": "CREATE is refused",
    "COPY orders TO '/tmp/orders.csv'": "COPY is refused",
    "COPY (SELECT 1) TO PROGRAM 'touch /tmp/gone'": "COPY is refused",
    "DO $$ BEGIN DROP TABLE orders; END $$": "DO is refused",
    "CALL something()": "CALL is refused",
    "COMMIT": "COMMIT is refused",
    "SET statement_timeout = 0; SELECT 1": "the text holds 2 statements; only SET of search_path",
    "SET ROLE owner; SELECT 1": "the text holds 2 statements",
    "SELECT set_config('role', 'owner', false)": "set_config is refused: a query may only read tables",
    "SELECT pg_read_file('/etc/passwd')": "pg_read_file is refused",
    "SELECT \"pg_read_file\"('/etc/passwd')": "pg_read_file is refused",
    "SELECT U&\"\\0070g_read_file\"('/etc/passwd')": "is refused: a query may only read tables",
    "SELECT * FROM pg_ls_dir('/')": "pg_ls_dir is refused",
    "SELECT query_to_xml('SELECT 1', true, true, '')": "query_to_xml is refused",
    "SELECT lo_import('/etc/passwd')": "lo_import is refused",
    "SELECT dblink('host=h', 'SELECT 1')": "dblink is refused",
    "SELECT pg_terminate_backend(1)": "pg_terminate_backend is refused",
    "SELECT 1/0": "division by zero",
    "SELECT nope FROM orders": 'column "nope" does not exist',
    "SELECT * FROM orders WHERE id = $1": "requires 1",
    "SELECT repeat('x', 2000000000)": "requested length too large",
    "SELECT a.id FROM orders a, orders b, orders c, orders d": "more than 50,000 rows (max_rows of [data])",
    "SELECT '\0'": "NUL",
}


@pytest.mark.parametrize("sql", REFUSED, ids=lambda sql: sql[:40] or "empty")
async def test_what_is_no_query_of_this_database_says_why(database: Database, postgres: Server, sql: str) -> None:
    assert REFUSED[sql] in await refusal(database, sql)
    assert postgres.run("SELECT count(*) FROM orders") == [(100,)]


async def test_a_superuser_reads_as_somebody_who_may_only_read(database: Database) -> None:
    assert (await asked(database, "SELECT current_user")).rows == [("pg_read_all_data",)]


async def test_percent_signs_and_braces_are_only_text(database: Database) -> None:
    assert (await asked(database, "SELECT '%s {} %(a)s' LIKE '%s%'")).rows == [(True,)]


async def test_a_search_path_holds_for_one_query(database: Database) -> None:
    async with database.snapshot() as snapshot:
        assert (await snapshot.query("SET search_path = shop; SELECT a FROM items")).rows == [(1,)]
        with pytest.raises(QueryError, match='relation "items" does not exist'):
            await snapshot.query("SELECT a FROM items")
        assert (await snapshot.query("SELECT count(*) FROM orders")).rows == [(100,)]


async def test_both_queries_see_one_state(database: Database, postgres: Server) -> None:
    postgres.run("CREATE TABLE changing (a int)")
    async with database.snapshot() as snapshot:
        first = await snapshot.query("SELECT count(*), now() FROM changing")
        postgres.run("INSERT INTO changing VALUES (1)")
        with pytest.raises(QueryError):
            await snapshot.query("SELECT 1/0")
        assert (await snapshot.query("SELECT count(*), now() FROM changing")).rows == first.rows
    assert (await asked(database, "SELECT count(*) FROM changing")).rows == [(1,)]


async def test_a_query_that_runs_for_ever_is_ended_on_the_server_too(postgres: Server) -> None:
    async with opened(postgres.url("reader", "pass-of-the-reader"), statement_timeout=0.5) as database:
        with pytest.raises(QueryError, match=r"did not end within 0.5 s"):
            await asked(database, "SELECT pg_sleep(1000)")
        with anyio.move_on_after(0.3) as scope:
            await asked(database, "SELECT count(*) FROM generate_series(1, 1000000000)")
        assert scope.cancelled_caught
        await anyio.to_thread.run_sync(_wait_until, lambda: not _running(postgres))
        assert (await asked(database, "SELECT count(*) FROM orders")).rows == [(100,)]


def _running(postgres: Server) -> list[Any]:
    return postgres.run("SELECT query FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active'")


async def test_a_server_that_closes_the_connection_is_an_error_of_one_query(postgres: Server) -> None:
    async with opened(postgres.url("reader", "pass-of-the-reader")) as database:
        async with database.snapshot() as snapshot, anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, _wait_until, lambda: _terminated(postgres))
            with pytest.raises(QueryError, match="terminating connection due to administrator command"):
                await snapshot.query("SELECT pg_sleep(100)")
        assert (await asked(database, "SELECT 1")).rows == [(1,)]


async def test_a_connection_that_ended_while_it_was_idle_is_replaced(postgres: Server) -> None:
    async with opened(postgres.url("reader", "pass-of-the-reader")) as database:
        assert (await asked(database, "SELECT 1")).rows == [(1,)]
        await anyio.to_thread.run_sync(
            postgres.run, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'"
        )
        assert (await asked(database, "SELECT 2")).rows == [(2,)]


def _terminated(postgres: Server) -> list[Any]:
    sleeping = "FROM pg_stat_activity WHERE usename = 'reader' AND query LIKE '%pg_sleep(100)'"
    return postgres.run(f"SELECT pg_terminate_backend(pid) {sleeping}")


def _wait_until(it: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not it():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("user", ["owner", "nobody_there"])
async def test_a_refused_password_is_not_shown(postgres: Server, user: str) -> None:
    async with opened(postgres.url(user, "wrong-" + "secret")) as database:
        with pytest.raises(
            QueryError, match=r"the database cannot be reached: .*password authentication failed"
        ) as caught:
            await asked(database, "SELECT 1")
    assert "wrong-secret" not in str(caught.value)
    assert PASSWORD not in str(caught.value)


async def test_a_password_may_stand_in_a_variable(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "pass-of-the-reader")
    async with opened(f"postgres://reader:${{SHOP_PASSWORD}}@127.0.0.1:{postgres.port}/postgres") as database:
        assert (await asked(database, "SELECT current_user")).rows == [("reader",)]
        with pytest.raises(QueryError) as caught:
            await asked(database, "SELECT 'pass-of-the-reader'::int")
    assert str(caught.value).startswith('invalid input syntax for type integer: "***"')


async def test_a_server_that_is_not_there_says_so() -> None:
    async with opened("postgres://u@127.0.0.1:1/d") as database:
        with pytest.raises(QueryError, match=r"the database cannot be reached: .*onnection refused"):
            await asked(database, "SELECT 1")


async def test_the_schema_is_told_as_tables(postgres: Server) -> None:
    async with opened(postgres.url("reader", "pass-of-the-reader")) as database:
        assert await database.describe() == (
            "CREATE TABLE orders (\n  id integer,\n  customer text,\n  amount numeric\n);"
        )


async def test_what_a_server_does_not_know_is_left_out() -> None:
    async with few_words() as server, opened(f"postgres://u@127.0.0.1:{server.port}/d") as database:
        async with database.snapshot() as snapshot:
            for _ in range(2):
                assert (await snapshot.query("SELECT measure")).rows == [(3,), (4,)]
            with pytest.raises(QueryError, match="unknown: SELECT other"):
                await snapshot.query("SELECT other")
            with pytest.raises(QueryError, match="DELETE is refused: the database is only read"):
                await snapshot.query("WITH x AS (DELETE FROM measures RETURNING 1) SELECT 1")
            assert (await snapshot.query("SELECT measure")).rows == [(3,), (4,)]
        assert server.asked.count("SELECT measure") == 3
        assert not [sql for sql in server.asked if "SAVEPOINT" in sql]


async def test_a_server_that_hangs_up_or_falls_silent_is_left() -> None:
    async with few_words() as server:
        async with opened(f"postgres://u@127.0.0.1:{server.port}/d", statement_timeout=1.0) as database:
            with pytest.raises(QueryError, match="closed the connection"):
                await asked(database, "SELECT 'hang up'")
            with pytest.raises(QueryError, match="did not end within 1 s"):
                await asked(database, "SELECT hang")
            assert (await asked(database, "SELECT measure")).rows == [(3,), (4,)]
        with anyio.fail_after(10):
            await server.closed.wait()
