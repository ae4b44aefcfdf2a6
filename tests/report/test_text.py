"""Text of agents and authors: escaped, measured in cells, cut and wrapped."""

from __future__ import annotations

import pytest

from reeval.report.text import bounded, cut, escape, one_line, pad, printable, width, wrap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("名前 ünï", "名前 ünï"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x00\x07\x7f\x9b", "\\x00\\x07\\x7f\\x9b"),
        ("safe\u202egnp.exe", "safe\\u202egnp.exe"),
        ("\u2028\u2066", "\\u2028\\u2066"),
        ("\udcff", "\\udcff"),
        ("no\u00a0break", "no break"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_what_is_not_printable_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_every_character_below_300_is_shown_without_control_characters() -> None:
    assert escape("".join(map(chr, range(300)))).isprintable()


@pytest.mark.parametrize(("text", "cells"), [("abc", 3), ("名前", 4), ("e\u0301", 1), ("👩\u200d💻", 4), ("", 0)])
def test_width_counts_cells(text: str, cells: int) -> None:
    assert width(text) == cells


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [
        ("abcdef", None, "abcdef"),
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("名前名前", 4, "名…"),
        ("名前名前", 5, "名前…"),
        ("abc", 0, ""),
        ("abc", 1, "…"),
    ],
)
def test_cut_never_exceeds_the_cells(text: str, cells: int | None, shown: str) -> None:
    assert cut(text, cells) == shown
    assert cells is None or width(cut(text, cells)) <= cells


def test_one_line_of_a_huge_text_is_cheap_and_short() -> None:
    assert one_line("\x1b" * 100_000_000, 10) == "\\x1b\\x1b\\…"


def test_pad_fills_to_cells_not_characters() -> None:
    assert pad("名前", 6) == "名前  "
    assert pad("7", 3, right=True) == "  7"


@pytest.mark.parametrize(
    ("text", "cells", "lines"),
    [
        ("one two three", 8, ["one two", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("a abcdefghij b", 4, ["a", "abcd", "efgh", "ij b"]),
        ("名前名前", 5, ["名前", "名前"]),
        ("名", 1, ["名"]),
        ("short", None, ["short"]),
        ("", 4, [""]),
    ],
)
def test_wrap_breaks_between_words_where_there_are_any(text: str, cells: int | None, lines: list[str]) -> None:
    assert wrap(text, cells) == lines


def test_wrap_loses_no_word() -> None:
    text = " ".join(f"word{index}" for index in range(50))
    assert " ".join(wrap(text, 17)) == text


def test_lines_are_escaped_and_tabs_expanded() -> None:
    assert printable("a\tb\r\nc\rd") == ["a    b", "c\\rd"]


def test_bounded_shows_the_head_or_the_tail_and_counts_the_rest() -> None:
    text = "\n".join(map(str, range(20)))
    assert bounded(text, lines=3, cells=None) == ["0", "1", "2", "… 17 more lines"]
    assert bounded(text, lines=2, cells=None, tail=True) == ["… 18 more lines", "18", "19"]
    assert bounded("0\n1\n2", lines=2, cells=None) == ["0", "1", "… 1 more line"]
    assert bounded("0\n1\n", lines=2, cells=None) == ["0", "1"]


def test_bounded_never_works_on_what_it_cannot_show() -> None:
    shown = bounded("x" * 50_000_000, lines=2, cells=40)
    assert shown == ["x" * 40, "x" * 40, "… more"]
