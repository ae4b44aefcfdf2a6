"""The matches on values: what they match, what they do not, what they refuse, and what they say."""

# ruff: noqa: FBT003 - values given by position are what is tested

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pydantic
import pytest

from reeval.authoring import Match
from reeval.errors import UsageError
from reeval.grade.matches import (
    all_of,
    any_of,
    at_least,
    at_most,
    command_succeeded,
    equals,
    excludes,
    greater_than,
    includes,
    is_defined,
    is_true,
    json_matches,
    less_than,
    not_,
    pattern,
    satisfies,
    validates,
)
from reeval.grade.measures import measures, similarity
from reeval.grade.observing.display import MESSAGE_LIMIT
from reeval.grade.observing.observe import observe
from reeval.schema.observation import Observation
from reeval.schema.transcript import CommandResult

NAN = float("nan")


class Greeting(pydantic.BaseModel):
    name: str
    times: int


@dataclass
class Point:
    x: int


SCHEMA = {"type": "object", "required": ["name"], "properties": {"times": {"type": "integer"}}}


def status(match: Match, value: object) -> str:
    return observe(match, value).status.value


MATCHED: list[tuple[Match, object]] = [
    (includes("greet"), "greet.js"),
    (excludes("greet"), ""),
    (excludes("Greet"), "greet.js"),
    (pattern("gr..t"), "a greet"),
    (pattern(re.compile("GREET", re.IGNORECASE)), "greet"),
    (equals(3), 3),
    (equals(3), 3.0),
    (equals(NAN), NAN),
    (equals({"a": [1, {"b": NAN}]}), {"a": [1, {"b": NAN}]}),
    (equals(Point(1)), Point(1)),
    (equals((1, 2)), (1, 2)),
    (equals(None), None),
    (is_true(), True),
    (is_defined(), ""),
    (is_defined(), 0),
    (less_than(3), 2.9),
    (at_most(3), 3),
    (greater_than(3), 10**400),
    (at_least(0.5), Decimal("0.5")),
    (json_matches({}), "{}"),
    (json_matches({"a": 1}), '{"a": 1, "b": 2}'),
    (json_matches({"a": 1}), {"a": 1.0}),
    (json_matches([1, {"b": "x"}]), [1, {"b": "x", "c": 0}]),
    (json_matches({"a": re.compile("^x")}), {"a": "xyz"}),
    (json_matches({"a": lambda n: n > 3}), {"a": 4}),
    (json_matches({"a": at_least(3)}), {"a": 3}),
    (json_matches(re.compile(r'"a": ?1')), '{"a": 1}'),
    (json_matches(re.compile(r'"a": ?1')), {"a": 1}),
    (json_matches(None), "null"),
    (json_matches("x"), b'"x"'),
    (validates(Greeting), '{"name": "Ada", "times": 2}'),
    (validates(Greeting), {"name": "Ada", "times": 2}),
    (validates(Greeting), Greeting(name="Ada", times=2)),
    (validates(Point), {"x": 1}),
    (validates(SCHEMA), '{"name": "Ada"}'),
    (validates(SCHEMA), {"name": "Ada", "times": 2}),
    (satisfies("is even", lambda n: n % 2 == 0), 4),
    (command_succeeded(), CommandResult(command="true", exit_code=0)),
    (all_of(includes("a"), excludes("b")), "a"),
    (any_of(includes("a"), includes("b")), "b"),
    (not_(includes("a")), "b"),
    (not_(not_(includes("a"))), "a"),
]

MISMATCHED: list[tuple[Match, object]] = [
    (includes("greet"), "Greet"),
    (includes("greet"), None),
    (includes("greet"), ["greet"]),
    (includes("greet"), b"greet"),
    (excludes("greet"), "greet"),
    (excludes("greet"), None),
    (pattern("^a"), "ba"),
    (pattern("1"), 1),
    (equals(1), True),
    (equals(True), 1),
    (equals(0), None),
    (equals([1, 2]), [1]),
    (equals([1]), (1,)),
    (equals({"a": 1}), {"a": 1, "b": 2}),
    (equals({"a": [True]}), {"a": [1]}),
    (equals("1"), 1),
    (is_true(), 1),
    (is_true(), "true"),
    (is_defined(), None),
    (less_than(3), 3),
    (at_most(3), 3.1),
    (greater_than(3), 3),
    (at_least(3), -(10**400)),
    (at_least(3), "4"),
    (at_least(0), True),
    (json_matches({"a": 1}), "{}"),
    (json_matches({"a": 1}), '{"a": true}'),
    (json_matches({"a": 1}), "not json"),
    (json_matches({"a": 1}), b"\xff"),
    (json_matches({"a": 1}), "[" * 100_000),
    (json_matches({"a": 1}), [1]),
    (json_matches([1]), [1, 2]),
    (json_matches([1]), {"0": 1}),
    (json_matches({"a": re.compile("x")}), {"a": 1}),
    (json_matches({"a": lambda n: n > 3}), {"a": 3}),
    (json_matches({"a": at_least(3)}), {"a": 2}),
    (json_matches(re.compile("b")), {"a": 1}),
    (validates(Greeting), '{"name": "Ada"}'),
    (validates(Greeting), "no json"),
    (validates(Greeting), None),
    (validates(SCHEMA), "[]"),
    (validates(SCHEMA), "no json"),
    (validates(SCHEMA), {"name": "Ada", "times": "2"}),
    (satisfies("is even", lambda n: n % 2 == 0), 3),
    (command_succeeded(), CommandResult(command="false", exit_code=1)),
    (command_succeeded(), CommandResult(command="sleep 9", exit_code=-9)),
    (all_of(includes("a"), includes("b")), "a"),
    (any_of(includes("a"), includes("b")), "c"),
    (not_(includes("a")), "a"),
]

