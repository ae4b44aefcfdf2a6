"""Which certified queries are there? A name in a space stands for SQL that is known to be right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reeval.declare.data.documents import Source, Table, read_source
from reeval.errors import did_you_mean
from reeval.schema.data.questions import AUTO_SPACE

__all__ = ["Certified", "read_certified"]

_FOLDERS = ("certified_queries", "certified-queries", "queries")
_CONFIGS = ("config.yml", "config.yaml")
_KEYS = ("name", "description", "user_request", "sql_query", "space", "kind")
_KINDS = frozenset({"certified_query", "certified-query", "certifiedQuery"})
_FRONT = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCED = re.compile(r"```[^\n`]*\n(.*?)\n?```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Query:
    name: str
    space: str
    sql: str
    place: str


class Certified:
    """The certified queries of a project, by space and name."""

    def __init__(self) -> None:
        self._queries: dict[tuple[str, str], _Query] = {}
        self.spaces: dict[str, None] = {}
        """Those that ``config.yml`` declares; empty: it declares none, and any may be used."""
        self.problems: list[str] = []

    def sql(self, space: str, name: str) -> str | None:
        """Return the SQL of a query; None when it is not there."""
        query = self._queries.get((space, name))
        return query.sql if query else None

    def missing(self, space: str, name: str) -> str:
        """Say of a query that is not there where else it is, or which was meant."""
        inside = [known for where, known in self._queries if where == space]
        elsewhere = sorted(where for where, known in self._queries if known == name)
        told = f"names the certified query {name!r}, which is not in the space {space!r}"
        if elsewhere:
            return f"{told} but in {', '.join(map(repr, elsewhere))}"
        return f"{told}{did_you_mean(name, inside) if inside else '; the space has none'}"

    def enter(self, query: _Query) -> None:
        """Add a query, whose name is new in its space."""
        other = self._queries.setdefault((query.space, query.name), query)
        if other is not query:
            told = f"the certified query {query.name!r} of the space {query.space!r} is also in {other.place}"
            self.problems.append(f"{query.place}: {told}; rename one of them")


def read_certified(root: Path, folder: str) -> Certified:
    """Read the Markdown files and the config below ``folder``; every problem is in the result."""
    found = Certified()
    for name in _CONFIGS:
        if (root / folder / name).is_file():
            source = read_source(root, f"{folder}/{name}")
            for query in _inline(source, found.spaces):
                found.enter(query)
            found.problems += source.problems
    for directory in _FOLDERS:
        for file, space in _files(root, f"{folder}/{directory}"):
            source = read_source(root, file)
            if not source.problems and (document := _markdown(source, space)):
                found.enter(document)
            found.problems += source.problems
    return found


def _files(root: Path, directory: str) -> Iterator[tuple[str, str | None]]:
    """Yield each Markdown file with the space that its folder names."""
    for path in sorted((root / directory).rglob("*.md")):
        relative = path.relative_to(root / directory)
        if path.is_file() and not any(part.startswith(".") for part in relative.parts):
            yield f"{directory}/{relative.as_posix()}", relative.parts[0] if len(relative.parts) > 1 else None


# --- Markdown -----------------------------------------------------------------------------------------


def _markdown(source: Source, folder: str | None) -> _Query | None:
    """Read the front matter, and the SQL in it or below it; None, with a problem, when there is none."""
    front = _FRONT.match(source.text)
    if front is None:
        source.add(1, "there is no front matter; begin with '---', 'user_request: …' and '---', then the SQL")
        return None
    table = source.document(f"\n{front[1]}")  # the dashes are a line
    if table is None:
        if not source.problems:
            source.add(1, "the front matter is empty; it needs user_request")
        return None
    table.name = "certified query"
    table.hold_to(_KEYS)
    name = table.text("name", one_line=True) or PurePosixPath(source.path).stem
    space = table.text("space", one_line=True)
    _check_kind(table)
    table.needed("user_request")
    if folder and space and space != folder:
        table.wrong("space", f"says space {space!r}, and its folder {folder!r}; drop one of them")
    sql = table.text("sql_query") if "sql_query" in table else _body(source, front.end())
    if sql is None or source.problems:
        return None
    return _Query(name, space or folder or AUTO_SPACE, sql, f"{source.path}:1")


def _check_kind(table: Table) -> None:
    kind = table.text("kind", one_line=True)
    if kind is not None and kind not in _KINDS:
        table.wrong("kind", f"is of the kind {kind!r}; this folder holds certified queries, so move it")


def _body(source: Source, start: int) -> str | None:
    """Return the SQL below the front matter, without HTML comments and without the fence around it."""
    line = source.text.count("\n", 0, start) + 1
    sql = _COMMENT.sub("", source.text[start:]).strip()
    if "<!--" in sql:
        source.add(line, "a comment ('<!--') is not closed; end it with '-->'")
        return None
    if fenced := _FENCED.fullmatch(sql):
        sql = fenced[1].strip()
    if not sql:
        source.add(line, "certified query has no SQL; write it below the front matter, or as sql_query")
        return None
    return sql


# --- in config.yml ------------------------------------------------------------------------------------


def _inline(source: Source, spaces: dict[str, None]) -> Iterator[_Query]:
    """Yield the queries of an agent config, which holds much that is none of reeval's business."""
    document = source.document()
    if document is None:
        return
    if "spaces" not in document:
        yield from _queries(document, None)
        return
    if "certified_queries" in document:
        document.wrong("certified_queries", "has certified_queries beside spaces; move them into one of the spaces")
    for table in document.tables("spaces", "space"):
        if name := table.needed("name", one_line=True):
            spaces[name] = None
            yield from _queries(table, name)


def _queries(above: Table, inside: str | None) -> Iterator[_Query]:
    for table in above.tables("certified_queries", "certified query"):
        name = table.needed("name", one_line=True)
        if name:
            table.name = f"certified query {name!r}"
        table.hold_to(_KEYS)
        table.needed("user_request")
        sql = table.needed("sql_query")
        space = table.text("space", one_line=True)
        if inside and space and space != inside:
            table.wrong("space", f"says space {space!r}, and stands in that of {inside!r}; drop one of them")
        if name and sql:
            yield _Query(name, inside or space or AUTO_SPACE, sql, f"{table.source.path}:{table.line}")
