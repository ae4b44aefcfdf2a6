from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from reeval.environments.cache import DAY, CachedTree, limited, removable, remove_trees, trees
from reeval.environments.prepare import TREES, prepare
from reeval.schema.environment import Environment, Layout
from reeval.shelf import SETUPS, UNFINISHED, hold, making, put

NOW = 10 * DAY


def tree(name: str, size: int, days: float) -> CachedTree:
    return CachedTree(path=Path(name), bytes=size, used=NOW - days * DAY)


CASES = [
    ([], 0, ""),
    ([tree("a", 5, 2)], 0, "a"),
    ([tree("a", 5, 0.5)], 0, ""),
    ([tree("a", 5, 2)], 5, ""),
    ([tree("a", 5, 2)], 4, "a"),
    ([tree("old", 5, 3), tree("new", 5, 2)], 5, "old"),
    ([tree("old", 1, 3), tree("new", 5, 2), tree("live", 5, 0)], 10, "old"),
    ([tree("old", 1, 3), tree("live", 50, 0)], 10, "old"),
    ([tree(f"{UNFINISHED}a", 5, 2), tree(f"{UNFINISHED}b", 5, 0)], 100, f"{UNFINISHED}a"),
]


@pytest.mark.parametrize(("listed", "keep", "gone"), CASES)
def test_the_least_recently_used_go_first_and_what_may_be_in_use_stays(
    listed: list[CachedTree], keep: int, gone: str
) -> None:
    assert " ".join(one.path.name for one in removable(listed, now=NOW, keep=keep)) == gone
    assert removable(reversed(listed), now=NOW, keep=keep) == removable(listed, now=NOW, keep=keep)


def built(cache: Path, text: str, *, age: float) -> Path:
    made = prepare(Environment(name="e", files={"a": text, "~/b": text}), Layout(), cache, cache)
    path = cache / TREES / made.digest
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def test_trees_are_listed_with_size_and_age(tmp_path: Path) -> None:
    assert trees(tmp_path) == ()
    new, old = built(tmp_path, "12345", age=10), built(tmp_path, "123", age=100)
    assert [(one.path, one.bytes, one.finished) for one in trees(tmp_path)] == [(old, 6, True), (new, 10, True)]


def test_removing_takes_old_trees_and_what_killed_runs_left(tmp_path: Path) -> None:
    live, old = built(tmp_path, "live", age=10), built(tmp_path, "old", age=2 * DAY)
    left = tmp_path / TREES / f"{UNFINISHED}xyz"
    (left / "workspace").mkdir(parents=True)
    os.utime(left, (1, 1))
    gone = remove_trees(tmp_path)
    assert {one.path for one in gone} == {old, left}
    assert list((tmp_path / TREES).iterdir()) == [live]
    assert remove_trees(tmp_path) == ()


def test_a_tree_that_was_removed_is_built_again(tmp_path: Path) -> None:
    path = built(tmp_path, "x", age=2 * DAY)
    remove_trees(tmp_path)
    assert built(tmp_path, "x", age=0) == path
    assert (path / "workspace" / "a").read_text() == "x"


def test_what_is_not_finished_goes_after_a_day_whatever_else_does() -> None:
    left, live = tree(f"{UNFINISHED}a", 5, 2), tree(f"{UNFINISHED}b", 5, 0)
    assert removable([left, live], now=NOW, keep=100, unused=0) == (left,)


def test_a_limit_takes_the_least_recently_used_and_never_what_somebody_holds(tmp_path: Path) -> None:
    oldest, old, new = (built(tmp_path, text, age=age) for text, age in (("1234", 400), ("123", 300), ("12345", 10)))
    held = hold(oldest)
    assert held is not None
    os.utime(oldest, (1, 1))
    assert limited(tmp_path, 24) == ()
    assert [one.path for one in limited(tmp_path, 12)] == [old]
    assert [one.path for one in limited(tmp_path, 0)] == [new]
    held.release()
    assert len(limited(tmp_path, 0)) == 1
    assert list((tmp_path / TREES).iterdir()) == []


def test_what_setup_left_is_part_of_the_cache(tmp_path: Path) -> None:
    with making(tmp_path / SETUPS) as building:
        (building / "f").write_text("123")
        put(building, tmp_path / SETUPS / "a")
    (one,) = trees(tmp_path)
    assert (one.bytes, one.what) == (3, "what cached setup steps left")