UNAVAILABLE: list[tuple[Match, object]] = [
    (less_than(3), NAN),
    (at_most(3), math.inf),
    (at_least(3), -math.inf),
    (greater_than(3), None),
    (at_least(3), Decimal("NaN")),
    (not_(at_least(3)), NAN),
    (json_matches({"a": at_least(3)}), {"a": None}),
]


async def later(value: object) -> bool:
    return bool(value)


class Odd:
    """A value with which nothing works."""

    def __eq__(self, other: object) -> bool:
        raise OverflowError("not comparable")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise ZeroDivisionError("no repr")


ERRORED: list[tuple[Match, object]] = [
    (equals(3), Odd()),
    (satisfies("is even", lambda n: n % 2 == 0), "3"),
    (satisfies("is even", lambda n: n % 2), 3),
    (satisfies("is even", lambda n: None), 3),
    (satisfies("is later", later), 3),
    (command_succeeded(), 0),
    (command_succeeded(), "ok"),
    (json_matches({"a": lambda n: n > 3}), {"a": "x"}),
    (json_matches({"a": lambda n: 1}), {"a": "x"}),
    (json_matches({"a": lambda n: 1}), {"a": "x"}),
    (validates({"$ref": "https://example.com/schema.json"}), "{}"),
]


@pytest.mark.parametrize(("match", "value"), MATCHED)
def test_what_matches(match: Match, value: object) -> None:
    assert status(match, value) == "matched"


@pytest.mark.parametrize(("match", "value"), MISMATCHED)
def test_what_does_not_match_says_expected_and_got(match: Match, value: object) -> None:
    seen = observe(match, value)
    assert seen.status == "mismatched"
    assert "expected" in seen.message or "does not hold" in seen.message
    assert "got" in seen.message


@pytest.mark.parametrize(("match", "value"), UNAVAILABLE)
def test_what_is_unknown_is_unavailable(match: Match, value: object) -> None:
    seen = observe(match, value)
    assert (seen.status, bool(seen.message)) == ("unavailable", True)


@pytest.mark.parametrize(("match", "value"), ERRORED)
def test_what_cannot_be_evaluated_is_errored_with_its_reason(match: Match, value: object) -> None:
    seen = observe(match, value)
    assert (seen.status, bool(seen.message)) == ("errored", True)


@pytest.mark.parametrize(("match", "value"), [*MATCHED, *MISMATCHED, *UNAVAILABLE])
def test_a_match_gives_the_same_answer_twice(match: Match, value: object) -> None:
    assert observe(match, value) == observe(match, value)


