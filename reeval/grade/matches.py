"""What can be expected of a value? The matches that settle as matched or mismatched."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any

from reeval.authoring import Match
from reeval.errors import UsageError
from reeval.grade.observing.display import clip, contrast, listing, show, squeeze
from reeval.grade.observing.expectation import (
    MATCHED,
    Expectation,
    compiled,
    errored,
    finite_argument,
    matched,
    mismatched,
    refuse,
    text_argument,
    unavailable,
    words_argument,
)
from reeval.grade.observing.logic import every, some
from reeval.grade.observing.observe import is_match, observe
from reeval.grade.observing.shape import Predicate, ask, check_shape, has_shape, same
from reeval.schema.observation import CheckStatus, Observation
from reeval.schema.transcript import CommandResult

__all__ = [
    "all_of",
    "any_of",
    "at_least",
    "at_most",
    "command_succeeded",
    "equals",
    "excludes",
    "greater_than",
    "includes",
    "is_defined",
    "is_true",
    "json_matches",
    "less_than",
    "not_",
    "pattern",
    "satisfies",
    "validates",
]

_TAIL_LINES = 8
_PROBLEMS = 5


# --- text ---------------------------------------------------------------------------------------------


def includes(text: str) -> Match:
    """Match a text that has ``text`` in it, case-sensitive; what is not a text is mismatched."""
    text_argument("includes", text)

    def look(value: object) -> Observation:
        if isinstance(value, str) and text in value:
            return MATCHED
        return mismatched(f"expected a text that includes {show(text)}\ngot {show(value, 480)}")

    return Expectation("includes", show(text, 80), look)


def excludes(text: str) -> Match:
    """Match a text that does not have ``text`` in it; what is not a text is mismatched."""
    text_argument("excludes", text)

    def look(value: object) -> Observation:
        if not isinstance(value, str):
            return mismatched(f"expected a text without {show(text)}\ngot {show(value)}")
        at = value.find(text)
        if at < 0:
            return MATCHED
        around = value[max(at - 80, 0) : at + len(text[:240]) + 80]
        return mismatched(f"expected a text without {show(text)}\ngot it at character {at}: {show(around, 480)}")

    return Expectation("excludes", show(text, 80), look)


def pattern(regex: str | re.Pattern[str]) -> Match:
    """Match a text in which ``regex`` is found (``re.search``); what is not a text is mismatched."""
    wanted = compiled("pattern", regex)

    def look(value: object) -> Observation:
        if isinstance(value, str) and wanted.search(value):
            return MATCHED
        return mismatched(f"expected a text in which {show(wanted.pattern)} is found\ngot {show(value, 480)}")

    return Expectation("pattern", show(wanted.pattern, 80), look)


# --- any value ----------------------------------------------------------------------------------------


def equals(expected: object) -> Match:
    """Match a value that is equal, deeply; NaN equals NaN, and ``True`` does not equal 1."""

    def look(value: object) -> Observation:
        return MATCHED if same(expected, value) else mismatched(contrast(expected, value))

    return Expectation("equals", show(expected, 80), look)


def is_true() -> Match:
    """Match ``True`` and nothing else."""
    return Expectation(
        "is_true", "", lambda value: MATCHED if value is True else mismatched(f"expected True\ngot {show(value)}")
    )


def is_defined() -> Match:
    """Match anything but ``None``."""
    return Expectation(
        "is_defined", "", lambda value: mismatched("expected a value\ngot None") if value is None else MATCHED
    )


def satisfies(label: str, predicate: Predicate) -> Match:
    """Match what ``predicate`` says True of; anything but True or False makes the check an error."""
    name = words_argument("satisfies", label)
    if not callable(predicate):
        refuse("satisfies", f"the second argument is a function of the value, got {show(predicate, 80)}")
    return Expectation("satisfies", name, lambda value: ask(repr(name), predicate, value))


# --- numbers ------------------------------------------------------------------------------------------


def less_than(limit: float) -> Match:
    """Match a number below ``limit``; an unknown one (None, NaN, infinite) is unavailable."""
    return _compared("less_than", "below", limit, lambda value, bound: value < bound)


def at_most(limit: float) -> Match:
    """Match a number of at most ``limit``; an unknown one (None, NaN, infinite) is unavailable."""
    return _compared("at_most", "of at most", limit, lambda value, bound: value <= bound)


def greater_than(limit: float) -> Match:
    """Match a number above ``limit``; an unknown one (None, NaN, infinite) is unavailable."""
    return _compared("greater_than", "above", limit, lambda value, bound: value > bound)


def at_least(limit: float) -> Match:
    """Match a number of at least ``limit``; an unknown one (None, NaN, infinite) is unavailable."""
    return _compared("at_least", "of at least", limit, lambda value, bound: value >= bound)


def _compared(name: str, words: str, limit: float, holds: Callable[[Any, float], bool]) -> Match:
    bound = finite_argument(name, limit)

    def look(value: object) -> Observation:
        if value is None:
            return unavailable("the value is unknown: None")
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return mismatched(f"expected a number {words} {bound}\ngot {show(value)}")
        if not isinstance(value, int) and not math.isfinite(value):
            return unavailable(f"the value is not a finite number: {value!r}")
        return MATCHED if holds(value, bound) else mismatched(f"expected a number {words} {bound}\ngot {show(value)}")

    return Expectation(name, str(bound), look)


# --- data ---------------------------------------------------------------------------------------------


def json_matches(shape: Any) -> Match:
    """Match JSON text or data of this shape.

    An object needs at least the given keys, an array exactly the given items. A leaf is a value, a compiled
    pattern (found in a text), a match, or a predicate. A compiled pattern alone looks at the whole JSON text.
    """
    check_shape("json_matches", shape)
    return Expectation("json_matches", show(shape, 80), lambda value: _json_observation(shape, value))


def _json_observation(shape: Any, value: object) -> Observation:
    if isinstance(shape, re.Pattern):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        found = shape.search(text)
        return MATCHED if found else mismatched(f"expected JSON in which {show(shape)} is found\ngot {show(text, 480)}")
    if not isinstance(value, str | bytes):
        return has_shape(shape, value)
    try:
        data = json.loads(value)
    except (ValueError, RecursionError) as error:  # too deeply nested is the text's fault as well
        return mismatched(f"expected JSON\ngot {show(value)}: {clip(str(error), 120)}")
    return has_shape(shape, data)


def validates(schema: Any) -> Match:
    """Match JSON text or data that a pydantic model (or any class that pydantic knows), or a JSON Schema, accepts."""
    if isinstance(schema, Mapping):
        return Expectation("validates", "a JSON Schema", _schema_validator(schema))
    if not isinstance(schema, type):
        refuse("validates", f"takes a pydantic model or a JSON Schema, got {show(schema, 80)}")
    return Expectation("validates", schema.__name__, _type_validator(schema))


def _type_validator(schema: type) -> Callable[[object], Observation]:
    from pydantic import PydanticUserError, TypeAdapter, ValidationError

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(schema)
    except PydanticUserError as error:
        refuse("validates", f"pydantic cannot use {schema.__name__}: {clip(str(error), 240)}")

    def look(value: object) -> Observation:
        try:
            adapter.validate_json(value) if isinstance(value, str | bytes) else adapter.validate_python(value)
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False, include_input=False)
            problems = [f"{_path(one['loc'])}: {one['msg']}" for one in found[:_PROBLEMS]]
            return _invalid(schema.__name__, problems, len(found), value)
        return MATCHED

    return look


def _schema_validator(schema: Mapping[str, Any]) -> Callable[[object], Observation]:
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry

    rules = dict(schema)
    kind = validator_for(rules)
    try:
        kind.check_schema(rules)
    except SchemaError as error:
        raise UsageError(f"validates: this is not a JSON Schema: {clip(error.message, 240)}") from error
    validator = kind(rules, registry=Registry())  # an empty one: a reference never leads to the network

    def look(value: object) -> Observation:
        try:
            data: Any = json.loads(value) if isinstance(value, str | bytes) else value
        except (ValueError, RecursionError) as error:
            return mismatched(f"expected JSON\ngot {show(value)}: {clip(str(error), 120)}")
        found = list(islice(validator.iter_errors(data), _PROBLEMS + 1))
        problems = [f"{_path(one.absolute_path)}: {one.message}" for one in found[:_PROBLEMS]]
        return _invalid("the JSON Schema", problems, len(found), data) if found else MATCHED

    return look


def _path(parts: Any) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def _invalid(name: str, problems: list[str], total: int, value: object) -> Observation:
    shown = [clip(problem, 140) for problem in problems]
    more = ["- and more"] if total > len(problems) else []
    return mismatched(
        "\n".join([f"expected data that {name} accepts", *(f"- {one}" for one in shown), *more, f"got {show(value)}"])
    )


# --- commands -----------------------------------------------------------------------------------------


def command_succeeded() -> Match:
    """Match the result of a command that exited with 0."""

    def look(value: object) -> Observation:
        if not isinstance(value, CommandResult):
            return errored(f"command_succeeded takes what c.exec returns, got {show(value, 120)}")
        if value.ok:
            return matched(f"passed on try {value.tries} of {value.allowed}" if value.tries > 1 else "")
        tries = f" on each of {value.tries} tries" if value.tries > 1 else ""
        outputs = [_tail("stderr", value.stderr), _tail("stdout", value.stdout)]
        head = f"expected exit code 0 of {squeeze(value.command, 160)}\ngot {_exit(value.exit_code)}{tries}"
        return mismatched("\n".join([head, *filter(None, outputs)]))

    return Expectation("command_succeeded", "", look)


def _exit(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"ended by signal {-code}"


def _tail(name: str, text: str) -> str:
    lines = text[-2000:].rstrip().splitlines()[-_TAIL_LINES:]
    return f"{name}: " + "\n".join(lines)[-340:] if lines else ""


# --- combined -----------------------------------------------------------------------------------------


def all_of(*matches: Match) -> Match:
    """Match what every one matches. One mismatch decides, whatever the others could not tell."""
    members = _members("all_of", matches)
    return Expectation("all_of", _argument(members), lambda value: every([observe(one, value) for one in members]))


def any_of(*matches: Match) -> Match:
    """Match what at least one matches. One match decides, whatever the others could not tell."""
    members = _members("any_of", matches)
    return Expectation("any_of", _argument(members), lambda value: some([observe(one, value) for one in members]))


def not_(match: Match) -> Match:
    """Match what ``match`` does not; what it cannot tell stays unavailable."""
    (member,) = _members("not_", (match,))

    def look(value: object) -> Observation:
        seen = observe(member, value)
        if seen.status == CheckStatus.MATCHED:
            return mismatched(f"expected not {_argument((member,))}\n{seen.message or f'got {show(value, 480)}'}")
        return MATCHED if seen.status == CheckStatus.MISMATCHED else seen

    return Expectation("not_", _argument((member,)), look)


def _members(call: str, matches: tuple[Match, ...]) -> tuple[Match, ...]:
    if not matches:
        refuse(call, "takes at least one match")
    for one in matches:
        if not is_match(one):
            refuse(call, f"takes matches, got {show(one, 80)}; did you mean equals({show(one, 40)})?")
        if one.measures:
            refuse(call, f"{one.name} measures and has no truth of its own; check it alone, with .gate(minimum)")
    return matches


def _argument(matches: tuple[Match, ...]) -> str:
    return listing((f"{one.name} {one.argument}".strip() for one in matches), len(matches))
