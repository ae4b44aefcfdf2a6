"""What passes and what does not: pairs of queries, each compared by both engines."""

from __future__ import annotations

import pytest

from reeval.grade.rows.compare import compare_results
from reeval.schema.recorded.data import Reason
from tests.grade.rows.both import both_queried, queried, small, table

PASS = None
VALUE, COLUMNS, COUNT, UNEXPECTED = Reason.VALUE, Reason.MISSING_COLUMNS, Reason.ROW_COUNT, Reason.UNEXPECTED_ROWS

CASES = {
    "a whole number and the same as a double": ("SELECT 6646", "SELECT 6646.0::DOUBLE", PASS),
    "a decimal and a double with noise": ("SELECT 0.30::DECIMAL(5,2)", "SELECT 0.30000000000000004::DOUBLE", PASS),
    "a tie rounds away from zero": ("SELECT 12345", "SELECT 12350", PASS),
    "a negative tie rounds away from zero": ("SELECT -12345", "SELECT -12350", PASS),
    "numbers in one bucket": ("SELECT 12344", "SELECT 12336", PASS),
    "near numbers in two buckets": ("SELECT 1234.4::DOUBLE", "SELECT 1234.6::DOUBLE", VALUE),
    "noise on a tie": ("SELECT 2.5005::DOUBLE", "SELECT 2.5004999999999997::DOUBLE", PASS),
    "rounding carries": ("SELECT 99995", "SELECT 100000", PASS),
    "rounding up to one digit more": ("SELECT 9999.4::DOUBLE", "SELECT 9999.6::DOUBLE", VALUE),
    "zero and minus zero": ("SELECT 0.0::DOUBLE", "SELECT -0.0::DOUBLE", PASS),
    "zero and noise": ("SELECT 0", "SELECT 1e-12::DOUBLE", PASS),
    "noise and zero": ("SELECT 1e-13::DOUBLE", "SELECT 0", PASS),
    "zero and a small number": ("SELECT 0", "SELECT 1e-9::DOUBLE", VALUE),
    "noise beside large numbers": (
        "SELECT unnest([1e6, 0.0]::DOUBLE[])",
        "SELECT unnest([1e6, 1e-9]::DOUBLE[])",
        PASS,
    ),
    "whole numbers are no noise": (
        "SELECT unnest([1e15, 5]::DOUBLE[])",
        "SELECT unnest([1e15, 7]::DOUBLE[])",
        VALUE,
    ),
    "another sign": ("SELECT 5", "SELECT -5", VALUE),
    "percent and a fraction": ("SELECT 0.1234::DOUBLE", "SELECT 12.34::DOUBLE", VALUE),
    "tiny numbers are compared relatively": ("SELECT 1.2344e-30::DOUBLE", "SELECT 1.2343e-30::DOUBLE", PASS),
    "tiny numbers differ": ("SELECT 1.234e-30::DOUBLE", "SELECT 1.235e-30::DOUBLE", VALUE),
    "integers past 2^53": ("SELECT 9007199254740993", "SELECT 9007199254740992", PASS),
    "ids that round to the same": ("SELECT unnest([100234, 100871])", "SELECT unnest([100199, 100912])", PASS),
    "years": ("SELECT 2023", "SELECT 2024", VALUE),
    "NULL and NULL": ("SELECT NULL::INTEGER", "SELECT NULL::INTEGER", PASS),
    "NULL of two types": ("SELECT NULL::INTEGER", "SELECT NULL::VARCHAR", PASS),
    "NULL and 0": ("SELECT NULL::INTEGER", "SELECT 0", VALUE),
    "NULL text and an empty one": ("SELECT NULL::VARCHAR", "SELECT ''", VALUE),
    "NaN and NaN": ("SELECT 'NaN'::DOUBLE", "SELECT 'NaN'::DOUBLE", PASS),
    "NaN and NULL": ("SELECT 'NaN'::DOUBLE", "SELECT NULL::DOUBLE", VALUE),
    "infinity": ("SELECT 'inf'::DOUBLE", "SELECT 'inf'::DOUBLE", PASS),
    "two infinities": ("SELECT 'inf'::DOUBLE", "SELECT '-inf'::DOUBLE", VALUE),
    "a boolean and 1": ("SELECT true", "SELECT 1", PASS),
    "a boolean and its text": ("SELECT true", "SELECT 'true'", PASS),
    "a boolean and another text": ("SELECT true", "SELECT 'yes'", COLUMNS),
    "a date and its midnight": ("SELECT DATE '2024-01-01'", "SELECT TIMESTAMP '2024-01-01 00:00:00'", PASS),
    "a date and an hour later": ("SELECT DATE '2024-01-01'", "SELECT TIMESTAMP '2024-01-01 01:00:00'", VALUE),
    "a date and its ISO text": ("SELECT DATE '2024-01-01'", "SELECT '2024-01-01'", PASS),
    "a date and another way to write it": ("SELECT DATE '2024-01-01'", "SELECT '01/01/2024'", COLUMNS),
    "a text that is no date of the calendar": ("SELECT DATE '2024-01-01'", "SELECT '2024-02-30'", COLUMNS),
    "a year as a date and as a number": ("SELECT DATE '2024-01-01'", "SELECT 2024", COLUMNS),
    "one instant in two zones": (
        "SELECT TIMESTAMPTZ '2024-01-01 05:00:00+00'",
        "SELECT TIMESTAMPTZ '2024-01-01 07:00:00+02'",
        PASS,
    ),
    "an instant and its text in another zone": (
        "SELECT TIMESTAMPTZ '2024-01-01 05:00:00+00'",
        "SELECT '2024-01-01 07:00:00+02'",
        PASS,
    ),
    "an instant and the local time of another zone": (
        "SELECT TIMESTAMPTZ '2024-01-01 05:00:00+00'",
        "SELECT '2024-01-01 07:00:00'",
        VALUE,
    ),
    "a trailing blank": ("SELECT 'a'", "SELECT 'a '", VALUE),
    "letter case": ("SELECT 'US'", "SELECT 'us'", VALUE),
    "two ways to write one letter": ("SELECT 'e' || chr(769)", "SELECT chr(233)", PASS),
    "a number and its text": ("SELECT 6646", "SELECT '6646'", PASS),
    "text is never parsed beside text": ("SELECT '02139'", "SELECT '2139'", VALUE),
    "a number and a text with leading zeros": ("SELECT 2139", "SELECT '02139'", COLUMNS),
    "a number and a formatted one": ("SELECT 6646", "SELECT '6,646'", COLUMNS),
    "a number and a price": ("SELECT 6646", "SELECT '$6646'", COLUMNS),
    "texts of which one is no number": ("SELECT unnest([1, 2])", "SELECT unnest(['1', 'two'])", COLUMNS),
    "rows are counted": ("SELECT unnest([1, 1, 2])", "SELECT unnest([1, 2])", COUNT),
    "rows are counted at the same size": ("SELECT unnest([1, 1, 2])", "SELECT unnest([1, 2, 2])", VALUE),
    "values in other rows": ("FROM (VALUES ('a', 1), ('b', 2))", "FROM (VALUES ('a', 2), ('b', 1))", VALUE),
    "other order of columns and one more": (
        "FROM (VALUES ('a', 1), ('b', 2))",
        "FROM (VALUES (7, 2, 'b'), (8, 1, 'a'))",
        PASS,
    ),
    "two equal columns and one": ("SELECT 13 AS x, 13 AS y", "SELECT 13 AS x", COLUMNS),
    "two equal columns and one with another": ("SELECT 13 AS x, 13 AS y", "SELECT 13 AS x, 14 AS y", VALUE),
    "two equal columns and two": ("SELECT 13 AS x, 13 AS y", "SELECT 13 AS p, 13 AS q", PASS),
    "a column that is there twice, once in the right rows": (
        "FROM (VALUES (1, 'a'), (2, 'b'), (3, 'c'))",
        "FROM (VALUES (2, 1, 'a'), (3, 2, 'b'), (1, 3, 'c'))",
        PASS,
    ),
    "columns with the same values, swapped": (
        "FROM (VALUES (1, 2), (2, 3), (3, 1))",
        "FROM (VALUES (2, 1), (3, 2), (1, 3))",
        PASS,
    ),
    "row order never matters": ("SELECT * FROM range(5) t(i) ORDER BY i DESC", "SELECT * FROM range(5) t(i)", PASS),
    "top 5 and top 6": ("SELECT * FROM range(5)", "SELECT * FROM range(6)", UNEXPECTED),
    "top 5 and top 3": ("SELECT * FROM range(5)", "SELECT * FROM range(3)", COUNT),
    "a LIMIT that cuts a tie": ("FROM (VALUES ('a', 9), ('b', 7))", "FROM (VALUES ('a', 9), ('c', 7))", VALUE),
    "a LIMIT with NULL first": ("SELECT unnest([NULL, 1])", "SELECT unnest([1, 2])", VALUE),
    "nothing and nothing": ("SELECT 1 AS x WHERE false", "SELECT 'a' AS y WHERE false", PASS),
    "nothing and nothing with fewer columns": ("SELECT 1, 2 WHERE false", "SELECT 1 WHERE false", COLUMNS),
    "nothing and something": ("SELECT 1 WHERE false", "SELECT 1", UNEXPECTED),
    "something and nothing": ("SELECT 1", "SELECT 1 WHERE false", COUNT),
    "one row and more": ("SELECT 1", "SELECT unnest([1, 2, 3])", UNEXPECTED),
    "wide and long": ("SELECT 1 AS a, 2 AS b", "FROM (VALUES ('a', 1), ('b', 2))", COUNT),
    "a row of totals": ("FROM (VALUES ('a', 1), ('b', 2))", "FROM (VALUES ('a', 1), ('b', 2), (NULL, 3))", UNEXPECTED),
    "lists in another order": ("SELECT [1, 2]", "SELECT [2, 1]", VALUE),
    "two results of one state": ("SELECT current_date > DATE '2000-01-01'", "SELECT true", PASS),
}