REFUSED: list[tuple[str, Any]] = [
    ("includes: an empty text", lambda: includes("")),
    ("includes: takes a text, got 3", lambda: includes(3)),  # type: ignore[arg-type]
    ("excludes: an empty text", lambda: excludes("")),
    (r"pattern: '\(' is not a regular expression", lambda: pattern("(")),
    ("pattern: takes a pattern over text", lambda: pattern(re.compile(b"x"))),  # type: ignore[arg-type]
    ("less_than: takes a finite number, got nan", lambda: less_than(NAN)),
    ("at_most: takes a finite number, got inf", lambda: at_most(math.inf)),
    ("at_least: takes a finite number, got '3'", lambda: at_least("3")),  # type: ignore[arg-type]
    ("greater_than: takes a finite number, got True", lambda: greater_than(True)),
    ("greater_than: takes a finite number, got <an integer", lambda: greater_than(10**5000)),
    (r"json_matches: \$\.a\[1\]: takes JSON data", lambda: json_matches({"a": [1, {2}]})),
    ("json_matches: .*a key of JSON data is a text", lambda: json_matches({1: 2})),
    ("json_matches: .*pattern over text", lambda: json_matches({"a": re.compile(b"x")})),
    ("validates: takes a pydantic model", lambda: validates("Greeting")),
    ("validates: this is not a JSON Schema", lambda: validates({"type": "objekt"})),
    ("validates: pydantic cannot use Odd", lambda: validates(Odd)),
    ("satisfies: the first argument says in words", lambda: satisfies(len, "x")),  # type: ignore[arg-type]
    ("satisfies: the first argument says in words", lambda: satisfies(" ", bool)),
    ("satisfies: the second argument is a function", lambda: satisfies("x", True)),  # type: ignore[arg-type]
    ("all_of: takes at least one match", all_of),
    ("any_of: takes at least one match", any_of),
    (r"not_: takes matches, got 'a'; did you mean equals\('a'\)\?", lambda: not_("a")),  # type: ignore[arg-type]
    ("not_: similarity measures", lambda: not_(similarity("a"))),
    ("all_of: quality measures", lambda: all_of(includes("a"), Named("quality", measures=True))),
    ("any_of: measures measures", lambda: any_of(measures("quality", len))),
]


@dataclass(frozen=True)
class Named:
    """A match of an author's own."""

    name: str
    measures: bool = False
    argument: str = ""

    def observe(self, value: object) -> Observation:
        raise KeyError(value)


@pytest.mark.parametrize(("message", "make"), REFUSED)
def test_a_match_that_makes_no_sense_is_refused_at_the_call(message: str, make: Any) -> None:
    with pytest.raises(UsageError, match=message):
        make()


# --- three-valued logic ---------------------------------------------------------------------------------

Y = satisfies("yes", lambda _: True)
N = satisfies("no", lambda _: False)
U = at_least(0)  # NaN is unknown to it
E = satisfies("raises", lambda _: 1 / 0 > 1)

LOGIC: list[tuple[list[Match], str, str]] = [
    ([Y], "matched", "matched"),
    ([N], "mismatched", "mismatched"),
    ([U], "unavailable", "unavailable"),
    ([E], "errored", "errored"),
    ([Y, Y], "matched", "matched"),
    ([Y, N], "mismatched", "matched"),
    ([Y, U], "unavailable", "matched"),
    ([Y, E], "errored", "matched"),
    ([N, N], "mismatched", "mismatched"),
    ([N, U], "mismatched", "unavailable"),
    ([N, E], "mismatched", "errored"),
    ([U, E], "errored", "errored"),
    ([Y, N, U, E], "mismatched", "matched"),
]


@pytest.mark.parametrize(("members", "every", "some"), LOGIC)
def test_a_doubt_stays_unless_something_definite_decides(members: list[Match], every: str, some: str) -> None:
    for order in (members, members[::-1]):
        assert status(all_of(*order), NAN) == every
        assert status(any_of(*order), NAN) == some


@pytest.mark.parametrize(("member", "negated"), [(Y, "mismatched"), (N, "matched"), (U, "unavailable"), (E, "errored")])
def test_not_turns_only_what_is_definite(member: Match, negated: str) -> None:
    assert status(not_(member), NAN) == negated


def test_every_member_is_evaluated() -> None:
    seen: list[str] = []
    members = [satisfies(name, lambda _, name=name: not seen.append(name)) for name in "abc"]
    observe(any_of(*members), 0)
    assert seen == ["a", "b", "c"]


# --- messages -------------------------------------------------------------------------------------------

