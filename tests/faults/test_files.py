"""What an eval file may be, and what is refused before anything starts: exit 2, empty stdout, nothing written."""

from __future__ import annotations

import pytest

from tests.faults.shell import PASSING, Shell

REFUSED: dict[str, tuple[dict[str, str], list[str]]] = {
    "a file that does not import": (
        {"bad": "from reeval import evaluate\nimport nowhere_to_be_found\n", "good": PASSING},
        ["evals/bad.eval.py", "Traceback", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"],
    ),
    "every file that does not import, together": (
        {"one": "1 / 0\n", "two": "def (\n", "three": "raise SystemExit(0)\n"},
        ["evals/one.eval.py", "ZeroDivisionError", "evals/two.eval.py", "SyntaxError", "evals/three.eval.py"],
    ),
    "a loop that declares one body many times": (
        {
            "loop": """
from reeval import equals, evaluate

for name in ["Ada", "Bob"]:
    @evaluate(f"greets {name}")
    async def greets(c):
        c.check(name, equals(name))
"""
        },
        ["evals/loop.eval.py:5: 'greets Bob' has the same body as 'greets Ada'", "evaluate.each"],
    ),
    "two evals with one path": (
        {"twice": PASSING + PASSING.replace("def passes", "def again")},
        ["evals/twice.eval.py", "passes is declared twice, first in line 4"],
    ),
    "a generator body": (
        {"gen": "from reeval import evaluate\n@evaluate('yields')\nasync def yields(c):\n    yield 1\n"},
        ["evals/gen.eval.py:2: yields() is a generator"],
    ),
    "a misspelt option": (
        {"typo": "from reeval import evaluate\n@evaluate('a', run=3)\nasync def a(c): ...\n"},
        ["evals/typo.eval.py:2", "'run'", "did you mean 'runs'?"],
    ),
    "an environment that is nowhere": (
        {"lost": "from reeval import evaluate\n@evaluate('a', environment='plian')\nasync def a(c): ...\n"},
        ["'plian'", "evals/lost.eval.py"],
    ),
}


@pytest.mark.parametrize(("files", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_run_is_refused_before_anything_starts(
    shell: Shell, files: dict[str, str], said: list[str]
) -> None:
    done = shell.set_up(**files).run("run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert [text for text in said if text not in done.stderr] == []
    assert shell.nothing_written()


def test_equal_stems_relative_helpers_and_string_annotations_work_together(shell: Shell) -> None:
    source = """
from __future__ import annotations
from dataclasses import dataclass
from typing import get_type_hints
from reeval import Attempt, equals, evaluate
from .words import GREETING

@dataclass
class Case:
    name: "str"
    greeting: str

@evaluate.each([Case("Ada", GREETING)], "greets {name} in HERE")
async def greets(c: Attempt, case: Case) -> None:
    c.check(get_type_hints(type(case)), equals({"name": str, "greeting": str}))
    c.check(case.greeting, equals("HERE"))
"""
    shell.set_up()
    for place in ("one", "two"):
        shell.write(f"evals/{place}/greet.eval.py", source.replace("HERE", place))
        shell.write(f"evals/{place}/words.py", f"GREETING = {place!r}\n")
    done = shell.run("run")
    assert (done.exit_code, done.stderr) == (0, "")
    assert sorted(one["attempt"] for one in shell.attempts()) == [
        "terse/-/fake[greets-Ada-in-one]#1",
        "terse/-/fake[greets-Ada-in-two]#1",
    ]


def test_what_a_file_prints_while_it_is_loaded_does_not_mix_with_json(shell: Shell) -> None:
    shell.set_up(loud="print('loading')\n" + PASSING)
    done = shell.run("run", "--json")
    assert done.exit_code == 0
    assert done.events[0]["event"] == "run_started"