@pytest.mark.parametrize(("truth", "answer", "reason"), CASES.values(), ids=CASES)
def test_each_case_has_its_verdict(truth: str, answer: str, reason: Reason | None) -> None:
    came = both_queried(truth, answer)
    assert (came.verdict, came.reason) == ("fail" if reason else "pass", reason)
    assert bool(came.analysis) == bool(reason)


TYPES = {
    "integers of any size": ("SELECT 1::TINYINT, 2::UBIGINT, 3::HUGEINT", "SELECT 1::DOUBLE, 2::HUGEINT, 3::SMALLINT"),
    "the largest integers": (
        f"SELECT {2**127 - 1}::HUGEINT, {10**37}::UHUGEINT",
        "SELECT 1.7014118346e38::DOUBLE, 1e37::DOUBLE",
    ),
    "long decimals": (
        "SELECT 12345678901234567890.123456789012345678::DECIMAL(38, 18)",
        "SELECT 12345678901234567890::DOUBLE",
    ),
    "the largest doubles": ("SELECT 1.7e308::DOUBLE, -1e308::DOUBLE", "SELECT 1.70001e308::DOUBLE, -1e308::DOUBLE"),
    "denormal numbers": ("SELECT 5e-324::DOUBLE, 1.234e-310::DOUBLE", "SELECT 5e-324::DOUBLE, 1.2341e-310::DOUBLE"),
    "floats": ("SELECT 0.1::FLOAT", "SELECT 0.1::DOUBLE"),
    "lists": ("SELECT [1, NULL, 3], [['a'], []]", "SELECT [1.0, NULL, 3.0]::DOUBLE[], [['a'], []]"),
    "arrays": ("SELECT [1, 2]::INTEGER[2]", "SELECT [1, 2]::BIGINT[]"),
    "structs by name": ("SELECT {'a': 1, 'b': 'x'}", "SELECT {'b': 'x', 'a': 1.0}"),
    "maps as sets": ("SELECT MAP {'x': 1, 'y': 2}", "SELECT MAP {'y': 2, 'x': 1}"),
    "JSON however it is written": ("""SELECT '{"a": [1, 2.0]}'::JSON""", """SELECT '{ "a":[1.0,2] }'::JSON"""),
    "JSON and its text": ("""SELECT '{"a": 1}'::JSON""", """SELECT '{"a":1}'"""),
    "JSON and a struct": ("""SELECT '{"a": 1, "b": null}'::JSON""", "SELECT {'b': NULL, 'a': 1}"),
    "JSON that is a number": ("SELECT '5'::JSON", "SELECT 5"),
    "JSON that is a text": ("""SELECT '"x"'::JSON""", "SELECT 'x'"),
    "unions": ("SELECT union_value(n := 2)", "SELECT 2"),
    "blobs": ("SELECT '\\x00\\xAA'::BLOB", "SELECT '\\x00\\xAA'::BLOB"),
    "bits": ("SELECT '10101'::BIT", "SELECT '10101'"),
    "a UUID and its text": (
        "SELECT '6E71E04F-2A4C-4F8B-9B1D-0C5F1B8A2D11'::UUID",
        "SELECT '6e71e04f-2a4c-4f8b-9b1d-0c5f1b8a2d11'",
    ),
    "enums": ("SELECT 'a'::ENUM ('a', 'b')", "SELECT 'a'"),
    "intervals": ("SELECT INTERVAL '1 month'", "SELECT INTERVAL '30 days'"),
    "times of day": ("SELECT TIME '12:00:01.5'", "SELECT '12:00:01.5'"),
    "timestamps of any precision": (
        "SELECT TIMESTAMP_S '2024-01-01 00:00:01', TIMESTAMP_NS '2024-01-01 00:00:01'",
        "SELECT TIMESTAMP_MS '2024-01-01 00:00:01', TIMESTAMP '2024-01-01 00:00:01'",
    ),
    "dates past Python's": (
        "SELECT '0044-03-15 (BC)'::DATE, '12000-01-01'::DATE",
        "SELECT '0044-03-15 (BC)'::TIMESTAMP, '12000-01-01'::TIMESTAMP",
    ),
    "infinite dates": (
        "SELECT 'infinity'::DATE, '-infinity'::DATE",
        "SELECT 'infinity'::TIMESTAMP, '-infinity'::TIMESTAMP",
    ),
    "text of every kind": (
        "SELECT '', ' ', chr(10), '''', 'naïve ☕', chr(128512)",
        "SELECT '', ' ', chr(10), '''', 'naïve ☕', chr(128512)",
    ),
    "a column of NULL": ("SELECT NULL", "SELECT NULL::INTEGER[]"),
}


