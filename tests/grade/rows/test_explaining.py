"""What is said of a result that did not pass: the reason, the near cause, the rows."""

from __future__ import annotations

from datetime import date

import pytest

from reeval.schema.recorded.data import Reason
from tests.grade.rows.both import both_queried, small, table

SAID = {
    "fewer rows": (
        "SELECT unnest([1, 2, 3, 4, 5])",
        "SELECT unnest([1, 2, 9])",
        "The answer has 3 rows, but the ground truth has 5 rows.",
    ),
    "no rows": ("SELECT 1", "SELECT 1 WHERE false", "The answer has no rows, but the ground truth has 1 row."),
    "rows where none are": (
        "SELECT 1 WHERE false",
        "SELECT unnest([1, 2])",
        "The answer has 2 rows, but the ground truth has none.",
    ),
    "rows too many": (
        "SELECT unnest([2, 3])",
        "SELECT unnest([1, 2, 3])",
        "All 2 expected rows are there, plus 1 more.",
    ),
    "a LIMIT that is missing": ("SELECT unnest([1, 2])", "SELECT unnest([1, 2, 3])", "is a LIMIT missing?"),
    "a LIMIT that is too small": ("SELECT unnest([1, 2, 3])", "SELECT unnest([1, 2])", "a LIMIT that is too small?"),
    "a DISTINCT too many": ("SELECT unnest([1, 1, 2])", "SELECT unnest([1, 2])", "a missing DISTINCT"),
    "a join that multiplies rows": (
        "SELECT unnest([1, 2])",
        "SELECT unnest([1, 2, 2])",
        "a join that multiplies rows?",
    ),
    "other multiplicities": ("SELECT unnest([1, 1, 2])", "SELECT unnest([1, 2, 2])", "differ only in how often"),
    "a column too few": (
        "SELECT 1 AS id, 'x' AS region",
        "SELECT 1",
        "The ground truth has 2 columns, but the answer has 1. No column has the values of `region` (text: 'x').",
    ),
    "a column of another kind": (
        "SELECT 1 AS id, 'x' AS region",
        "SELECT 1, 2",
        "Not every column of the ground truth is in the answer. No column has the values of `region` (text: 'x').",
    ),
    "two equal columns of which one is there": (
        "SELECT 13 AS x, 13 AS y",
        "SELECT 13 AS x, 14 AS z",
        "The values of columns `x`, `y` are the same, and the answer has them once.",
    ),
    "values in other rows": (
        "FROM (VALUES ('a', 1), ('b', 2), ('c', 4)) t(k, n)",
        "FROM (VALUES ('a', 2), ('b', 1), ('c', 4)) t(k, n)",
        "Every column is there, but the values of column `n` belong to other rows.",
    ),
    "percent": (
        "SELECT unnest([0.1, 0.25]) AS r",
        "SELECT unnest([10, 25]) AS p",
        "is 100 times the ground truth's `r`",
    ),
    "a fraction": ("SELECT unnest([10, 25]) AS r", "SELECT unnest([0.1, 0.25]) AS p", "is a 100th of"),
    "thousands": ("SELECT unnest([1200, 3400]) AS r", "SELECT unnest([1.2, 3.4]) AS p", "is a 1,000th of"),
    "millions": ("SELECT unnest([1.2, 3.4]) AS r", "SELECT unnest([1200000, 3400000]) AS p", "is 1,000,000 times"),
    "the other sign": ("SELECT unnest([1, -2]) AS r", "SELECT unnest([-1, 2]) AS p", "with the other sign"),
    "signs": ("SELECT unnest([1, -2]) AS r", "SELECT unnest([1, 2]) AS p", "differ only in signs"),
    "letter case": ("SELECT unnest(['US', 'de']) AS r", "SELECT unnest(['us', 'DE']) AS p", "letter case or blanks"),
    "blanks": ("SELECT unnest(['a  b', 'c']) AS r", "SELECT unnest([' a b', 'c']) AS p", "letter case or blanks"),
    "NULL and 0": ("SELECT unnest([NULL, 5]) AS r", "SELECT unnest([0, 5]) AS p", "only in NULL against 0"),
    "NULL and an empty text": ("SELECT unnest([NULL, 'a']) AS r", "SELECT unnest(['', 'a']) AS p", "an empty text"),
    "rounding": ("SELECT 1234.4::DOUBLE", "SELECT 1234.6::DOUBLE", "but for rounding to 4 significant figures"),
    "near numbers": ("SELECT 1000", "SELECT 1004", "within 0.4% of the expected ones"),
    "a period off by one": (
        "FROM (VALUES (DATE '2024-01-01', 5), ('2024-02-01', 6), ('2024-03-01', 7)) t(m, n)",
        "FROM (VALUES (DATE '2024-01-01', NULL), ('2024-02-01', 5), ('2024-03-01', 6)) t(m, n)",
        "shifted by one row",
    ),
}


@pytest.mark.parametrize(("truth", "answer", "said"), SAID.values(), ids=SAID)
def test_the_analysis_names_the_difference_and_its_near_cause(truth: str, answer: str, said: str) -> None:
    assert said in both_queried(truth, answer).analysis


def test_up_to_three_rows_are_shown_beside_the_likeliest_ones() -> None:
    truth = [(at, f"name {at}", at * 10) for at in range(6)]
    answer = [(row[2] + (7 if row[0] % 2 else 0), row[1], row[0]) for row in reversed(truth)]
    came = small(table(truth, "id", "name", "sum"), table(answer, "s", "n", "i"))
    assert came.differing == (
        ((1, "name 1", 10), (1, "name 1", 17)),
        ((3, "name 3", 30), (3, "name 3", 37)),
        ((5, "name 5", 50), (5, "name 5", 57)),
    )


def test_a_row_without_a_partner_stands_beside_an_empty_one() -> None:
    assert small(table([(1,), (2,)]), table([(1,)])).differing == (((2,), ()),)
    assert small(table([(1,)]), table([(1,), (2,)])).differing == (((), (2,)),)


def test_both_engines_show_the_same_rows() -> None:
    came = both_queried(
        "SELECT i, 'x' || i FROM range(50) t(i)",
        "SELECT 'x' || i, CASE WHEN i % 20 = 3 THEN -i ELSE i END FROM range(50) t(i)",
    )
    assert [row[0][0] for row in came.differing] == [3, 23, 43]


def test_names_and_values_of_agents_are_bounded() -> None:
    hostile = "\x1b[31m" + "x" * 10_000
    came = small(table([(1, hostile)], "id", hostile), table([(1, 2)], "id", hostile))
    assert came.reason == Reason.MISSING_COLUMNS
    assert len(came.analysis) < 600
    assert "\x1b" not in came.analysis


def test_many_lacking_columns_are_counted() -> None:
    came = small(table([tuple(f"v{at}" for at in range(9))]), table([tuple(range(9))]))
    assert "The same goes for 6 more." in came.analysis


def test_an_analysis_of_wide_and_different_results_comes_to_an_end() -> None:
    truth = [tuple(row * 7 + at for at in range(120)) for row in range(20)]
    answer = [tuple(row * 11 + at * 3 + 5000 for at in range(150)) for row in range(20)]
    assert small(table(truth), table(answer)).reason == Reason.VALUE


def test_an_unsortable_key_ends_no_analysis() -> None:
    truth = [(date(2024, 1, day), [day], day) for day in (1, 2, 3, 4)]
    answer = [(one, two, three + 1) for one, two, three in truth]
    assert small(table(truth), table(answer)).reason == Reason.VALUE
