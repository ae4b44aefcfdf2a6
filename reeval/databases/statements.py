"""What does a text of SQL hold? Its statements, and whether they are one query after nothing but harmless settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from reeval.backends import QueryError

__all__ = [
    "QUERIES",
    "WRITES",
    "Query",
    "Statement",
    "check_text",
    "no_query",
    "one_query",
    "read_query",
    "refusal",
    "split",
]

Dialect = Literal["postgres", "sqlite"]
StatementT = TypeVar("StatementT")

_LONGEST = 1_000_000
QUERIES = frozenset({"select", "with", "values", "table", "explain", "show", "("})
"""First words of what only reads. ``SHOW`` names a setting, or in a semantic layer its tables."""
# fmt: off
WRITES = frozenset((
    "alter", "analyze", "attach", "begin", "call", "checkpoint", "cluster", "comment", "commit", "copy",
    "create", "deallocate", "delete", "detach", "discard", "do", "drop", "end", "execute", "export",
    "force", "grant", "import", "insert", "install", "load", "lock", "merge", "pragma", "prepare",
    "refresh", "reindex", "release", "replace", "reset", "revoke", "rollback", "savepoint", "set", "start",
    "truncate", "update", "upsert", "use", "vacuum",
))
# fmt: on
"""First words of SQL that is no query: what begins with something else is not SQL."""
_SETTINGS = frozenset({"search_path", "schema", "timezone", "time"})
"""What may be set before the query: how it reads names and shows times (``SET TIME ZONE``), nothing of its limits."""

# What is never closed goes to the end of the text, for the database to complain about: each character is read once.
_BACKSLASHES = r"\b[eE]'(?:[^'\\]++|\\.|'')*+(?:'|\Z)"
_DOLLARS = r"\$(?P<tag>[A-Za-z_]\w*+)?\$.*?(?:\$(?(tag)(?P=tag))\$|\Z)"
_BRACKETS = r"\[[^\]]*+(?:\]|\Z)|`(?:[^`]++|``)*+(?:`|\Z)"
_COMMON = r"""
    (?P<blank>\s++|--[^\n]*+)
  | (?P<comment>/\*)
  | (?P<text>{strings} '(?:[^']++|'')*+(?:'|\Z))
  | (?P<name>{names} "(?:[^"]++|"")*+(?:"|\Z))
  | (?P<word>[A-Za-z_][\w$]*+)
  | (?P<end>;)
  | (?P<other>.)
"""
_TOKENS = {
    "postgres": re.compile(_COMMON.format(strings=f"{_BACKSLASHES} | {_DOLLARS} |", names=""), re.VERBOSE | re.DOTALL),
    "sqlite": re.compile(_COMMON.format(strings="", names=f"{_BRACKETS} |"), re.VERBOSE | re.DOTALL),
}


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement, without the semicolon."""

    text: str
    words: tuple[str, ...]
    """Its words and quoted names in order, lower case; an opening parenthesis at the start is a word too."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """What to run."""

    settings: tuple[str, ...]
    """Statements to run first."""
    statement: Statement


def split(sql: str, dialect: Dialect) -> list[Statement]:
    """Split SQL at the semicolons that end statements, whatever is wrong with it; empty statements are left out."""
    found: list[Statement] = []
    start, words = 0, list[str]()
    for kind, begin, end in _tokens(sql, dialect):
        if kind == "end":
            found += _statement(sql[start:begin], words)
            start, words = end, []
        elif kind in {"word", "name"}:
            words.append(sql[begin:end].strip('"`[]').lower())
        elif kind != "blank" and not words:
            words.append("(" if sql[begin:end] == "(" else "")
    return [*found, *_statement(sql[start:], words)]


def read_query(sql: str, dialect: Dialect) -> Query:
    """Return the one query of the text with the harmless settings before it; raise ``QueryError`` for all else."""
    check_text(sql)
    # SQLite has no settings: a query is not run without one that its text asks for.
    allowed = "SET of search_path or time zone" if dialect == "postgres" else None
    before, last = one_query(split(sql, dialect), _is_setting, allowed)
    first = last.words[0] if last.words else ""
    queries = QUERIES | {"pragma"} if dialect == "sqlite" else QUERIES
    if first in WRITES - queries:
        raise refusal(first.upper())
    if first not in queries:
        raise no_query(last.text)
    return Query(settings=tuple(one.text for one in before), statement=last)


def check_text(sql: str) -> None:
    """Raise ``QueryError`` for a text that no engine is given."""
    if len(sql) > _LONGEST:
        raise QueryError(f"the query is {len(sql):,} characters long; at most {_LONGEST:,} are run")
    if "\0" in sql:
        raise QueryError("the query holds a NUL character, which no SQL has")


def one_query(
    statements: Sequence[StatementT], is_harmless: Callable[[StatementT], bool], allowed: str | None
) -> tuple[Sequence[StatementT], StatementT]:
    """Return what may stand before a query, and it; raise ``QueryError`` for more or fewer.

    ``allowed`` says in words which settings are harmless; None: none is.
    """
    if not statements:
        raise QueryError("there is no query: the text holds nothing to run")
    *before, last = statements
    if not all(allowed and is_harmless(one) for one in before):
        rule = f"only {allowed} may stand before one" if allowed else "only one is run"
        raise QueryError(f"the text holds {len(statements)} statements; {rule}")
    if is_harmless(last):
        raise QueryError("the text only sets something and asks nothing")
    return before, last


def no_query(text: str) -> QueryError:
    """Return why a text is not run that begins as no SQL does."""
    line = " ".join(text[:200].split())
    return QueryError(f"the text is no query: it begins with {line if len(line) <= 40 else f'{line[:39]}…'!r}")


def refusal(what: str) -> QueryError:
    """Return why ``what`` is not run."""
    return QueryError(f"{what} is refused: the database is only read")


def _tokens(sql: str, dialect: Dialect) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of each token."""
    pattern, at = _TOKENS[dialect], 0
    while at < len(sql):
        token = pattern.match(sql, at)
        assert token is not None, "the last alternative takes any character"
        end, kind = token.end(), token.lastgroup or ""
        if kind == "comment":
            kind, end = "blank", _comment_end(sql, end, nests=dialect == "postgres")
        yield kind, at, end
        at = end


def _comment_end(sql: str, at: int, *, nests: bool) -> int:
    depth = 1
    for mark in re.finditer(r"/\*|\*/", sql[at:]):
        depth += -1 if mark[0] == "*/" else nests
        if not depth:
            return at + mark.end()
    return len(sql)


def _statement(text: str, words: list[str]) -> list[Statement]:
    return [Statement(text=text.strip(), words=tuple(words))] if words else []


def _is_setting(statement: Statement) -> bool:
    words = statement.words
    if words[:1] != ("set",):
        return False
    return next((word for word in words[1:] if word not in {"local", "session"}), "") in _SETTINGS