@pytest.mark.parametrize(("truth", "answer"), TYPES.values(), ids=TYPES)
def test_values_are_equal_across_types(truth: str, answer: str) -> None:
    assert both_queried(truth, answer).verdict == "pass"


DIFFERENT = {
    "lists": ("SELECT [1, 2]", "SELECT [1, 2, NULL]"),
    "structs": ("SELECT {'a': 1}", "SELECT {'b': 1}"),
    "JSON": ("""SELECT '[1, "1"]'::JSON""", """SELECT '["1", 1]'::JSON"""),
    "blobs": ("SELECT '\\x00'::BLOB", "SELECT '\\x01'::BLOB"),
    "bits": ("SELECT '0101'::BIT", "SELECT '101'::BIT"),
    "intervals": ("SELECT INTERVAL '1 day'", "SELECT INTERVAL '25 hours'"),
    "times": ("SELECT TIME '12:00:00'", "SELECT TIME '12:00:01'"),
    "denormal numbers": ("SELECT 5e-324::DOUBLE", "SELECT 1e-323::DOUBLE"),
    "infinity and the largest double": ("SELECT 'inf'::DOUBLE", "SELECT 1.79e308::DOUBLE"),
    "NaN and infinity": ("SELECT 'NaN'::DOUBLE", "SELECT 'inf'::DOUBLE"),
    "dates before Christ": ("SELECT '0044-03-15 (BC)'::DATE", "SELECT '0044-03-16 (BC)'::DATE"),
}