MESSAGES: list[tuple[Match, object, str]] = [
    (includes("greet.js"), "Done.", "expected a text that includes 'greet.js'\ngot 'Done.'"),
    (includes("greet.js"), None, "expected a text that includes 'greet.js'\ngot None"),
    (excludes("secret"), "a secret", "expected a text without 'secret'\ngot it at character 2: 'a secret'"),
    (equals([1, 2]), [1, 3], "expected [1, 2]\ngot [1, 3]"),
    (at_most(3), 4, "expected a number of at most 3\ngot 4"),
    (not_(includes("a")), "abc", "expected not includes 'a'\ngot 'abc'"),
    (json_matches({"a": {"b": 1}}), {"a": {"b": 2}}, "at $.a.b: expected 1\ngot 2"),
    (json_matches({"a": {"b": 1}}), {"a": {}}, "at $.a: expected the key 'b'\ngot {}"),
    (
        json_matches({"a": [1]}),
        {"a": [1, 2]},
        "at $.a: expected 1 items\ngot 2: [1, 2]",
    ),
    (
        validates(Greeting),
        '{"times": "many"}',
        (
            "expected data that Greeting accepts\n- $.name: Field required\n- $.times: Input should be a valid "
            'integer, unable to parse string as an integer\ngot \'{"times": "many"}\''
        ),
    ),
    (
        validates(SCHEMA),
        {"times": "2"},
        (
            "expected data that the JSON Schema accepts\n- $: 'name' is a required property\n"
            "- $.times: '2' is not of type 'integer'\ngot {'times': '2'}"
        ),
    ),
    (
        command_succeeded(),
        CommandResult(command="npm test", exit_code=1, stdout="1 failing\n", stderr="oh\nno\n", tries=3, allowed=3),
        "expected exit code 0 of npm test\ngot exit code 1 on each of 3 tries\nstderr: oh\nno\nstdout: 1 failing",
    ),
    (
        command_succeeded(),
        CommandResult(command="sleep 9", exit_code=-9),
        "expected exit code 0 of sleep 9\ngot ended by signal 9",
    ),
    (
        command_succeeded(),
        CommandResult(command="curl x", exit_code=0, tries=2, allowed=3),
        "passed on try 2 of 3",
    ),
    (satisfies("is even", lambda n: n % 2), 3, "'is even' returned 1, not True or False"),
    (satisfies("is even", lambda n: n % 2), "x", "satisfies raised TypeError: not all arguments converted during "),
    (
        equals("".join(f"line {n}\n" for n in range(100))),
        "".join(f"line {n}\n" for n in range(100) if n != 50),
        (
            "expected 790 characters, got 782, different from line 51 on\n--- expected\n+++ got\n"
            " line 49\n-line 50\n line 51\n line 52"
        ),
    ),
    (
        equals("x" * 500),
        "x" * 499 + "y",
        f"expected 500 characters, got 500, different from line 1 on\n--- expected\n+++ got\n-{'x' * 41}\n+{'x' * 40}y",
    ),
    (
        equals("a line\n" * 50),
        "a line\n" * 49 + "a line",
        (
            "expected 350 characters, got 349, different from line 50 on\n"
            "expected 'a line\\na line\\na line\\n'\ngot 'a line\\na line\\na line'"
        ),
    ),
]


@pytest.mark.parametrize(("match", "value", "message"), MESSAGES)
def test_messages_say_what_was_expected_and_what_came(match: Match, value: object, message: str) -> None:
    seen = observe(match, value).message
    assert seen.startswith(message)
    assert message.endswith("during ") or seen == message


HUGE = "x" * 20_000_000


class Verbose(pydantic.BaseModel):
    text: str


@pytest.mark.parametrize(
    ("match", "value"),
    [
        (includes("y"), HUGE),
        (excludes("x"), HUGE),
        (pattern("y"), HUGE),
        (equals(HUGE), HUGE + "y"),
        (equals(HUGE[:-1] + "z"), HUGE),
        (equals(1), HUGE.encode()),
        (equals([HUGE]), [HUGE, HUGE]),
        (equals({"a": Verbose(text="")}), {"a": Verbose(text=HUGE)}),
        (equals([[[[[["a"] * 100] * 100] * 100] * 100] * 100]), 1),
        (is_true(), HUGE),
        (at_least(3), HUGE),
        (json_matches({"a": 1}), HUGE),
        (json_matches({"a": 1}), {HUGE: HUGE}),
        (command_succeeded(), CommandResult(command=HUGE, exit_code=1, stdout=HUGE, stderr=HUGE)),
        (not_(includes("x")), HUGE),
        (any_of(*[equals(str(n)) for n in range(200)]), HUGE),
        (satisfies("short", lambda text: len(text) < 3), HUGE),
        (satisfies("raises", int), HUGE),
    ],
)
def test_a_message_is_bounded_and_utf_8_whatever_the_value(match: Match, value: object) -> None:
    message = observe(match, value).message
    assert len(message) <= MESSAGE_LIMIT
    assert len(match.argument) <= 1000
    message.encode()


def test_a_lone_surrogate_in_a_value_does_not_spoil_the_message() -> None:
    seen = observe(equals("long\n" * 50), "long\n" * 49 + "\ud800\n")
    assert "\\ud800" in seen.message
    json.loads(json.dumps(seen.message).encode())


def test_a_match_has_no_truth_value() -> None:
    with pytest.raises(UsageError, match=r"includes\(\) is a match, not a result"):
        assert includes("a")


def test_a_raising_match_of_an_authors_own_is_an_error() -> None:
    assert observe(Named("mine"), "x") == observe(Named("mine"), "x")
    assert observe(Named("mine"), "x").message == "mine raised KeyError: 'x'"
    assert status(any_of(Named("mine"), equals("x")), "x") == "matched"
    assert status(any_of(Named("mine"), equals("y")), "x") == "errored"
