"""How does a record lose its secrets, and what JSON cannot hold, without losing its form?

The values are rewritten one by one, before they are encoded: a secret that happens to be ``pass`` or a number must not
break a word of the format or a timestamp. What names things (ids, paths of the author's own files, digests) stays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import msgspec
from msgspec import inspect

from reeval.schema.environment import Environment, Secret
from reeval.schema.plan import Plan, PlannedCell, PlannedCompare, PlannedEval, PlannedHarness, PlannedSandbox
from reeval.schema.record import (
    AttemptEntry,
    AttemptRecord,
    CellRecord,
    EvalRecord,
    FileRef,
    JournalLine,
    RunRecord,
    RunStart,
    Superseded,
)
from reeval.schema.recorded.answers import AnswerRecord, JudgmentRecord, PairRecord, QuestionRecord, SideTally
from reeval.schema.recorded.data import DataRecord
from reeval.schema.recorded.gates import AccuracyRecord
from reeval.schema.recorded.lifts import LiftRecord

__all__ = ["rewrite_line", "rewrite_record", "without_surrogates"]

Line = TypeVar("Line", bound=JournalLine)
Text = Callable[[str], str]

_NAMES: dict[type, frozenset[str]] = {
    AccuracyRecord: frozenset({"key", "harness", "environment", "sandbox"}),
    AnswerRecord: frozenset({"eval", "attempt", "model", "served"}),
    AttemptEntry: frozenset({"attempt"}),
    AttemptRecord: frozenset({"eval", "attempt", "harness", "sandbox", "environment", "case", "task", "subject"}),
    CellRecord: frozenset({"key", "harness", "environment", "sandbox", "subject"}),
    Environment: frozenset({"name"}),
    DataRecord: frozenset({"space", "question", "certified_query"}),
    EvalRecord: frozenset({"id", "file", "path", "slug", "cases", "task"}),
    FileRef: frozenset({"file", "sha256"}),
    JudgmentRecord: frozenset({"model", "served"}),
    LiftRecord: frozenset({"variant", "control", "harness", "sandbox"}),
    PairRecord: frozenset({"eval", "left", "right", "left_value", "right_value", "model", "served"}),
    Plan: frozenset(),
    PlannedCell: frozenset({"key", "harness", "environment", "sandbox"}),
    PlannedCompare: frozenset({"control", "variants"}),
    PlannedEval: frozenset({"id", "file", "path", "slug", "cases", "task"}),
    PlannedHarness: frozenset({"id", "kind"}),
    PlannedSandbox: frozenset({"id", "kind"}),
    QuestionRecord: frozenset({"model"}),
    RunRecord: frozenset({"run_id", "project", "git_commit"}),
    RunStart: frozenset({"run_id", "project", "git_commit", "plan"}),
    Secret: frozenset({"name"}),
    SideTally: frozenset({"value"}),
    Superseded: frozenset({"eval"}),
}
_DEEPEST = 100
"""Levels of a value that an agent made up; deeper ones are left out, since encoders recurse."""
_LARGEST = 2**63


def rewrite_line(line: Line, text: Text) -> Line:
    """Return a line of the journal with ``text`` applied to every free text in it.

    Returns the same object when nothing changed.
    """
    if isinstance(line, RunStart):
        return cast("Line", msgspec.structs.replace(_typed(line, text), plan=_plan(line.plan, text)))
    return cast("Line", _typed(line, text))


def rewrite_record(record: RunRecord, text: Text) -> RunRecord:
    """Return a record with ``text`` applied to every free text in it, such as for secrets that came later."""
    return cast("RunRecord", _typed(record, text))


def _plan(plan: dict[str, Any], text: Text) -> dict[str, Any]:
    try:
        typed = _typed(msgspec.convert(plan, Plan), text)
    except msgspec.ValidationError:
        return cast("dict[str, Any]", _anything(plan, text, 0))
    return cast("dict[str, Any]", msgspec.to_builtins(typed))


def without_surrogates(text: str) -> str:
    """Return text that UTF-8 can hold: a byte that was no UTF-8 becomes ``?``."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _typed(value: Any, text: Text) -> Any:
    if type(value) is str:
        return text(value)
    if isinstance(value, msgspec.Struct) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return _fields(value, text)
    if isinstance(value, list | tuple):
        items = [_typed(item, text) for item in value]
        changed = any(new is not old for new, old in zip(items, value, strict=True))
        return type(value)(items) if changed else value
    if isinstance(value, dict):
        mapped = {key: _typed(item, text) for key, item in value.items()}
        return mapped if any(mapped[key] is not value[key] for key in value) else value
    return value


def _fields(value: Any, text: Text) -> Any:
    changes = {}
    for name, anything in _free(value.__class__):
        old = getattr(value, name)
        new = _anything(old, text, 0) if anything else _typed(old, text)
        if new is not old and new != old:
            changes[name] = new
    if not changes:
        return value
    is_struct = isinstance(value, msgspec.Struct)
    return msgspec.structs.replace(value, **changes) if is_struct else dataclasses.replace(value, **changes)


def _anything(value: Any, text: Text, depth: int) -> Any:
    """Rewrite data whose form nobody declared: keys and numbers can hold a secret, too."""
    if depth > _DEEPEST:
        return "… nested too deeply"
    if isinstance(value, dict):
        return {text(str(key)): _anything(item, text, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_anything(item, text, depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return value
    shown = text(str(value))
    is_number = isinstance(value, int | float) and abs(value) < _LARGEST
    return value if is_number and shown == str(value) else shown


@cache
def _free(cls: type) -> tuple[tuple[str, bool], ...]:
    """Name the fields that can hold free text, and say which of them hold data of any form."""
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType | inspect.DataclassType)
    kept = _NAMES.get(cls, frozenset())
    return tuple(
        (field.name, _is_anything(field.type))
        for field in info.fields
        if field.name not in kept and _holds_text(field.type)
    )


def _is_anything(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.DictType):
        return isinstance(kind.value_type, inspect.AnyType)
    if isinstance(kind, inspect.VarTupleType):
        return _is_anything(kind.item_type)
    if isinstance(kind, inspect.TupleType):
        return any(map(_is_anything, kind.item_types))
    return isinstance(kind, inspect.AnyType)


def _holds_text(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.UnionType):
        return any(map(_holds_text, kind.types))
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        return _holds_text(kind.item_type)
    closed = inspect.LiteralType | inspect.EnumType | inspect.IntType | inspect.FloatType | inspect.BoolType
    return not isinstance(kind, closed | inspect.NoneType)