@pytest.mark.parametrize(("truth", "answer"), DIFFERENT.values(), ids=DIFFERENT)
def test_values_of_every_type_can_differ(truth: str, answer: str) -> None:
    assert (came := both_queried(truth, answer)).verdict == "fail", came
    assert came.reason == Reason.VALUE


EXACT = {
    "a difference past 4 figures": ("SELECT 12344", "SELECT 12336", "fail"),
    "ids": ("SELECT unnest([100234, 100871])", "SELECT unnest([100199, 100912])", "fail"),
    "integers past 2^53": ("SELECT 9007199254740993", "SELECT 9007199254740992", "fail"),
    "the same integer as a decimal": ("SELECT 9007199254740993", "SELECT 9007199254740993::DECIMAL(38, 2)", "pass"),
    "noise of a sum": ("SELECT 0.3::DOUBLE", "SELECT 0.1::DOUBLE + 0.2::DOUBLE", "pass"),
    "a decimal and a double": ("SELECT 1234.56::DECIMAL(9, 2)", "SELECT 1234.56::DOUBLE", "pass"),
    "a cent": ("SELECT 1234.56::DECIMAL(9, 2)", "SELECT 1234.57::DOUBLE", "fail"),
    "a million million": ("SELECT 1000000000000", "SELECT 999999999999.99999::DOUBLE", "pass"),
    "a number and its text": ("SELECT 12345678901234567890::HUGEINT", "SELECT '12345678901234567890'", "pass"),
    "NaN, infinity and zero": (
        "SELECT 'NaN'::DOUBLE, 'inf'::DOUBLE, 0",
        "SELECT 'NaN'::FLOAT, 'inf'::FLOAT, -0.0::FLOAT",
        "pass",
    ),
    "huge doubles": ("SELECT 1e300::DOUBLE", "SELECT 1e300::DOUBLE", "pass"),
}


