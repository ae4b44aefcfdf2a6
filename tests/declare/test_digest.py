"""The digest of an eval's task changes with what it asks and how it grades, and with nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from reeval.declare.source.values import value_digest

BASE = """\
from pathlib import Path
from reeval import environment, evaluate, group, includes, load_text, questions

PROMPT = "Write it."
OTHER = "Never mind."
plain = environment("plain", files={"a": "b"})
CONFIG = {}
CONFIG["x"] = 1

def grade(text):
    return len(text) > LIMIT

LIMIT = 3

def unrelated():
    return OTHER

@group("g", runs=2)
def g():
    local = "in the group"

    @evaluate("a", timeout=30, environment=plain)
    async def a(c):
        turn = await c.send(PROMPT)
        assert grade(turn.message), local
        assert CONFIG
        c.check(turn.message, includes("it"))

@evaluate("b")
async def b(c):
    await c.send("b")

@group("h")
def h():
    elsewhere = 1

    @evaluate("c")
    async def c_(c):
        await c.send("c")
"""


def replaced(*pairs: tuple[str, str]) -> str:
    text = BASE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    return text


SAME = {
    "a comment": [('PROMPT = "', '# why\nPROMPT = "')],
    "formatting": [("turn = await c.send(PROMPT)", "turn = (await\n            c.send( PROMPT ))")],
    "quotes": [('"Write it."', "'Write it.'")],
    "another eval's body": [('send("b")', 'send("other")')],
    "another eval's name": [('@evaluate("b")', '@evaluate("bb")')],
    "another eval is gone": [('@evaluate("b")\nasync def b(c):\n    await c.send("b")\n', "")],
    "another eval in the group": [
        ('    @evaluate("a"', '    @evaluate("new")\n    async def new(c): ...\n\n    @evaluate("a"')
    ],
    "another group's code": [("elsewhere = 1", "elsewhere = 2")],
    "options": [("timeout=30", "timeout=60, tags=['x']")],
    "the group's options": [("runs=2", "runs=3")],
    "questions beside it": [('    @evaluate("a"', '    @questions("Why?")\n    @evaluate("a"')],
    "what it does not name": [("Never mind.", "Mind.")],
    "the environment": [('{"a": "b"}', '{"a": "changed"}')],
    "the group's name": [('@group("g"', '@group("gg"')],
    "an installed package": [("from pathlib import Path", "from pathlib import PurePath")],
    "another name of an import it uses": [("load_text, questions", "questions")],
    "its place": [("from pathlib", "\n\n\nfrom pathlib")],
}
DIFFERENT = {
    "its body": [("assert CONFIG", "assert not CONFIG")],
    "a constant it names": [("Write it.", "Write that.")],
    "a function it names": [("> LIMIT", ">= LIMIT")],
    "what that function names": [("LIMIT = 3", "LIMIT = 4")],
    "the group's own code": [("in the group", "in this group")],
    "an item of what it names": [('CONFIG["x"] = 1', 'CONFIG["x"] = 2')],
    "a call on what it names": [('CONFIG["x"] = 1', 'CONFIG["x"] = 1\nCONFIG.update(y=2)')],
    "its name": [('@evaluate("a"', '@evaluate("a2"')],
    "its kind": [("timeout=30", "timeout=30, scored=True")],
    "a decorator of its own": [
        ("LIMIT = 3", "LIMIT = 3\ndef wrap(function):\n    return function"),
        ("    async def a(c)", "    @wrap\n    async def a(c)"),
    ],
}


@pytest.mark.parametrize("pairs", SAME.values(), ids=SAME)
def test_a_task_does_not_change_with(task: Callable[..., str], pairs: list[tuple[str, str]]) -> None:
    assert task(replaced(*pairs)) == task(BASE)


@pytest.mark.parametrize("pairs", DIFFERENT.values(), ids=DIFFERENT)
def test_a_task_changes_with(task: Callable[..., str], pairs: list[tuple[str, str]]) -> None:
    text = replaced(*pairs)
    assert task(text, "a2" if "a2" in text else "a") != task(BASE)


EACH = """\
from dataclasses import dataclass
from reeval import evaluate

