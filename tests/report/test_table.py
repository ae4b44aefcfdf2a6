"""Rows of short texts, aligned and fitted."""

from __future__ import annotations

import pytest

from reeval.report.screen.ink import PLAIN, Ink
from reeval.report.screen.table import flow, table
from reeval.report.text import width

HEAD = ["harness", "pass", "tokens"]
ROWS = [["terse", "2 of 2", "3.1k"], ["名前", "12 of 20", "·"]]


def test_columns_are_aligned_by_cells() -> None:
    assert table(HEAD, ROWS, keep=2, indent="  ") == [
        "  harness  pass      tokens",
        "  terse    2 of 2    3.1k",
        "  名前     12 of 20  ·",
    ]


@pytest.mark.parametrize("cells", range(1, 60))
def test_a_table_fits_whatever_the_width(cells: int) -> None:
    rows = [["a very long name of an eval indeed", "名前" * 10, "3.1k"], ["b", "c", "d"]]
    for whole in (0, 1, 2):
        assert all(width(line) <= max(cells, 7) for line in table(HEAD, rows, keep=2, whole=whole, cells=cells))


def test_a_narrow_table_loses_columns_from_the_right_then_cuts_the_widest() -> None:
    rows = [["a very long name", "2 of 2", "3.1k"]]
    assert table(HEAD, rows, keep=2, cells=30) == ["harness           pass", "a very long name  2 of 2"]
    assert table(HEAD, rows, keep=2, cells=20) == ["harness       pass", "a very long…  2 of 2"]
    assert table(HEAD, rows, keep=3, cells=26) == ["harness     pass    tokens", "a very lo…  2 of 2  3.1k"]
    assert table(HEAD, rows, keep=2, cells=10) == ["harne…", "a ver…"]


def test_columns_that_are_of_no_use_when_cut_stay_whole() -> None:
    rows = [["20261130-142501-x7f3", "a very long name", "3.1k"]]
    assert table(HEAD, rows, keep=2, whole=1, cells=30) == [
        "harness               pass",
        "20261130-142501-x7f3  a very …",
    ]
    assert table(HEAD, rows, keep=2, whole=1, cells=24) == ["harness", "20261130-142501-x7f3"]
    assert table(HEAD, rows, keep=2, whole=1, cells=12) == ["harness", "20261130-14…"]


def test_texts_flow_into_as_few_lines_as_fit() -> None:
    parts: list[tuple[str, str | None]] = [("3 running", None), ("10 pass", None), ("1 fail", None)]
    assert flow(parts, " · ", PLAIN, 80) == ["3 running · 10 pass · 1 fail"]
    assert flow(parts, " · ", PLAIN, 20) == ["3 running · 10 pass", "1 fail"]
    assert flow(parts, ", ", PLAIN, 10) == ["3 running,", "10 pass,", "1 fail"]
    assert flow(parts, " · ", PLAIN, None) == ["3 running · 10 pass · 1 fail"]


def test_color_takes_no_room() -> None:
    parts: list[tuple[str, str | None]] = [("10 pass", "pass"), ("1 fail", "fail")]
    assert flow(parts, " · ", Ink(color=True), 16) == ["\x1b[32m10 pass\x1b[0m · \x1b[31m1 fail\x1b[0m"]
