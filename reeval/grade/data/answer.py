"""Which SQL is the agent's answer? What it says it ran, else a field of its message, else the last block of it."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator

from reeval.schema.transcript import Turn

__all__ = ["answer_sql"]

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*([\w+.#-]*)")
_LANGUAGES = frozenset(
    {"sql", "duckdb", "sqlite", "sqlite3", "postgres", "postgresql", "pgsql", "psql", "mysql", "bigquery", "snowflake"}
)
_STATEMENT = re.compile(
    r"\s*(?:(?:--[^\n]*\n|/\*.*?\*/)\s*)*\(*\s*(?:select|with|from|values|table)\b", re.IGNORECASE | re.DOTALL
)
"""How the SQL of a block begins that does not say its language."""


def answer_sql(turn: Turn) -> str | None:
    """Return the query that answers; None when the agent ran none that could be found."""
    for found in (turn.sql, _field(turn.message), _last_block(turn.message)):
        if found is not None and found.strip():
            return found.strip()
    return None


def _field(message: str) -> str | None:
    """Return the ``sql`` of a message that is a JSON object."""
    text = message.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = data.get("sql")
    return found if isinstance(found, str) else None


def _last_block(message: str) -> str | None:
    found = deque((text for language, text in _blocks(message) if _is_sql(language, text)), maxlen=1)
    return found[0] if found else None


def _is_sql(language: str, text: str) -> bool:
    return bool(text.strip()) and (language in _LANGUAGES or (not language and _STATEMENT.match(text) is not None))


def _blocks(message: str) -> Iterator[tuple[str, str]]:
    """Yield the language and the text of each fenced block; one that is never closed ends with the message."""
    fence, language, lines = "", "", list[str]()
    for line in message.split("\n"):
        mark = _FENCE.match(line)
        if not fence:
            if mark is not None:
                fence, language, lines = mark[1], mark[2].lower(), []
        elif mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip() and not mark[2]:
            yield language, "\n".join(lines)
            fence = ""
        else:
            lines.append(line.removesuffix("\r"))
    if fence:
        yield language, "\n".join(lines)
