"""``same_rows`` as a match."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from reeval import all_of, includes, not_, same_rows
from reeval.errors import UsageError
from reeval.grade.observing.observe import observe
from reeval.schema.observation import CheckStatus

EXPECTED = [("north", 1200.5), ("south", 800)]
FORMS: dict[str, Any] = {
    "tuples": [("south", 800), ("north", 1200.5)],
    "lists": [["north", 1200.5], ["south", 800.0]],
    "dicts": [{"sales": 800, "region": "south"}, {"sales": 1200.5, "region": "north"}],
    "more columns": [(1, "south", 800), (2, "north", 1200.5)],
    "JSON": json.dumps([{"region": "north", "sales": 1200.5}, {"region": "south", "sales": 800}]),
    "Arrow": pa.table({"a": [800, 1200.5], "b": ["south", "north"]}),
    "text for numbers": [("south", "800"), ("north", "1200.5")],
}


@pytest.mark.parametrize("value", FORMS.values(), ids=FORMS)
def test_rows_may_come_in_any_form(value: Any) -> None:
    assert observe(same_rows(EXPECTED), value).status == CheckStatus.MATCHED


@pytest.mark.parametrize("expected", [FORMS["dicts"], FORMS["JSON"], FORMS["Arrow"]], ids=["dicts", "JSON", "Arrow"])
def test_rows_may_be_expected_in_any_form(expected: Any) -> None:
    assert observe(same_rows(expected), EXPECTED).status == CheckStatus.MATCHED
    assert observe(same_rows(expected), EXPECTED[:1]).status == CheckStatus.MISMATCHED


def test_a_mismatch_says_what_differs_and_why_it_may() -> None:
    seen = observe(same_rows(EXPECTED), [("north", 120050), ("south", 80000)])
    assert seen.status == CheckStatus.MISMATCHED
    head, why, *rows = seen.message.splitlines()
    assert head == "expected the same rows: Value mismatch"
    assert why.startswith("The values of column `2` differ; the other columns agree. The answer's `2` is 100 times")
    assert rows == [
        "- expected ('north', 1200.5), got ('north', 120050)",
        "- expected ('south', 800), got ('south', 80000)",
    ]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("none", "the text is not JSON"),
        ('{"a": 1}', "the JSON is no list"),
        (7, "int is not"),
        ([(1, 2), (3,)], "its rows have from 1 to 2 values"),
        ([(1,), 2], "some of its items are rows and some are not"),
    ],
)
def test_what_is_no_rows_is_a_mismatch_and_cannot_be_expected(value: Any, said: str) -> None:
    seen = observe(same_rows(EXPECTED), value)
    assert seen.status == CheckStatus.MISMATCHED
    assert said in seen.message
    with pytest.raises(UsageError, match=said):
        same_rows(value)


def test_no_rows_are_the_same_as_no_rows() -> None:
    assert observe(same_rows([]), []).status == CheckStatus.MATCHED
    assert observe(same_rows([]), [(1,)]).status == CheckStatus.MISMATCHED
    assert "The answer has no rows" in observe(same_rows(EXPECTED), []).message


def test_single_values_are_rows_of_one() -> None:
    assert observe(same_rows([1, 2, 2]), [2, 1, 2]).status == CheckStatus.MATCHED
    assert observe(same_rows([1, 2, 2]), [2, 1]).status == CheckStatus.MISMATCHED


def test_exact_numbers_are_compared_as_they_are() -> None:
    assert observe(same_rows([12344]), [12336]).status == CheckStatus.MATCHED
    assert observe(same_rows([12344], exact=True), [12336]).status == CheckStatus.MISMATCHED


def test_a_key_that_is_lacking_is_null() -> None:
    assert observe(same_rows([{"a": 1, "b": None}, {"a": 2, "b": 3}]), [{"a": 1}, {"a": 2, "b": 3}]).status == (
        CheckStatus.MATCHED
    )


def test_it_is_named_and_combined_like_any_match() -> None:
    match = same_rows(EXPECTED)
    assert (match.name, match.argument) == ("same_rows", "2 rows of 2 columns")
    assert observe(not_(match), []).status == CheckStatus.MATCHED
    assert observe(all_of(match, includes("x")), "[]").status == CheckStatus.MISMATCHED
