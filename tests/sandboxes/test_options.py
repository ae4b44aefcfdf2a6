from __future__ import annotations

from typing import Any

import pytest

from reeval.errors import PlanError
from reeval.sandboxes.local.options import LocalOptions, parse_options


def test_an_empty_table_gives_the_defaults() -> None:
    assert parse_options({"kind": "local"}, "[sandbox.box]") == LocalOptions()


def test_every_option_can_be_given() -> None:
    table = {
        "isolation": "prefer",
        "max_concurrent": 2,
        "output_limit": 100,
        "processes": 50,
        "read_only": ["/usr", "/etc"],
        "start_timeout": "1.5m",
    }
    expected = LocalOptions(
        isolation="prefer",
        max_concurrent=2,
        output_limit=100,
        processes=50,
        read_only=("/usr", "/etc"),
        start_timeout=90.0,
    )
    assert parse_options(table, "[sandbox.box]") == expected


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"isolatoin": "none"}, "[sandbox.box]: unknown key 'isolatoin'; did you mean 'isolation'?"),
        (
            {"isolation": "yes"},
            '[sandbox.box]: isolation is \'yes\'; write "require", "prefer" or "none"',
        ),
        ({"processes": 0}, "[sandbox.box]: processes is 0; write a whole number from 1"),
        ({"processes": True}, "[sandbox.box]: processes is True; write a whole number from 1"),
        ({"output_limit": "1k"}, "[sandbox.box]: output_limit is '1k'; write a whole number from 1"),
        (
            {"start_timeout": "soon"},
            "[sandbox.box]: start_timeout is 'soon'; write seconds above 0, or text such as \"90s\"",
        ),
        (
            {"start_timeout": float("nan")},
            '[sandbox.box]: start_timeout is nan; write seconds above 0, or text such as "90s"',
        ),
        (
            {"read_only": ["lib"]},
            "[sandbox.box]: read_only is ['lib']; write a list of absolute paths of this machine",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_write(table: dict[str, Any], problem: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_options(table, "[sandbox.box]")
    assert str(caught.value) == problem
