"""What is the JSON Schema of records? ``python -m reeval.record.format.json_schema`` prints it.

It comes from the types that write and read records; the words are their docstrings.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
from typing import Any

import msgspec

from reeval.schema.record import (
    SCHEMA_VERSION,
    AttemptRecord,
    RunEnd,
    RunRecord,
    RunStart,
    Superseded,
)
from reeval.schema.recorded.answers import AnswerRecord, PairRecord

__all__ = ["record_schema", "schema_text"]

_REF = "#/$defs/{name}"
_LINES = (RunStart, AttemptRecord, AnswerRecord, PairRecord, Superseded, RunEnd)


def record_schema() -> dict[str, Any]:
    """Return the schema of ``record.json`` and of the lines of ``events.ndjson``."""
    _, definitions = msgspec.json.schema_components((RunRecord, *_LINES), ref_template=_REF)
    for cls in _structs((RunRecord, *_LINES)):
        _describe(cls, definitions[cls.__name__])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Records of reeval, version {SCHEMA_VERSION}",
        "description": (
            "record.json is a RunRecord. Each line of events.ndjson is a RunStart, AttemptRecord, Superseded or "
            "RunEnd, told apart by type. Each line of a turns.ndjson is a Turn; a checks.json is a list of "
            "CheckRecord. A field that is left out has its default; unknown fields may come with later versions."
        ),
        "anyOf": [{"$ref": _REF.format(name=cls.__name__)} for cls in (RunRecord, *_LINES)],
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """Return the schema as the file that is committed."""
    return json.dumps(record_schema(), indent=2, ensure_ascii=False) + "\n"


def _structs(roots: tuple[type, ...]) -> list[type]:
    """Return every struct that is part of the roots."""
    found: dict[type, None] = {}
    waiting = [msgspec.inspect.type_info(root) for root in reversed(roots)]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, msgspec.inspect.StructType):
            if kind.cls in found:
                continue
            found[kind.cls] = None
        waiting += reversed(_parts(kind))
    return list(found)


def _parts(kind: msgspec.inspect.Type) -> list[msgspec.inspect.Type]:
    """Return the types that a type is made of."""
    match kind:
        case msgspec.inspect.StructType():
            return [field.type for field in kind.fields]
        case msgspec.inspect.UnionType():
            return list(kind.types)
        case msgspec.inspect.ListType() | msgspec.inspect.VarTupleType():
            return [kind.item_type]
        case msgspec.inspect.DictType():
            return [kind.value_type]
        case msgspec.inspect.TupleType():
            return list(kind.item_types)
        case _:
            return []


def _describe(cls: type, schema: dict[str, Any]) -> None:
    """Put the docstring below each field beside its type."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(body, ast.ClassDef)
    for field, words in zip(body.body, body.body[1:], strict=False):
        name = field.target.id if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) else ""
        text = words.value.value if isinstance(words, ast.Expr) and isinstance(words.value, ast.Constant) else None
        if isinstance(text, str) and name in schema["properties"]:
            schema["properties"][name]["description"] = inspect.cleandoc(text)


if __name__ == "__main__":
    sys.stdout.write(schema_text())
