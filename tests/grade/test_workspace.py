"""The checks on what the agent changed."""

from __future__ import annotations

from typing import Any

import pytest

from reeval.authoring import Match
from reeval.errors import UsageError
from reeval.grade.observing.observe import observe
from reeval.grade.workspace import changed_paths, file_changed, file_deleted, net_changes, no_changes
from reeval.schema.transcript import Changes, FileChange


def turn(**files: str) -> Changes:
    return made({name.replace("__", "/").replace("_", "."): status for name, status in files.items()})


def made(files: dict[str, Any]) -> Changes:
    return Changes(files=tuple(FileChange(path=path, status=status) for path, status in files.items()))


ONE = [turn(src__app_py="modified", src__new_py="added", old_txt="deleted")]


@pytest.mark.parametrize(
    ("match", "turns", "status"),
    [
        (file_changed("src/app.py"), ONE, "matched"),
        (file_changed("app.py"), ONE, "mismatched"),
        (file_changed("*.py"), ONE, "matched"),
        (file_changed("src/"), ONE, "matched"),
        (file_changed("src"), ONE, "mismatched"),
        (file_changed("**/new.py"), ONE, "matched"),
        (file_changed("**/app.py"), ONE, "matched"),
        (file_changed("src/*.js"), ONE, "mismatched"),
        (file_changed("App.py"), ONE, "mismatched"),
        (file_changed("old.txt"), ONE, "mismatched"),
        (file_changed("old.txt", status="deleted"), ONE, "matched"),
        (file_changed("src/*.py", status="added"), ONE, "matched"),
        (file_changed("src/app.py", status="added"), ONE, "mismatched"),
        (file_changed("a"), [], "mismatched"),
        (file_changed("a"), [Changes()], "mismatched"),
        (file_deleted("*.txt"), ONE, "matched"),
        (file_deleted("src/app.py"), ONE, "mismatched"),
        (changed_paths(["old.txt", "src/app.py", "src/new.py"]), ONE, "matched"),
        (changed_paths(("src/new.py", "src/app.py", "old.txt", "old.txt")), ONE, "matched"),
        (changed_paths(["src/app.py", "src/new.py"]), ONE, "mismatched"),
        (changed_paths(["old.txt", "src/app.py", "src/new.py", "x"]), ONE, "mismatched"),
        (changed_paths(["src/*.py", "old.txt"]), ONE, "mismatched"),
        (changed_paths(["[id].py"]), [made({"[id].py": "added"})], "matched"),
        (changed_paths([]), [Changes()], "matched"),
        (no_changes(), ONE, "mismatched"),
        (no_changes(), [Changes(), Changes()], "matched"),
        (no_changes(), [], "matched"),
        (no_changes(), [turn(a="added"), turn(a="deleted")], "matched"),
        (file_changed("a", status="added"), [turn(a="added"), turn(a="modified")], "matched"),
        (file_deleted("a"), [turn(a="deleted"), turn(a="added")], "mismatched"),
        (file_deleted("a"), [turn(a="added"), turn(a="deleted")], "mismatched"),
        (file_deleted("a"), [turn(a="modified"), turn(a="deleted")], "matched"),
        (file_changed("odd name\n.txt"), [made({"odd name\n.txt": "added"})], "matched"),
        (file_changed("*.txt"), [made({"\udcff.txt": "added"})], "matched"),
        (file_changed("a\\b"), [made({"a\\b": "added"})], "matched"),
        (file_changed("~a"), [made({"~a": "added"})], "matched"),
    ],
)
def test_what_holds_of_the_changes_of_all_turns(match: Match, turns: list[Changes], status: str) -> None:
    assert observe(match, turns).status == status


@pytest.mark.parametrize(
    ("steps", "net"),
    [
        (["added"], "added"),
        (["added", "modified"], "added"),
        (["added", "deleted"], None),
        (["added", "deleted", "added"], "added"),
        (["modified", "modified"], "modified"),
        (["modified", "deleted"], "deleted"),
        (["deleted", "added"], "modified"),
        (["deleted", "added", "deleted"], "deleted"),
    ],
)
def test_turns_fold_into_what_changed_in_the_end(steps: list[str], net: str | None) -> None:
    assert net_changes([turn(a=step) for step in steps]) == ({} if net is None else {"a": net})


@pytest.mark.parametrize("path", ["", "/etc/passwd", "~/a", "../a", "a/../b", "./a", "a//b", ".", "..", "a\0", 3, None])
@pytest.mark.parametrize("make", [file_changed, file_deleted, lambda path: changed_paths([path])])
def test_only_canonical_relative_paths_are_taken(make: Any, path: Any) -> None:
    with pytest.raises(UsageError, match=r"^(file_changed|file_deleted|changed_paths): "):
        make(path)


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("file_changed: takes one gitignore-style pattern, got '!a'", lambda: file_changed("!a")),
        ("file_changed: takes one gitignore-style pattern, got '#a'", lambda: file_changed("#a")),
        ("file_changed: takes one gitignore-style pattern, got 'a '", lambda: file_changed("a ")),
        ("file_changed: status is", lambda: file_changed("a", status="gone")),  # type: ignore[arg-type]
        ("changed_paths: takes a list of paths, got 'a'", lambda: changed_paths("a")),
        ("changed_paths: takes a list of paths, got 3", lambda: changed_paths(3)),  # type: ignore[arg-type]
    ],
)
def test_a_check_that_makes_no_sense_is_refused_at_the_call(message: str, make: Any) -> None:
    with pytest.raises(UsageError, match=message):
        make()


@pytest.mark.parametrize(
    ("match", "turns", "message"),
    [
        (
            file_changed("*.js"),
            ONE,
            (
                "expected added or modified: a file that '*.js' names\n"
                "got modified src/app.py, added src/new.py, deleted old.txt"
            ),
        ),
        (file_deleted("*.js"), [], "expected deleted: a file that '*.js' names\ngot no changes"),
        (
            changed_paths(["a", "b"]),
            [turn(a="added", c="added")],
            "expected changes of exactly a, b\nnot changed: b\nchanged as well: added c",
        ),
        (changed_paths([]), [turn(c="added")], "expected changes of exactly nothing\nchanged as well: added c"),
        (
            no_changes(),
            [made({f"{n}.txt": "added" for n in range(50_000)})],
            f"expected no changes\ngot {', '.join(f'added {n}.txt' for n in range(8))} and 49992 more",
        ),
    ],
)
def test_messages_list_what_changed_and_stay_short(match: Match, turns: list[Changes], message: str) -> None:
    assert observe(match, turns).message == message


@pytest.mark.parametrize("value", [None, "a", [1], {"a": "added"}])
def test_anything_but_changes_is_an_error(value: object) -> None:
    assert observe(no_changes(), value).status == "errored"
