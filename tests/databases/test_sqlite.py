from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from reeval.backends import Database, QueryError
from tests.databases.opened import asked, opened, refusal

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sqlite") / "store 1?.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT)")
        connection.executemany("INSERT INTO orders VALUES (?, ?)", ((i, f"c{i % 7}") for i in range(10_000)))
        connection.execute("CREATE VIEW firsts AS SELECT * FROM orders WHERE id < 3")
        connection.commit()
    return path


@pytest.fixture(scope="module")
async def database(file: Path) -> AsyncIterator[Database]:
    async with opened(f"sqlite:{file}", statement_timeout=20.0, max_rows=50_000) as database:
        yield database


async def test_a_small_result_is_rows_by_position(database: Database) -> None:
    found = await asked(database, "SELECT id, id, customer AS id FROM firsts ORDER BY 1")
    assert [(one.name, one.type) for one in found.columns] == [("id", "BIGINT"), ("id", "BIGINT"), ("id", "VARCHAR")]
    assert found.rows == [(0, 0, "c0"), (1, 1, "c1"), (2, 2, "c2")]


@pytest.mark.parametrize(
    ("values", "word", "rows"),
    [
        ("(1), (NULL)", "BIGINT", [(1,), (None,)]),
        ("(NULL)", "NULL", [(None,)]),
        ("(1), (2.5)", "DOUBLE", [(1,), (2.5,)]),
        ("(1), ('a')", "VARCHAR", [(1,), ("a",)]),
        ("(x'00ff')", "BLOB", [(b"\x00\xff",)]),
        ("(9223372036854775807)", "BIGINT", [(2**63 - 1,)]),
        ("(1e308), (9e999), (-9e999), (4.9e-324)", "DOUBLE", [(1e308,), (float("inf"),), (float("-inf"),), (5e-324,)]),
        ("(cast(x'ff' as text))", "VARCHAR", [("\ufffd",)]),
    ],
)
async def test_the_values_of_a_column_are_its_type(
    database: Database, values: str, word: str, rows: list[tuple[object]]
) -> None:
    found = await asked(database, f"VALUES {values}")
    assert (found.columns[0].type, found.rows) == (word, rows)


@pytest.mark.parametrize(
    ("expression", "word", "kind"),
    [
        ("id", "BIGINT", "int64"),
        ("CASE WHEN id > 9000 THEN 0.5 ELSE id END", "DOUBLE", "double"),
        ("CASE WHEN id > 9000 THEN 'late' ELSE id END", "VARCHAR", "string"),
        ("CASE WHEN id > 9000 THEN x'ff' ELSE 'text' END", "VARCHAR", "string"),
        ("CASE WHEN id > 9000 THEN id END", "BIGINT", "int64"),
        ("NULL", "NULL", "null"),
    ],
)
async def test_a_late_row_widens_the_type_of_a_large_result(
    database: Database, expression: str, word: str, kind: str
) -> None:
    found = await asked(database, f"SELECT {expression} AS a, id AS a FROM orders ORDER BY id")
    assert (found.row_count, found.columns[0].type, str(found.arrow.schema.field(0).type)) == (10_000, word, kind)
    assert found.arrow.column(1).to_pylist() == list(range(10_000))


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("", "there is no query"),
        ("Sure!", "the text is no query: it begins with 'Sure!'"),
        ("SELECT 1; SELECT 2", "the text holds 2 statements"),
        ("INSERT INTO orders VALUES (-1, 'a')", "INSERT is refused"),
        ("WITH a AS (SELECT 1) INSERT INTO orders SELECT -1, 'a'", "not authorized"),
        ("DROP TABLE orders", "DROP is refused"),
        ("ATTACH '/tmp/other.sqlite' AS other", "ATTACH is refused"),
        ("VACUUM INTO '/tmp/copy.sqlite'", "VACUUM is refused"),
        ("PRAGMA journal_mode = DELETE", "not authorized"),
        ("PRAGMA query_only = OFF", "not authorized"),
        ("SELECT load_extension('x')", "not authorized"),
        ("SELECT * FROM pragma_database_list", "not authorized"),
        ("SELECT readfile('/etc/passwd')", "no such function: readfile"),
        ("SELECT zeroblob(2000000000)", "string or blob too big"),
        ("WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT i FROM r", "more than 50,000 rows"),
        ("SELECT nope FROM orders", "no such column: nope"),
        ("SELECT * FROM orders WHERE id = ?", "Incorrect number of bindings"),
        ("SELECT '\0'", "NUL"),
    ],
)
async def test_what_is_no_query_of_this_database_says_why(database: Database, sql: str, said: str) -> None:
    assert said in await refusal(database, sql)


async def test_columns_of_a_table_may_be_asked_for(database: Database) -> None:
    found = await asked(database, "PRAGMA table_info(orders)")
    assert found.row_count == 2


async def test_a_query_that_runs_for_ever_is_ended(file: Path) -> None:
    async with opened(f"sqlite:{file}", statement_timeout=0.5) as database:
        with pytest.raises(QueryError, match=r"did not end within 0.5 s"):
            await asked(database, "SELECT count(*) FROM orders a, orders b, orders c")
        with anyio.move_on_after(0.2) as scope:
            await asked(database, "SELECT count(*) FROM orders a, orders b, orders c")
        assert scope.cancelled_caught
        assert (await asked(database, "SELECT 1")).rows == [(1,)]


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """A database that this process has open too."""
    with closing(sqlite3.connect(tmp_path / "busy.sqlite", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (a)")
        yield tmp_path / "busy.sqlite", connection


async def test_both_queries_see_one_state(busy: tuple[Path, sqlite3.Connection]) -> None:
    path, writer = busy
    writer.execute("PRAGMA journal_mode = WAL")
    async with opened(f"sqlite:{path}") as database:
        async with database.snapshot() as snapshot:
            writer.execute("INSERT INTO t VALUES (1)")
            assert (await snapshot.query("SELECT count(*) FROM t")).rows == [(0,)]
        assert (await asked(database, "SELECT count(*) FROM t")).rows == [(1,)]


async def test_a_locked_database_says_so(busy: tuple[Path, sqlite3.Connection]) -> None:
    path, writer = busy
    writer.execute("BEGIN EXCLUSIVE")
    async with opened(f"sqlite:{path}") as database:
        with pytest.raises(QueryError, match="database is locked"):
            await asked(database, "SELECT 1")


async def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_text("this is a letter, not a database\n" * 100)
    async with opened("sqlite:a.sqlite", tmp_path) as database:
        with pytest.raises(QueryError, match=r"a.sqlite' cannot be opened: file is not a database"):
            await asked(database, "SELECT 1")


async def test_the_schema_is_told_as_it_was_made(database: Database) -> None:
    assert await database.describe() == (
        "CREATE VIEW firsts AS SELECT * FROM orders WHERE id < 3;\n\n"
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT);"
    )
