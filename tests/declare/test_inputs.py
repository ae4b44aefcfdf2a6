"""``load_text`` and ``load_json`` read files of the project while a file declares."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reeval import load_json, load_text
from reeval.errors import DeclarationError, UsageError


def test_files_are_read_from_the_root(project: Any) -> None:
    project.write("evals/hidden/test.txt", "hidden\n")
    project.write("evals/hidden/data.json", '{"a": [1]}\n')
    spec = project.one(
        """\
        from reeval import evaluate, load_json, load_text

        TEXT, DATA = load_text("evals/hidden/test.txt"), load_json("evals/hidden/data.json")

        @evaluate.each([(TEXT, DATA)], "a")
        async def body(c, case): ...
        """
    )
    assert spec.cases[0].value == ("hidden\n", {"a": [1]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("load_text('evals/none.txt')", "load_text('evals/none.txt'): there is no file {root}/evals/none.txt; "),
        ("load_text('../x.txt')", "load_text('../x.txt'): {parent}/x.txt is outside the project {root}; "),
        ("load_text('evals')", "load_text('evals'): [Errno 21] Is a directory"),
        ("load_text('evals/binary')", "load_text('evals/binary'): 'utf-8' codec can't decode"),
        ("load_json('evals/odd.json')", "load_json('evals/odd.json'): it is not JSON: Expecting value"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_at_its_line(project: Any, call: str, message: str) -> None:
    project.write("evals/odd.json", "oops")
    (project.root / "evals/binary").write_bytes(b"\xff\xfe\x00")
    report = project.refusal(f"from reeval import load_json, load_text\n\n{call}\n")
    assert report.startswith(f"evals/x.eval.py:3: {message.format(root=project.root, parent=project.root.parent)}")


def test_a_link_out_of_the_project_is_refused(project: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.txt"
    outside.write_text("secret")
    (project.root / "link.txt").symlink_to(outside)
    assert "is outside the project" in project.refusal("from reeval import load_text\nload_text('link.txt')\n")


def test_reading_in_a_body_is_refused(project: Any) -> None:
    project.write("a.txt", "a")
    spec = project.one(
        """\
        from reeval import evaluate, load_text

        @evaluate("a")
        async def body(c):
            load_text("a.txt")
        """
    )
    with pytest.raises(UsageError, match="stands in a body; move it out"):
        asyncio.run(spec.body(None))


def test_outside_of_a_run_paths_start_where_one_stands(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("a.txt", "a")
    project.write("a.json", "[1]")
    monkeypatch.chdir(project.root)
    assert load_text("a.txt") == "a"
    assert load_json("a.json") == [1]
    with pytest.raises(DeclarationError):
        load_text("b.txt")
