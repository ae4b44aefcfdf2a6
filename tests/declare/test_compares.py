"""``@compare`` and ``@questions``: where they may stand and what they take."""

from __future__ import annotations

from typing import Any

import pytest

from reeval import Question, compare, environment
from reeval.errors import DeclarationError
from reeval.schema.spec import CompareSpec, GroupSpec

A, B = environment("a"), environment("b")


@pytest.mark.parametrize("order", ["above", "below"])
def test_they_stand_above_or_below_evaluate(project: Any, order: str) -> None:
    beside = "@compare(baseline='plain', variants=['house'], min_lift=0.2)\n@questions('Why?')\n"
    head = f"{beside}@evaluate('a')\n" if order == "above" else f"@evaluate('a')\n{beside}"
    spec = project.one(f"from reeval import compare, evaluate, questions\n{head}async def body(c): ...\n")
    assert spec.compare == CompareSpec(baseline="plain", variants=("house",), min_lift=0.2)
    assert spec.questions == (Question("Why?"),)


@pytest.mark.parametrize("order", ["above", "below"])
def test_they_stand_above_or_below_group(project: Any, order: str) -> None:
    beside = "@compare(variants=['house'])\n@questions()\n"
    head = f"{beside}@group('g')\n" if order == "above" else f"@group('g')\n{beside}"
    spec = project.load(f"from reeval import compare, group, questions\n{head}def g(): ...\n")
    (group,) = spec.children
    assert isinstance(group, GroupSpec)
    assert group.compare == CompareSpec(variants=("house",))
    assert group.questions == ()


def test_no_questions_is_not_cleared_questions(project: Any) -> None:
    evals = project.evals(
        """\
        from reeval import evaluate, questions

        @evaluate("inherits")
        async def inherits(c): ...

        @evaluate("clears")
        @questions()
        async def clears(c): ...
        """
    )
    assert evals["inherits"].questions is None
    assert evals["clears"].questions == ()


@pytest.mark.parametrize(
    ("decorator", "name"), [("questions('Why?')", "@questions"), ("compare(variants=['a'])", "@compare")]
)
def test_beside_a_function_that_declares_nothing_they_are_refused(project: Any, decorator: str, name: str) -> None:
    text = f"from reeval import compare, questions\n@{decorator}\nasync def body(c): ...\n"
    assert project.refusal(text) == (
        f"evals/x.eval.py:2: {name} is on body(), which declares nothing; put it directly above or below @evaluate "
        "or @group (other decorators go below both)"
    )


@pytest.mark.parametrize("name", ["compare(variants=['a'])", "questions('Why?')"])
def test_twice_on_one_function_is_refused(project: Any, name: str) -> None:
    text = (
        f"from reeval import compare, evaluate, questions\n@{name}\n@evaluate('a')\n@{name}\nasync def body(c): ...\n"
    )
    assert project.refusal(text).startswith("evals/x.eval.py:2: there are two @")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variants": []}, "compare has variants=[]; give a list of at least one environment"),
        ({"variants": "a"}, "compare has variants='a'; give a list of at least one environment"),
        ({"variants": [3]}, "compare has the side 3; give an environment, or its name in the config"),
        ({"variants": [A, A]}, "compare has the environment 'a' on two sides; name each side once"),
        ({"variants": [A, B], "baseline": B}, "compare has the environment 'b' on two sides; name each side once"),
        ({"variants": [A], "gate": "any"}, "compare has gate='any'; it takes 'variants', 'all' or 'none'"),
        ({"variants": [A], "min_lift": 1.5}, "compare has min_lift=1.5; it takes a number from -1 to 1"),
        ({"variants": [A], "min_lift": float("nan")}, "compare has min_lift=nan; it takes a number from -1 to 1"),
        ({"variants": [A], "min_lift": True}, "compare has min_lift=True; it takes a number from -1 to 1"),
        ({"variants": [A], "harness": []}, "compare has harness=[]; give the names of harnesses"),
    ],
    ids=str,
)
def test_a_compare_that_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        compare(**options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"choices": ["yes"]}, "has choices=['yes']; give at least two different ones"),
        ({"choices": ["a", "a"]}, "has choices=['a', 'a']; give at least two different ones"),
        ({"choices": "ab"}, "has choices='ab'; choices takes a list of texts"),
        (
            {"choices": ["a", "b"], "across": "harness"},
            "has choices and across; a pair is answered by a side or a tie, so drop one of them",
        ),
        (
            {"across": "sandbox"},
            "is across='sandbox'; across takes 'environment', 'harness', or both in a list",
        ),
        ({"across": []}, "is across=[]; across takes 'environment', 'harness', or both in a list"),
        ({"modle": "x"}, "has no option 'modle'; did you mean 'model'?"),
    ],
    ids=str,
)
def test_a_question_that_cannot_be_asked_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        Question("Which?", **options)
    assert str(caught.value) == f"Question('Which?') {message}"


def test_a_question_keeps_what_it_was_given() -> None:
    asked = Question("Which?", across=["environment", "harness"], model="p/m", artifacts=["a.png"])
    assert (asked.across, asked.model, asked.artifacts) == (("environment", "harness"), "p/m", ("a.png",))
    assert Question("Yes?", choices=["yes", "no"]).choices == ("yes", "no")
    assert Question("Yes?") == Question("Yes?")
    assert len({Question("Yes?"), Question("Yes?")}) == 1