@pytest.mark.parametrize(("truth", "answer", "verdict"), EXACT.values(), ids=EXACT)
def test_exact_numbers_are_compared_as_they_are(truth: str, answer: str, verdict: str) -> None:
    assert both_queried(truth, answer, exact=True).verdict == verdict


def test_merged_whole_numbers_are_warned_of() -> None:
    (warning,) = both_queried("SELECT unnest([100234, 100871])", "SELECT unnest([100199, 100912])").warnings
    assert "exact = true" in warning
    assert both_queried("SELECT unnest([100234, 100871])", "SELECT unnest([100871, 100234])").warnings == ()


def test_two_empty_results_pass_with_a_warning() -> None:
    (warning,) = both_queried("SELECT 1 AS x WHERE false", "SELECT 1 AS y WHERE false").warnings
    assert "both results are empty" in warning


def test_columns_may_have_one_name() -> None:
    assert both_queried("SELECT 1 AS x, 2 AS x", "SELECT 2 AS x, 1 AS x, 3 AS x").verdict == "pass"


def test_a_signaling_nan_and_nested_text_end_no_comparison() -> None:
    from decimal import Decimal

    deep = "[" * 100_000
    assert small(table([(Decimal("sNaN"), deep)], types=("", "JSON")), table([(float("nan"), deep)])).verdict == "pass"


def test_numbers_of_other_packages_are_numbers() -> None:
    import numpy as np

    assert small(table([(1,), (2,)]), table([(np.int64(2),), (np.float32(1),)])).verdict == "pass"


def test_values_of_several_kinds_in_one_column_are_compared_each_by_its_own() -> None:
    rows = [(1,), ("1",), (None,), (b"1",)]
    assert small(table(rows), table([(b"1",), (1.0,), ("1",), (None,)])).verdict == "pass"
    assert small(table(rows), table([("1",), ("1",), (None,), (b"1",)])).verdict == "fail"


ODD = "SELECT INTERVAL '1 month', '101'::BIT, MAP {'x': 1}, [1, 2], '{\"a\": 1}'::JSON, DATE '2024-01-01', 2, 'x'"


def test_one_result_may_be_rows_and_the_other_arrow() -> None:
    (rows, arrow) = queried(ODD)
    for truth, answer in ((rows, arrow), (arrow, rows), (arrow, arrow), (rows, rows)):
        assert compare_results(truth, answer).verdict == "pass"


def test_large_rows_of_several_kinds_are_compared_in_python() -> None:
    rows = [(at, at if at % 2 else f"x{at}") for at in range(30_000)]
    assert compare_results(table(rows), table(rows[::-1])).verdict == "pass"
    assert compare_results(table(rows), table([*rows[1:], (0, 0)])).verdict == "fail"
