"""What a call of ``c.judge`` asks for."""

from __future__ import annotations

from typing import Any

import pytest

from reeval.errors import UsageError
from reeval.run.asking.material import Section
from reeval.run.judging.call import JudgeCall, judge_call
from reeval.schema.spec import Judge
from reeval.schema.transcript import Turn

FIRST, SECOND = Turn(prompt="1", message="one"), Turn(prompt="2", message="two")
KIND = Judge(name="kind", rubric="Judge kindness.", model="fake/own")
DEFAULTS: Any = {"model": "fake/cascade", "threshold": 0.7, "votes": 3, "state": {"files": False, "checks": True}}


def call(judge: Any = "Is it kind?", material: Any = None, *, on: Any = ..., **options: Any) -> JudgeCall:
    return judge_call(judge, material, on, options, options.pop("defaults", {}), (FIRST, SECOND))


def test_a_bare_call_is_about_the_latest_turn_and_names_no_model() -> None:
    found = call()
    assert (found.question, found.name, found.model) == ("Is it kind?", None, None)
    assert (found.threshold, found.votes, found.at_once) == (0.5, 1, None)
    assert found.state == {"task": True, "output": True, "diff": True, "files": True}
    assert (found.turns, found.output, found.material) == ((FIRST, SECOND), None, None)


MODELS = [
    ("Is it kind?", {}, "fake/cascade"),
    (KIND, {}, "fake/own"),
    (KIND, {"model": "fake/call"}, "fake/call"),
    (KIND, {"model": None}, "fake/own"),
]


@pytest.mark.parametrize(("judge", "options", "model"), MODELS)
def test_the_calls_model_wins_over_the_definitions_and_that_over_the_cascades(
    judge: Any, options: Any, model: str
) -> None:
    assert call(judge, defaults=DEFAULTS, **options).model == model


def test_options_of_the_call_win_and_the_state_merges_key_by_key() -> None:
    found = call(defaults=DEFAULTS, threshold=0.9, state={"diff": ["*.py"], "output": False})
    assert (found.threshold, found.votes) == (0.9, 3)
    assert found.state == {"task": True, "diff": ["*.py"], "checks": True}


def test_material_replaces_the_state_and_is_kept_as_it_is_now() -> None:
    value = {"n": 1}
    found = call(material={"change": "x", "data": value}, defaults=DEFAULTS)
    value["n"] = 2
    assert found.material == (Section("change", "x"), Section("data", '{\n  "n": 1\n}'))
    assert found.state == {}


def test_another_turn_is_judged_with_what_came_before_it() -> None:
    assert call(on=FIRST).turns == (FIRST,)
    assert call(on=SECOND).turns == (FIRST, SECOND)
    other = Turn(prompt="1", message="one")
    assert call(on=other).turns == (other,)


@pytest.mark.parametrize(
    ("value", "text"), [(None, "null"), ("words", "words"), (3, "3"), ([1], "[\n  1\n]"), (False, "false")]
)
def test_any_value_can_be_judged_as_the_output(value: Any, text: str) -> None:
    found = call(on=value)
    assert (found.output, found.turns) == (text, (FIRST, SECOND))


REFUSED = [
    ({"judge": ""}, "c.judge takes a judge or a question, got ''"),
    ({"judge": 3}, "c.judge takes a judge or a question, got 3"),
    ({"modle": "fake"}, "c.judge has no option 'modle'; did you mean 'model'?"),
    ({"material": {}}, "material is a mapping of names to JSON values"),
    ({"material": "text"}, "material is a mapping of names to JSON values, got 'text'"),
    ({"material": {1: "x"}}, "material is a mapping of names"),
    ({"material": {"x": object()}}, "material holds what is no JSON data"),
    ({"material": {"x": "y"}, "on": FIRST}, "material is all that is shown; drop on"),
    ({"material": {"x": "y"}, "state": {"diff": True}}, "material is all that is shown; drop state"),
    ({"on": object()}, "on is a turn or a JSON value"),
    ({"threshold": 1.5}, "threshold is 1.5; it is a number from 0 to 1"),
    ({"threshold": float("nan")}, "it takes a finite number"),
    ({"threshold": "high"}, "c.judge holds 'high'; it takes a number"),
    ({"votes": 2}, "votes is 2; it is an odd number such as 3"),
    ({"votes": -1}, "votes is -1; it is an odd number"),
    ({"votes": 101}, "at most 99"),
    ({"state": {"dif": True}}, "c.judge has no 'dif'; did you mean 'diff'?"),
    ({"state": {"contents": ["../x"]}}, "takes a path relative to the workspace"),
    ({"artifacts": 3}, "artifacts is 3; it is True, or a list of names"),
    ({"artifacts": ["a", 1]}, "artifacts is ['a', 1]"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_cannot_be_asked_is_refused_with_what_to_do(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        call(**arguments)
    assert message in str(refused.value)
    assert str(refused.value).startswith("c.judge")