@dataclass
class Case:
    name: str
    n: int

@evaluate.each([Case("Ada", 1), Case("Bob", 2)], "greets {name}")
async def body(c, case): ...
"""


def test_cases_are_part_of_the_task(task: Callable[..., str]) -> None:
    name = "greets {name}"
    before = task(EACH, name)
    assert task(EACH.replace("2)]", "3)]"), name) != before
    assert task(EACH.replace('Case("Bob", 2)', 'Case("Bob", 2), Case("Cy", 3)'), name) != before
    assert task(EACH.replace("@dataclass", "@dataclass(frozen=True)"), name) == before


IMPORTS = """\
from reeval import evaluate
from .direct import check
from . import for_others, effect

@evaluate("a")
async def a(c):
    check()

@evaluate("b")
async def b(c):
    for_others.check()
"""


def imported(project: Any, number: int, **changed: str) -> str:
    """The task of ``a`` in a folder of its own, as modules are imported once in a process."""
    folder = f"evals/n{number}"
    files = {
        "direct": "from .indirect import DEEP\ndef check():\n    return DEEP\n",
        "indirect": "DEEP = 1\n",
        "for_others": "def check(): ...\n",
        "effect": "import sys\n",
        "__init__": "",
    }
    for name, text in {**files, **changed}.items():
        project.write(f"{folder}/{name}.py", text)
    spec = project.load(IMPORTS, f"{folder}/x.eval.py")
    return next(child.task for child in spec.children if child.name == "a")


def test_what_the_body_imports_from_the_project_is_part_of_the_task(tmp_path_factory: Any) -> None:
    from tests.declare.conftest import Project

    def fresh(**changed: str) -> str:
        return imported(Project(tmp_path_factory.mktemp("p")), 1, **changed)

    before = fresh()
    assert fresh() == before
    assert fresh(direct="# a comment\nfrom .indirect import DEEP\ndef check():\n    return DEEP\n") == before
    assert fresh(for_others="def check(): return 1\n") == before
    assert fresh(direct="from .indirect import DEEP\ndef check():\n    return not DEEP\n") != before
    assert fresh(indirect="DEEP = 2\n") != before
    assert fresh(effect="import os\n") != before, "imported for its effect, as nothing names it"


def test_a_module_imported_inside_the_body_is_part_of_the_task(project: Any) -> None:
    def with_late(text: str, number: int) -> str:
        project.write(f"late_{number}.py", text)
        body = f"from reeval import evaluate\n@evaluate('a')\nasync def a(c):\n    import late_{number} as late\n"
        return str(project.one(body).task)

    assert (
        with_late("A = 1\n", 1) != project.one("from reeval import evaluate\n@evaluate('a')\nasync def a(c): ...").task
    )
    one = project.one("from reeval import evaluate\n@evaluate('a')\nasync def a(c):\n    import late_1 as late\n").task
    project.write("late_1.py", "A = 22\n")
    project.write("evals/x.eval.py", "")
    project.one("from reeval import evaluate\n@evaluate('b')\nasync def a(c): ...")
    assert (
        project.one("from reeval import evaluate\n@evaluate('a')\nasync def a(c):\n    import late_1 as late\n").task
        != one
    )


LOADS = """\
from reeval import evaluate, load_text

HIDDEN = load_text("hidden.txt")
OTHER = load_text("other.txt")

@evaluate("a")
async def a(c):
    assert HIDDEN

@evaluate("b")
async def b(c):
    assert OTHER
