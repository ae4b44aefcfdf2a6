"""The search for the map of columns: held to trying every one, and bounded where that is too many."""

from __future__ import annotations

import random
import time
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest

from reeval.grade.rows.search import matching
from reeval.schema.data.results import Column, ResultTable
from reeval.schema.recorded.data import Reason
from tests.grade.rows.both import by_hand, large, small, table

Rows = list[tuple[Any, ...]]
Edges = list[tuple[int, int]]


def in_arrow(rows: Rows, width: int) -> ResultTable:
    columns = [pa.array([row[at] for row in rows], pa.int64()) for at in range(width)]
    names = [f"c{at}" for at in range(width)]
    return ResultTable(
        columns=tuple(Column(name=name, type="BIGINT") for name in names), arrow=pa.table(columns, names=names)
    )


def random_pair(draw: random.Random) -> tuple[Rows, Rows, int, int]:
    """A truth, and an answer that is right, nearly right or anything."""
    width, count, values = draw.randint(1, 4), draw.randint(1, 7), draw.randint(1, 4)
    wide = draw.randint(width, 5)
    cells = [*range(1, values + 1), None]
    truth = [tuple(draw.choice(cells) for _ in range(width)) for _ in range(count)]
    kind = draw.random()
    if kind < 0.4:
        rows = draw.choice([count, count, count + 1, max(count - 1, 1)])
        return truth, [tuple(draw.choice(cells) for _ in range(wide)) for _ in range(rows)], width, wide
    order = draw.sample(range(wide), wide)
    answer = [[*row, *(draw.choice(cells) for _ in range(wide - width))] for row in draw.sample(truth, count)]
    answer = [[row[at] for at in order] for row in answer]
    if kind < 0.7:
        one, other, column = draw.randrange(count), draw.randrange(count), draw.randrange(wide)
        answer[one][column], answer[other][column] = answer[other][column], answer[one][column]
    return truth, [tuple(row) for row in answer], width, wide


def test_small_results_are_judged_as_by_trying_every_map() -> None:
    draw = random.Random(7)
    passed = 0
    for _ in range(3000):
        truth, answer, width, wide = random_pair(draw)
        came = small(table(truth), table(answer))
        assert (came.verdict == "pass") == by_hand(truth, answer, width, wide), (truth, answer, came)
        assert came.verdict != "review"
        passed += came.verdict == "pass"
    assert 500 < passed < 2500


def test_both_engines_say_the_same_of_random_results() -> None:
    draw = random.Random(8)
    for _ in range(80):
        truth, answer, width, wide = random_pair(draw)
        assert large(in_arrow(truth, width), in_arrow(answer, wide)) == small(table(truth), table(answer))


def test_a_pass_says_which_column_is_which() -> None:
    came = small(table([("a", 1), ("b", 2)]), table([(9, 1, "a"), (9, 2, "b")]))
    assert came.pairs == ((0, 2), (1, 1))


# --- results on which the search is hard ---------------------------------------------------------------


def graph(edges: Edges, vertices: int) -> Rows:
    """A row for each vertex, a column for each edge: a map of columns is a way to find one graph in the other."""
    return [tuple(int(vertex in edge) for edge in edges) for vertex in range(vertices)]


def cycle(length: int) -> Edges:
    return [(at, (at + 1) % length) for at in range(length)]


PETERSEN = [*cycle(5), *((at, at + 5) for at in range(5)), *((5 + at, 5 + (at + 2) % 5) for at in range(5))]
CUBE = [(one, one ^ bit) for one in range(8) for bit in (1, 2, 4) if one < one ^ bit]


@pytest.mark.parametrize("compare", [small, large])
def test_a_search_without_end_is_a_review_and_never_a_fail(compare: Any) -> None:
    started = time.monotonic()
    truth, answer = graph(cycle(10), 10), graph(PETERSEN, 10)
    came = compare(in_arrow(truth, 10), in_arrow(answer, 15))
    assert time.monotonic() - started < 120
    assert came.verdict in {"review", "fail"}
    if came.verdict == "review":
        assert came.reason == Reason.UNDECIDED
        assert "budget" in came.analysis


@pytest.mark.parametrize("compare", [small, large])
def test_a_cycle_is_found_in_a_cube(compare: Any) -> None:
    assert compare(in_arrow(graph(cycle(8), 8), 8), in_arrow(graph(CUBE, 8), 12)).verdict == "pass"


def test_every_cycle_is_found_in_the_complete_graph() -> None:
    for length in range(4, 9):
        complete = list(combinations(range(length), 2))
        assert small(table(graph(cycle(length), length)), table(graph(complete, length))).verdict == "pass"


@pytest.mark.parametrize("size", [5, 40, 66])
def test_one_hot_columns_are_paired_without_trying_all_orders(size: int) -> None:
    rows = [tuple(int(row == column) for column in range(size)) for row in range(size)]
    assert small(table(rows), table([row[::-1] for row in rows])).verdict == "pass"


