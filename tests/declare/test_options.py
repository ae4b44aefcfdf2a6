"""Options of evals and groups: which fit, and what is said of those that do not."""

from __future__ import annotations

from typing import Any

import pytest

from reeval.declare.options import node_options
from reeval.errors import DeclarationError
from reeval.schema.environment import Egress, Environment, Secret


@pytest.mark.parametrize(
    "options",
    [
        {"harness": "codex"},
        {"harness": ["a", "b"]},
        {"harness": {"add": ["c"]}},
        {"harness": {"only": ["c"]}},
        {"environment": Environment(name="e")},
        {"environment": "by name"},
        {"runs": 3},
        {"runs": {"until_decided": 20}},
        {"runs": {"best_of": 5}},
        {"gate": "all"},
        {"gate": {"pass_rate": 0.8}},
        {"gate": {"mean_score": 6}},
        {"timeout": 1.5},
        {"timeout": "15m"},
        {"tags": ["a"], "pin": ["runs", "compare"]},
        {"env": {"A": "b", "T": Secret(name="T")}},
        {"egress": "deny-all"},
        {"egress": Egress(mode="allow", hosts=("example.com",))},
        {"sandbox": "docker"},
        {"judge": "provider/model"},
        {"judge": {"threshold": 0.7, "votes": 3, "state": {"diff": ["src/**"], "turns": "last"}}},
        {"question": {"model": "p/m", "artifacts": ["shot.png"], "state": {"transcript": "tools"}}},
        {"capture": {"width": 3, "anything": [1]}},
    ],
    ids=str,
)
def test_every_option_takes_what_its_type_says(options: dict[str, Any]) -> None:
    assert node_options(options)["options"] == options


def test_tuples_are_lists() -> None:
    assert node_options({"tags": ("a", "b")})["options"] == {"tags": ["a", "b"]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runz": 3}, "there is no option 'runz'; did you mean 'runs'?"),
        ({"runs": "four"}, "the option runs is 'four'; it takes a whole number or a mapping"),
        ({"runs": True}, "the option runs is True; it takes a whole number or a mapping"),
        ({"runs": 2.5}, "the option runs is 2.5; it takes a whole number or a mapping"),
        ({"runs": {"until": 3}}, "the option runs has no 'until'; known: best_of, until_decided"),
        ({"tags": "smoke"}, "the option tags is 'smoke'; it takes a list"),
        ({"tags": ["a", 3]}, "the option tags holds 3; it takes a text"),
        ({"gate": "maybe"}, "the option gate is 'maybe'; it takes 'all' or 'none' or a mapping"),
        ({"gate": {"pass_rate": "x"}}, "the option gate holds 'x'; it takes a number"),
        ({"timeout": float("nan")}, "the option timeout is nan; it takes a finite number or a text"),
        ({"judge": {"treshold": 0.5}}, "the option judge has no 'treshold'; did you mean 'threshold'?"),
        ({"judge": {"state": {"dif": True}}}, "the option judge has no 'dif'; did you mean 'diff'?"),
        ({"env": {"A": 3}}, "the option env holds 3; it takes a text or an object of type Secret"),
        ({"environment": 3}, "the option environment is 3; it takes an object of type Environment or a text"),
        ({"pin": ["x"]}, "the option pin holds 'x'; it takes 'compare', 'harness' or 'runs'"),
        ({"only": 1}, "only is 1; it takes True or False"),
        ({"description": 1}, "description is 1; it takes a text"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_named_with_what_would(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        node_options(options)
    assert str(caught.value) == message
