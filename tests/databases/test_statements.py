from __future__ import annotations

import time

import pytest

from reeval.backends import QueryError
from reeval.databases.statements import Dialect, read_query, split


@pytest.mark.parametrize(
    ("sql", "texts"),
    [
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT ';'; SELECT 2", ["SELECT ';'", "SELECT 2"]),
        ("SELECT 'it''s;'", ["SELECT 'it''s;'"]),
        ('SELECT "a;b"', ['SELECT "a;b"']),
        ("SELECT 1 -- ; no\n; -- end", ["SELECT 1 -- ; no"]),
        ("/* a /* b; */ c; */ SELECT 1", ["/* a /* b; */ c; */ SELECT 1"]),
        ("SELECT $$a;b$$, $x$;$$;$x$", ["SELECT $$a;b$$, $x$;$$;$x$"]),
        (r"SELECT E'a\';b'", [r"SELECT E'a\';b'"]),
        (";; \n;", []),
        ("-- nothing", []),
        ("SELECT '; never closed", ["SELECT '; never closed"]),
        ("SELECT $a$; never $b$ closed", ["SELECT $a$; never $b$ closed"]),
        ("/* never closed ; SELECT 1", []),
    ],
)
def test_statements_end_at_semicolons_of_their_own(sql: str, texts: list[str]) -> None:
    assert [one.text for one in split(sql, "postgres")] == texts


def test_sqlite_has_brackets_and_backticks_and_no_nested_comments() -> None:
    assert [one.text for one in split("SELECT [a;b], `c;d`; /* /* */ SELECT 2", "sqlite")] == [
        "SELECT [a;b], `c;d`",
        "/* /* */ SELECT 2",
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "  (SELECT 1) UNION (SELECT 2);",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "VALUES (1)",
        "TABLE orders",
        "SHOW server_version",
        "EXPLAIN SELECT 1",
        "/* hi */ select 1",
    ],
)
def test_a_query_is_read(sql: str) -> None:
    assert read_query(sql, "postgres").settings == ()


@pytest.mark.parametrize(
    "setting",
    ["SET search_path = shop", "set local search_path to a, b", "SET SESSION TIME ZONE 'UTC'", "SET timezone = 'UTC'"],
)
def test_harmless_settings_may_stand_before_the_query(setting: str) -> None:
    assert read_query(f"{setting}; SELECT 1;", "postgres").settings == (setting,)


@pytest.mark.parametrize("dialect", ["postgres", "sqlite"])
@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("", "there is no query: the text holds nothing to run"),
        (" -- only a comment", "there is no query: the text holds nothing to run"),
        ("Sure! Here is the query you asked for: it is long", "begins with 'Sure! Here is the query you asked for: …'"),
        ("```sql\nSELECT 1\n```", "the text is no query: it begins with '```sql SELECT 1 ```'"),
        ("42", "the text is no query: it begins with '42'"),
        ("DROP TABLE orders", "DROP is refused: the database is only read"),
        ("inSert into orders values (1)", "INSERT is refused: the database is only read"),
        ("SELECT 1; SELECT 2", "the text holds 2 statements; only "),
        ("SELECT 1; DROP TABLE orders; SELECT 1", "the text holds 3 statements; only "),
        ("SET statement_timeout = 0; SELECT 1", "the text holds 2 statements; only "),
        ("SET search_path = shop", "the text only sets something and asks nothing"),
        ("SELECT '\0'", "the query holds a NUL character, which no SQL has"),
        ("SELECT " + "1," * 600_000, "the query is 1,200,007 characters long; at most 1,000,000 are run"),
    ],
)
def test_all_else_is_refused_with_the_reason(sql: str, reason: str, dialect: Dialect) -> None:
    with pytest.raises(QueryError) as caught:
        read_query(sql, dialect)
    assert reason in str(caught.value)


def test_the_refusal_of_several_says_what_may_stand_before_one() -> None:
    with pytest.raises(QueryError, match="only SET of search_path or time zone may stand before one"):
        read_query("SELECT 1; SELECT 2", "postgres")


def test_sqlite_has_no_settings() -> None:
    with pytest.raises(QueryError, match="2 statements; only one is run"):
        read_query("SET search_path = shop; SELECT 1", "sqlite")


@pytest.mark.parametrize("part", ["'", "/*", '"', "$a$", "E'\\", "(", "--", "$", "[", "`"])
def test_hostile_text_takes_no_time(part: str) -> None:
    began = time.process_time()
    for text in (part * (200_000 // len(part)), " ".join(f"{part}{number}$" for number in range(30_000))):
        split(text, "postgres")
        split(text, "sqlite")
    assert time.process_time() - began < 10
