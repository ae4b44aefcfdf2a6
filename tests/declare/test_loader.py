"""Eval files are found and imported: each under its own name, in a package of its folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from reeval.declare.loader import find_eval_files, load_file, load_files
from reeval.errors import DeclarationError


def test_files_are_found_sorted_and_once(project: Any) -> None:
    for path in ("evals/b.eval.py", "evals/a/z.eval.py", "evals/a/helpers.py", "evals/.venv/c.eval.py", "x.eval.py"):
        project.write(path, "")
    found = find_eval_files(project.root, ["evals/**/*.eval.py", "evals/*.eval.py"])
    assert found == ("evals/a/z.eval.py", "evals/b.eval.py")
    assert find_eval_files(project.root, ["nothing/**/*.eval.py"]) == ()


@pytest.mark.parametrize("pattern", ["/etc/*.eval.py", "../*.eval.py"])
def test_a_pattern_stays_in_the_project(project: Any, pattern: str) -> None:
    with pytest.raises(DeclarationError, match="leaves the project"):
        find_eval_files(project.root, [pattern])


def test_two_files_with_one_stem_have_their_own_helpers(project: Any) -> None:
    for folder in ("a", "b"):
        project.write(f"evals/{folder}/helpers.py", f"NAME = 'from {folder}'\n")
        project.write(
            f"evals/{folder}/greet.eval.py",
            """\
            from reeval import evaluate
            from .helpers import NAME

            @evaluate(NAME)
            async def body(c): ...
            """,
        )
    specs = load_files(project.root, ["evals/a/greet.eval.py", "evals/b/greet.eval.py"])
    assert [spec.children[0].name for spec in specs] == ["from a", "from b"]


def test_a_helper_with_the_stem_of_an_eval_file_is_not_mixed_up(project: Any) -> None:
    project.write("evals/x_eval.py", "NAME = 'helper'\n")
    project.write("evals/x.py", "NAME = 'other'\n")
    spec = project.one(
        """\
        from reeval import evaluate
        from .x_eval import NAME
        from .x import NAME as OTHER

        @evaluate(f"{NAME} {OTHER}")
        async def body(c): ...
        """
    )
    assert spec.name == "helper other"


def test_helpers_are_reached_from_parents_the_root_and_packages(project: Any) -> None:
    project.write("shared_of_root_x1.py", "ROOT = 'root'\n")
    project.write("evals/up.py", "UP = 'up'\n")
    project.write("evals/deep.v1/__init__.py", "PACKAGE = 'package'\n")
    project.write("evals/deep.v1/near.py", "from . import PACKAGE\nfrom ..up import UP\n")
    project.write(
        "evals/deep.v1/x.eval.py",
        """\
        import shared_of_root_x1
        from reeval import evaluate
        from . import PACKAGE
        from ..up import UP
        from .near import UP as NEAR

        @evaluate(f"{shared_of_root_x1.ROOT} {PACKAGE} {UP} {NEAR}")
        async def body(c): ...
        """,
    )
    spec = load_file(project.root, "evals/deep.v1/x.eval.py")
    assert spec.children[0].name == "root package up up"  # type: ignore[union-attr]


def test_only_the_root_is_put_on_the_path(project: Any) -> None:
    before = list(sys.path)
    project.load("", "evals/deep/x.eval.py")
    assert set(sys.path) - set(before) == {str(project.root)}


def test_a_dataclass_with_string_annotations_works(project: Any) -> None:
    spec = project.one(
        """\
        from __future__ import annotations
        from dataclasses import dataclass
        from typing import ClassVar
        from reeval import evaluate

        @dataclass
        class Case:
            name: str
            kind: ClassVar[str] = "person"

        @evaluate.each([Case("Ada")], "greets {name}")
        async def body(c, case: Case): ...
        """
    )
    assert spec.cases[0].key == "greets Ada"


def test_an_unchanged_file_is_loaded_once_and_a_changed_one_again(project: Any) -> None:
    first = project.load("from reeval import evaluate\nevaluate.todo('one')\n")
    assert load_file(project.root, "evals/x.eval.py") is first
    second = project.load("from reeval import evaluate\nevaluate.todo('one')\nevaluate.todo('two')\n")
    assert [child.name for child in second.children] == ["one", "two"]


def test_a_file_that_does_not_import_is_reported_with_its_traceback(project: Any) -> None:
    project.write("evals/broken.py", "def read():\n    return {}['key']\n")
    assert project.refusal("from .broken import read\n\nread()\n") == (
        "evals/x.eval.py: the file does not import\n"
        "Traceback (most recent call last):\n"
        '  File "evals/x.eval.py", line 3, in <module>\n'
        "    read()\n"
        '  File "evals/broken.py", line 2, in read\n'
        "    return {}['key']\n"
        "KeyError: 'key'"
    )


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("import nothing_of_that_name\n", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("def f(:\n", "SyntaxError: invalid syntax"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        ("from reeval import evaluat\n", "ImportError: cannot import name 'evaluat' from 'reeval'"),
        ("assert 1 == 2\n", "AssertionError: 1 == 2"),
        ("x = '\0'\n", "SyntaxError: source code string cannot contain null bytes"),
    ],
    ids=["import", "syntax", "exit", "name", "assert", "null byte"],
)
def test_whatever_a_file_raises_is_reported(project: Any, text: str, end: str) -> None:
    report = project.refusal(text)
    assert report.startswith("evals/x.eval.py: the file does not import\n")
    assert report.splitlines()[-1].startswith(end)
    assert "importlib" not in report
    assert "ast.py" not in report


def test_all_bad_files_are_reported_together(project: Any) -> None:
    project.write("evals/a.eval.py", "import nothing_of_that_name\n")
    project.write("evals/b.eval.py", "from reeval import evaluate\nevaluate.todo('fine')\n")
    project.write("evals/c.eval.py", "from reeval import evaluate\nevaluate.todo('')\n")
    with pytest.raises(DeclarationError) as caught:
        load_files(project.root, [f"evals/{name}.eval.py" for name in "abcd"])
    parts = str(caught.value).split("\n\n")
    assert [part.splitlines()[0] for part in parts] == [
        "evals/a.eval.py: the file does not import",
        "evals/c.eval.py:2: evaluate.todo(''): give it a name",
        "evals/d.eval.py: No such file or directory",
    ]


def test_a_file_that_failed_leaves_no_module_behind(project: Any) -> None:
    before = set(sys.modules)
    project.refusal("raise ValueError\n")
    assert not [name for name in set(sys.modules) - before if name.endswith("@eval")]


def test_a_cause_is_part_of_the_traceback(project: Any) -> None:
    text = "try:\n    {}['key']\nexcept KeyError as error:\n    raise ValueError('no key') from error\n"
    report = project.refusal(text)
    assert "KeyError: 'key'" in report
    assert report.endswith("ValueError: no key")


def test_a_root_behind_a_link_is_the_same_root(project: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    link: Path = tmp_path_factory.mktemp("links") / "project"
    link.symlink_to(project.root)
    first = project.load("from reeval import evaluate\nevaluate.todo('one')\n")
    assert load_file(link, "evals/x.eval.py") is first