def test_a_column_many_times_over_is_tried_once() -> None:
    draw = random.Random(1)
    rows = [(draw.randrange(3), draw.randrange(3), draw.randrange(3)) for _ in range(40)]
    shuffled = draw.sample(rows, 40)
    answer = [(*[a] * 8, *[b] * 8, *[c] * 8) for a, b, c in shuffled]
    truth = [(*[a] * 6, *[b] * 6, *[c] * 6) for a, b, c in rows]
    assert small(table(truth), table(answer)).verdict == "pass"
    wrong = [row if at else (*row[:16], *[(row[16] + 1) % 3] * 8) for at, row in enumerate(answer)]
    assert small(table(truth), table(wrong)).verdict == "fail"


def test_flags_with_equal_counts_are_told_apart_by_their_rows() -> None:
    draw = random.Random(2)
    columns = [draw.sample([True] * 50 + [False] * 50, 100) for _ in range(5)]
    rows = list(zip(*columns, strict=True))
    answer = [(row[3], row[1], row[4], row[0], row[2]) for row in draw.sample(rows, 100)]
    assert small(table(rows), table(answer)).verdict == "pass"
    assert small(table(rows), table([(*row[:4], not row[4]) for row in answer])).verdict == "fail"


def test_wide_results_are_compared() -> None:
    draw = random.Random(3)
    rows = [tuple(draw.randrange(50) for _ in range(66)) for _ in range(100)]
    order = draw.sample(range(66), 66)
    assert small(table(rows), table([tuple(row[at] for at in order) for row in reversed(rows)])).verdict == "pass"


def test_hundreds_of_columns_are_compared_and_thousands_come_to_an_end() -> None:
    row = tuple(range(400))
    assert small(table([row]), table([row[::-1]])).verdict == "pass"
    assert small(table([(1,) * 250]), table([(1,) * 250])).verdict in {"pass", "review"}
    assert small(table([(1,) * 3000]), table([(1,) * 3000])).verdict == "review"


@pytest.mark.parametrize(
    ("candidates", "size"),
    [
        ({0: (0, 1), 1: (0,)}, 2),
        ({0: (0,), 1: (0,)}, 1),
        ({0: (0, 1), 1: (1, 2), 2: (0,)}, 3),
        ({0: (), 1: (0,)}, 1),
        ({at: tuple(range(at + 1)) for at in reversed(range(300))}, 300),
        ({}, 0),
    ],
)
def test_a_matching_is_as_large_as_can_be(candidates: dict[int, tuple[int, ...]], size: int) -> None:
    found = matching(candidates)
    assert len(found) == len(set(found.values())) == size
    assert all(answer in candidates[truth] for truth, answer in found.items())


# --- what may be done to an answer -----------------------------------------------------------------------


def sample(draw: random.Random) -> Rows:
    return [
        (at, f"name {at % 7}", draw.random() * 1000, draw.choice([None, 1, 2]), draw.randrange(1000, 9999))
        for at in range(40)
    ]


HARMLESS = {
    "rows in another order": lambda draw, rows: draw.sample(rows, len(rows)),
    "columns in another order": lambda draw, rows: [row[::-1] for row in rows],
    "more columns": lambda draw, rows: [(draw.random(), *row, "more") for row in rows],
    "whole numbers as doubles": lambda draw, rows: [(float(row[0]), *row[1:]) for row in rows],
    "noise": lambda draw, rows: [(*row[:2], row[2] * (1 + draw.uniform(-1, 1) * 1e-13), *row[3:]) for row in rows],
}
HARMFUL = {
    "one column moved by a row": lambda draw, rows: [
        (*row[:2], rows[at - 1][2], *row[3:]) for at, row in enumerate(rows)
    ],
    "a row less": lambda draw, rows: rows[1:],
    "a row twice": lambda draw, rows: [*rows, rows[0]],
    "a row twice for another": lambda draw, rows: [*rows[1:], rows[1]],
    "another unit": lambda draw, rows: [(*row[:2], row[2] * 100, *row[3:]) for row in rows],
    "0 for NULL": lambda draw, rows: [(*row[:3], row[3] or 0, row[4]) for row in rows],
    "a column less": lambda draw, rows: [row[1:] for row in rows],
}


@pytest.mark.parametrize("done", HARMLESS.values(), ids=HARMLESS)
def test_what_does_not_matter_passes(done: Any) -> None:
    for seed in range(20):
        draw = random.Random(seed)
        rows = sample(draw)
        assert small(table(rows), table(done(draw, rows))).verdict == "pass"


@pytest.mark.parametrize("done", HARMFUL.values(), ids=HARMFUL)
def test_what_matters_fails(done: Any) -> None:
    for seed in range(20):
        draw = random.Random(seed)
        rows = sample(draw)
        assert small(table(rows), table(done(draw, rows))).verdict == "fail"