"""


def test_loaded_files_are_part_of_the_task_that_names_them(project: Any) -> None:
    def both(hidden: str, other: str) -> tuple[str, str]:
        project.write("hidden.txt", hidden)
        project.write("other.txt", other)
        project.load("")  # so that the eval file itself is read again
        evals = project.evals(LOADS)
        return evals["a"].task, evals["b"].task

    first, other = both("1", "1"), both("2", "1")
    assert first[0] != other[0]
    assert first[1] == other[1]


def test_what_a_helper_loaded_while_it_was_imported_is_known_to_the_second_file_as_well(project: Any) -> None:
    project.write("hidden.txt", "1")
    project.write("evals/helper.py", "from reeval import load_text\nHIDDEN = load_text('hidden.txt')\n")
    text = (
        "from reeval import evaluate\nfrom .helper import HIDDEN\n@evaluate('a')\nasync def a(c):\n    assert HIDDEN\n"
    )
    first, second = project.load(text, "evals/x.eval.py"), project.load(text, "evals/y.eval.py")
    assert first.children[0].task == second.children[0].task
    without = text.replace("assert HIDDEN", "assert True")
    assert project.load(without, "evals/z.eval.py").children[0].task != first.children[0].task


def test_a_helper_s_load_for_an_eval_is_that_eval_s(project: Any) -> None:
    project.write("evals/reading.py", "from reeval import load_text\ndef read(name):\n    return load_text(name)\n")
    text = """\
        from reeval import evaluate
        from .reading import read

        A, B = read("a.txt"), None
        B = read("b.txt")

        @evaluate("a")
        async def a(c):
            assert A
        """

    def with_files(a: str, b: str) -> str:
        project.write("a.txt", a)
        project.write("b.txt", b)
        project.load("")
        return str(project.one(text).task)

    first = with_files("1", "1")
    assert with_files("2", "1") != first
    assert with_files("1", "2") == first


def test_a_star_import_of_the_project_matters_to_everyone(tmp_path_factory: Any) -> None:
    from tests.declare.conftest import Project

    def fresh(value: int) -> str:
        project = Project(tmp_path_factory.mktemp("p"))
        project.write("evals/names.py", f"VALUE = {value}\n")
        text = "from reeval import evaluate\nfrom .names import *\n@evaluate('a')\nasync def a(c):\n    assert VALUE\n"
        return str(project.one(text).task)

    assert fresh(1) == fresh(1)
    assert fresh(1) != fresh(2)


def test_a_lambda_and_a_foreign_body_have_tasks_too(project: Any) -> None:
    project.write("evals/foreign.py", "LIMIT = 1\nasync def body(c):\n    assert LIMIT\n")
    evals = project.evals(
        """\
        from reeval import evaluate
        from .foreign import body

        evaluate("foreign")(body)
        evaluate("lambda")(lambda c: None)
        evaluate("other lambda")(lambda c: 1)
        """
    )
    tasks = {spec.task for spec in evals.values()}
    assert len(tasks) == 3
    assert all(len(task) == 64 for task in tasks)


def test_a_task_is_the_same_in_a_fresh_process_and_in_another_place(project: Any, tmp_path_factory: Any) -> None:
    from tests.declare.conftest import Project

    here = project.evals(BASE)["a"].task
    there = Project(tmp_path_factory.mktemp("there"))
    there.write("evals/x.eval.py", BASE)
    script = (
        "import sys\nfrom pathlib import Path\nfrom reeval.declare.loader import load_file\n"
        "print(load_file(Path(sys.argv[1]), 'evals/x.eval.py').children[0].children[0].task)\n"
    )
    done = subprocess.run(
        [sys.executable, "-O", "-c", script, there.root],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7"},
    )
    assert done.stdout.strip() == here


class Plain:
    def __init__(self) -> None:
        self.value = 1


def test_values_are_named_by_content() -> None:
    assert value_digest({"a": [1, {2, 3}]}) == value_digest({"a": (1, {3, 2})})
    assert value_digest(Plain()) == value_digest(Plain())
    assert value_digest(test_values_are_named_by_content) != value_digest(imported)
    different = [None, 0, False, 0.0, "", "0", b"", [], {}, [[]], [0], {"a": 1}, {"a": 2}, {"b": 1}, ["a", "b"], ["ab"]]
    assert len({value_digest(value) for value in different}) == len(different)


def test_a_value_inside_itself_has_a_digest() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert value_digest(loop)
