"""Which other queries tell whether a ground truth is at fault? Pure: SQL in, SQL out, nothing is run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["LimitProbe", "distinct_count", "limit_probe", "turned_around"]

_LONGEST = 100_000
"""Characters of SQL that are parsed."""
_KEY = "reeval_key_"


@dataclass(frozen=True, kw_only=True)
class LimitProbe:
    """The query with room for one more row than its LIMIT keeps."""

    sql: str
    limit: int
    keys: tuple[int | str, ...] = ()
    """Where the result of ``sql`` has what it is ordered by: positions (negative: from the end) or names of columns;
    empty: it is not ordered."""
    added: int = 0
    """Columns at the end that only hold keys."""


def limit_probe(sql: str, dialect: str) -> LimitProbe | None:
    """Return the probe of a query that ends in a LIMIT; None when it has none, or cannot be read."""
    from sqlglot import exp

    parsed = _parsed(sql, dialect)
    if parsed is None:
        return None
    query = parsed.query
    count = _count(query)
    if count is None:
        return None
    order = query.args.get("order")
    keys: list[int | str] = []
    added: list[Any] = []
    for ordered in order.expressions if order else ():
        found = _position(ordered.this, query)
        if found is None:
            if not isinstance(query, exp.Select) or query.args.get("distinct"):
                return None
            added.append(ordered.this.copy())
            found = f"{_KEY}{len(added)}"
        keys.append(found)
    probe = query.copy()
    for number, key in enumerate(added, 1):
        probe = probe.select(exp.alias_(key, f"{_KEY}{number}"), copy=False)
    probe.set("fetch", None)
    probe = probe.limit(count + 1, copy=False)
    return LimitProbe(sql=parsed.written(probe), limit=count, keys=tuple(keys), added=len(added))


def turned_around(sql: str, dialect: str) -> str | None:
    """Return the query over tables whose rows come in the opposite order; None when it reads none, or cannot be read.

    A random order would say something else each time.
    """
    from sqlglot import exp

    parsed = _parsed(sql, dialect)
    if parsed is None:
        return None
    query = parsed.query.copy()
    defined = {cte.alias_or_name.lower() for cte in query.find_all(exp.CTE)}
    tables = [table for table in query.find_all(exp.Table) if _is_stored(table, defined)]
    for table in tables:
        name = table.alias_or_name
        stored = table.copy()
        stored.set("alias", None)
        stored.set("joins", None)
        number = exp.Window(this=exp.RowNumber())
        order = exp.Order(expressions=[exp.Ordered(this=number, desc=True)])
        inside = exp.Select(expressions=[exp.Star()]).from_(stored)
        inside.set("order", order)
        replaced = inside.subquery(name)
        replaced.set("joins", table.args.get("joins"))
        table.replace(replaced)
    return parsed.written(query) if tables else None


def distinct_count(sql: str, dialect: str) -> str | None:
    """Return a query for how many different rows a query has; None when it cannot be read."""
    parsed = _parsed(sql, dialect)
    if parsed is None:
        return None
    # What is inside was parsed as one query.
    return f"{parsed.settings}SELECT COUNT(*) FROM (SELECT DISTINCT * FROM ({parsed.plain()}) AS q) AS d"  # noqa: S608 - the database takes it as untrusted, as the rest


@dataclass(frozen=True)
class _Parsed:
    query: exp.Query
    settings: str
    dialect: str

    def written(self, query: exp.Query) -> str:
        """Return the whole text with another query at its end."""
        return f"{self.settings}{query.sql(dialect=self.dialect)}"

    def plain(self) -> str:
        """Return the query alone."""
        return self.query.sql(dialect=self.dialect)


def _parsed(sql: str, dialect: str) -> _Parsed | None:
    """Parse SQL whose last statement is a query."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    if len(sql) > _LONGEST:
        return None
    try:
        statements = [one for one in sqlglot.parse(sql, dialect=dialect) if one is not None]
    except (SqlglotError, RecursionError):
        return None
    if not statements or not isinstance(statements[-1], exp.Query):
        return None
    settings = "".join(f"{one.sql(dialect=dialect)}; " for one in statements[:-1])
    return _Parsed(statements[-1], settings, dialect)


def _count(query: exp.Query) -> int | None:
    """Return how many rows a LIMIT or FETCH FIRST keeps."""
    from sqlglot import exp

    limit = query.args.get("limit")
    if isinstance(limit, exp.Fetch):
        count: Any = limit.args.get("count")
        options = limit.args.get("limit_options")
        if options is not None and (options.args.get("with_ties") or options.args.get("percent")):
            return None
    else:
        count = limit.expression if limit is not None else None
    return int(count.this) if isinstance(count, exp.Literal) and count.is_int else None


def _position(key: Any, query: exp.Query) -> int | str | None:
    """Return where the result has a key: its position, or the name of its column; None: nowhere that can be told."""
    from sqlglot import exp

    if isinstance(key, exp.Literal):
        return int(key.this) - 1 if key.is_int else None
    names = [name.lower() for name in query.named_selects]
    if isinstance(key, exp.Column) and not key.table and key.name.lower() in names:
        return key.name
    for position, selected in enumerate(_plain_selects(query)):
        if selected == key:
            return position
    return None


def _plain_selects(query: exp.Query) -> Iterator[Any]:
    """Yield what each column is made of, up to the first ``*``: after it positions are not known."""
    from sqlglot import exp

    for selected in query.selects:
        if isinstance(selected, exp.Star) or selected.is_star:
            return
        yield selected.unalias()


def _is_stored(table: exp.Table, defined: set[str]) -> bool:
    from sqlglot import exp

    return isinstance(table.this, exp.Identifier) and (bool(table.db) or table.name.lower() not in defined)
