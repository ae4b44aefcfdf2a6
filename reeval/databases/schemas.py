"""How does a person or a model read a schema? As the ``CREATE TABLE`` of each table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

__all__ = ["create_tables"]

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


def create_tables(columns: Iterable[tuple[str, str, str, str]], default: str) -> str:
    """Return the text for columns as (schema, table, column, type), those of a table together.

    Tables of the schema ``default`` are written without it.
    """
    blocks = []
    for (schema, table), rows in groupby(columns, key=lambda row: row[:2]):
        name = _name(table) if schema == default else f"{_name(schema)}.{_name(table)}"
        lines = ",\n".join(f"  {_name(column)} {kind}" for _, _, column, kind in rows)
        blocks.append(f"CREATE TABLE {name} (\n{lines}\n);")
    return "\n\n".join(blocks)


def _name(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else '"' + text.replace('"', '""') + '"'
