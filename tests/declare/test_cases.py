"""Cases of ``evaluate.each`` and their keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from reeval.declare.cases import build_cases
from reeval.errors import DeclarationError


@dataclass
class Person:
    name: str
    age: int


@pytest.mark.parametrize(
    ("cases", "name", "key", "keys"),
    [
        (["Ada", "Bob"], "greets {}", None, ["greets Ada", "greets Bob"]),
        ([1, 2], "{:03d}", None, ["001", "002"]),
        ([{"name": "Ada", "n": 1}], "greets {name} {n} times", None, ["greets Ada 1 times"]),
        ([Person("Ada", 36)], "{name} is {age}", None, ["Ada is 36"]),
        ([{"who": Person("Ada", 36)}], "{who.name}", None, ["Ada"]),
        ([{"name": "Ada"}, {"name": "Bob"}], "greets", "{name}", ["Ada", "Bob"]),
        ([1, 2], "greets", lambda case: f"n{case}", ["n1", "n2"]),
        ([1, 2], "{index}: {}", None, [": 1", ": 2"]),
        ([1, 2], "{index:02d} {}", None, ["1", "2"]),
        ([{"a": "x\n\ty"}], "{a}", None, ["x y"]),
        ([None], "{}", None, ["None"]),
        ([{"a": 1}], "brace {{a}} {a}", None, ["brace {a} 1"]),
        ({3}, "{}", None, ["3"]),
        ((case for case in "ab"), "{}", None, ["a", "b"]),
    ],
)
def test_a_key_is_the_filled_name_or_key(cases: Any, name: str, key: Any, keys: list[str]) -> None:
    assert [case.key for case in build_cases(cases, name, key)] == keys


def test_an_inserted_case_shifts_no_key() -> None:
    before = build_cases(["a", "c"], "{index} {}", None)
    after = build_cases(["a", "b", "c"], "{index} {}", None)
    assert {case.key for case in before} <= {case.key for case in after}


@pytest.mark.parametrize(
    ("cases", "name", "key", "message"),
    [
        ([], "x {}", None, "there are no cases; an eval with none would check nothing"),
        ("abc", "x {}", None, "the cases are str; give a list"),
        ({"a": 1}, "x {}", None, "the cases are dict; give a list"),
        (3, "x {}", None, "the cases are int; give a list"),
        (
            [1, 2],
            "x",
            None,
            (
                "the cases 0 and 1 of 'x' both have the key 'x'; put what tells them apart into the name "
                "({field}, or {} for a plain value), or give key="
            ),
        ),
        (
            [5, 6, 5],
            "x {}",
            None,
            (
                "the cases 0 and 2 of 'x {}' both have the key 'x 5'; put what tells them apart into the name "
                "({field}, or {} for a plain value), or give key="
            ),
        ),
        ([{"name": "Ada"}], "{nmae}", None, "the name has {nmae}, but the case {'name': 'Ada'} has no 'nmae'"),
        (
            [1],
            "{oops",
            None,
            "the name '{oops' is no template: expected '}' before end of string; write {{ for a brace",
        ),
        ([1], "x", lambda case: case, "the key of 1 is 1; it takes a text of 1 to 200 characters"),
        ([1], "x", lambda case: "", "the key of 1 is ''; it takes a text of 1 to 200 characters"),
        ([1], "x", lambda case: case.id, "key= failed on 1: AttributeError: 'int' object has no attribute 'id'"),
        (
            [Person("Ada", 3)],
            "{name.x}",
            None,
            (
                "the name '{name.x}' does not fit the case Person(name='Ada', age=3): AttributeError: "
                "'str' object has no attribute 'x'"
            ),
        ),
        (
            ["a"],
            "{:d}",
            None,
            "the name '{:d}' does not fit the case 'a': ValueError: Unknown format code 'd' for object of type 'str'",
        ),
    ],
)
def test_cases_without_keys_of_their_own_are_refused(cases: Any, name: str, key: Any, message: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        build_cases(cases, name, key)
    assert str(caught.value) == message


def test_the_body_gets_each_value_as_it_was_given(project: Any) -> None:
    spec = project.one(
        """\
        from dataclasses import dataclass
        from reeval import evaluate

        @dataclass
        class Person:
            name: str

        @evaluate.each([Person("Ada"), Person("Bob")], "greets {name}", runs=2)
        async def greets(c, person): ...
        """
    )
    assert spec.name == "greets {name}"
    assert [(case.key, case.value.name) for case in spec.cases] == [("greets Ada", "Ada"), ("greets Bob", "Bob")]
    assert spec.options == {"runs": 2}
